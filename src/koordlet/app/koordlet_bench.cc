#include <benchmark/benchmark.h>

#include "koordlet/app/koordlet_rig_testing.h"
#include "koordlet/testing/bench_machine.h"

namespace koord::koordlet {
namespace {

// A second of koordlet's life on a node with 110 pods of three containers, in one figure: a pass of
// all collectors and strategies that are on, and its share of what comes less often (the kubelet's
// list and the hooks, processors, topology, reports, learning).
void CollectAndEnforce110Pods(benchmark::State& state, BenchMachine::Where where,
                              CgroupVersion version) {
  PodListReader::Pods pods;
  for (int i = 0; i < 110; ++i) pods.push_back(PodOfThree(i));
  BenchMachine machine(where, version);
  if (const Status ready = machine.AddPods(pods); !ready.ok()) {
    return state.SkipWithError(std::string(Message(ready)).c_str());
  }
  VirtualLoop loop;
  SilentCluster cluster;
  kube::Client client(loop, std::make_shared<kube::InProcessTransport>(loop, cluster), {});
  Koordlet koordlet(loop, machine.host(), client, BusyOptions(), {});
  koordlet.OnNode(LargeNode(machine.cpus()));
  koordlet.OnNodeSlo(NodeSloOf(kBusySlo));
  koordlet.OnNodeMetric(std::make_shared<api::NodeMetric>());
  koordlet.OnTopology(nullptr);
  koordlet.OnPods(pods);
  koordlet.Start();
  loop.Advance(30s);
  if (!koordlet.acting()) return state.SkipWithError("it does not act");
  int second = 0;
  for (auto _ : state) {
    if (++second % 10 == 0) koordlet.OnPods(pods);
    loop.Advance(1s);
  }
}

using enum BenchMachine::Where;
using enum CgroupVersion;

// What koordlet itself costs, without a system call.
BENCHMARK_CAPTURE(CollectAndEnforce110Pods, v1_memory, kMemory, kV1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CollectAndEnforce110Pods, v2_memory, kMemory, kV2)->Unit(benchmark::kMillisecond);
// With system calls, on a file system that costs as little as the kernel's own.
BENCHMARK_CAPTURE(CollectAndEnforce110Pods, v1_tmpfs, kTmpfs, kV1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CollectAndEnforce110Pods, v2_tmpfs, kTmpfs, kV2)->Unit(benchmark::kMillisecond);
// On this machine's cgroups, a process in each container; by root only.
BENCHMARK_CAPTURE(CollectAndEnforce110Pods, v1_cgroups, kCgroups, kV1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::koordlet
