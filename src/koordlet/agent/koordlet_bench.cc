#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>

#include "koordlet/agent/koordlet_rig_testing.h"
#include "koordlet/testing/bench_machine.h"

namespace koord::koordlet {
namespace {

// A koordlet that acts on a node with 110 pods of three containers.
class BusyNode {
 public:
  BusyNode(BenchMachine::Where where, CgroupVersion version, KoordletOptions options)
      : machine_(where, version), options_(std::move(options)) {}

  Status Start() {
    for (int i = 0; i < 110; ++i) pods_.push_back(PodOfThree(i));
    RETURN_IF_ERROR(machine_.AddPods(pods_));
    koordlet_ =
        std::make_unique<Koordlet>(loop_, machine_.host(), client_, options_, Koordlet::Parts{});
    TellOfNode(*koordlet_, LargeNode(machine_.cpus()), kBusySlo);
    koordlet_->OnNodeMetric(std::make_shared<api::NodeMetric>());
    koordlet_->OnPods(pods_);
    koordlet_->Start();
    loop_.Advance(30s);
    return koordlet_->acting() ? absl::OkStatus() : Internal("it does not act");
  }

  void RunSecond() {
    if (++second_ % 10 == 0) koordlet_->OnPods(pods_);  // the kubelet's list
    loop_.Advance(1s);
  }

 private:
  BenchMachine machine_;
  const KoordletOptions options_;
  PodList::Pods pods_;
  VirtualLoop loop_;
  SilentCluster cluster_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, cluster_), {}};
  std::unique_ptr<Koordlet> koordlet_;
  int second_ = 0;
};

// A second of koordlet's life in one figure: a pass of all collectors and strategies that are on,
// and its share of what comes less often (the kubelet's list and the hooks, processors, topology,
// reports, learning).
void CollectAndEnforce110Pods(benchmark::State& state, BenchMachine::Where where,
                              CgroupVersion version) {
  BusyNode node(where, version, BusyOptions());
  if (const Status ready = node.Start(); !ready.ok()) {
    return state.SkipWithError(std::string(Message(ready)).c_str());
  }
  for (auto _ : state) node.RunSecond();
}

// An hour of it, and what it then has of memory with all that it has measured.
void AnHourWith110Pods(benchmark::State& state, BenchMachine::Where where, CgroupVersion version) {
  const auto resident_mib = [] {
    malloc_trim(0);
    long total = 0;
    long resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
  };
  BusyNode node(where, version, PlainOptions());  // with the usual gates
  if (const Status ready = node.Start(); !ready.ok()) {
    return state.SkipWithError(std::string(Message(ready)).c_str());
  }
  state.counters["MiB_first"] = resident_mib();
  for (auto _ : state) {
    for (int second = 0; second < 3600; ++second) node.RunSecond();
  }
  state.counters["MiB_last"] = resident_mib();
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

BENCHMARK_CAPTURE(AnHourWith110Pods, v2_tmpfs, kTmpfs, kV2)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace koord::koordlet
