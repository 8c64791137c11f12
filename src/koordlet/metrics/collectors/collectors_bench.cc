#include <benchmark/benchmark.h>

#include "base/virtual_loop.h"
#include "koordlet/config/koordlet_gates.h"
#include "koordlet/informers/pod_book.h"
#include "koordlet/metrics/collectors/metric_advisor.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

namespace koord::koordlet {
namespace {

// One second of a node with 110 pods of three containers, files in memory: what koordlet itself
// adds to the time that the kernel takes for its files.
void BM_CollectPass110Pods(benchmark::State& state) {
  VirtualLoop loop;
  TestHost machine({.version = state.range(0) == 1 ? CgroupVersion::kV1 : CgroupVersion::kV2,
                    .shape = {.sockets = 2, .nodes = 2, .cores = 32}});
  metrics::Registry internal;
  metrics::Registry external;
  const FeatureGates gates = KoordletFeatureGates();
  ResourceExecutor executor(machine.host(), loop.clock(), nullptr, nullptr, {});
  NodeState node_state;
  PodBook book(machine.host().cgroups().layout(), {});
  MetricStore store(loop.clock(), {});
  NodeInfoCache info;
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  for (int i = 0; i < 110; ++i) {
    pods.push_back(
        TestPod(fmt::format("metadata: {{name: pod-{}, labels: {{koordinator.sh/qosClass: {}}}}}\n"
                            "spec: {{containers: [{{name: a}}, {{name: b}}, {{name: c}}]}}\n",
                            i, i % 3 == 0 ? "BE" : "LS")));
    machine.AddPod(*pods.back());
  }
  node_state.SetPods(book.Update(pods));
  MetricAdvisor advisor(
      {loop, machine.host(), executor, node_state, store, info, gates, internal, external}, {});
  advisor.CollectOnce();
  for (auto _ : state) {
    loop.Advance(std::chrono::seconds(1));
    advisor.CollectOnce();
  }
  state.counters["series"] = static_cast<double>(store.series());
}
BENCHMARK(BM_CollectPass110Pods)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace koord::koordlet
