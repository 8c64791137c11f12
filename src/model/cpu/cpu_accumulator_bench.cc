#include <benchmark/benchmark.h>

#include "model/cpu/cpu_accumulator.h"
#include "model/cpu/cpu_topology_testing.h"

namespace koord::model {
namespace {

// Two sockets of 32 cores with two threads; every other core is taken, as after many small pods.
struct Bed {
  CpuTopology topology = Machine(2, 1, 32, 2);
  CpuOccupancy occupancy;

  Bed() {
    for (int32_t cpu = 0; cpu < 128; cpu += 4) {
      occupancy.Add({cpu, cpu + 1}, CpuExclusivePolicy::kNone);
    }
  }
};

void Take(benchmark::State& state, CpuBindPolicy bind, bool required) {
  const Bed bed;
  const CpuRequest request{.count = state.range(0), .bind = bind};
  for (auto _ : state) {
    CpuSet available = bed.topology.cpus() - bed.occupancy.holders.held();
    if (required) available = UsableFor(bind, bed.topology, available);
    benchmark::DoNotOptimize(TakeCpus(bed.topology, available, bed.occupancy, request));
  }
}

void BM_FullPcpus(benchmark::State& state) { Take(state, CpuBindPolicy::kFullPcpus, true); }
BENCHMARK(BM_FullPcpus)->Arg(4)->Arg(16)->Arg(48);
void BM_SpreadByPcpus(benchmark::State& state) {
  Take(state, CpuBindPolicy::kSpreadByPcpus, false);
}
BENCHMARK(BM_SpreadByPcpus)->Arg(4)->Arg(16)->Arg(48);

}  // namespace
}  // namespace koord::model
