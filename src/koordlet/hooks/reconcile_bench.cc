#include <benchmark/benchmark.h>

#include "koordlet/hooks/hook_fixture_testing.h"

namespace koord::koordlet::hooks {
namespace {

void FillNode(HookNode& node) {
  for (int i = 0; i < 110; ++i) {
    node.AddPod(fmt::format(R"(
metadata: {{name: p{0}, labels: {{koordinator.sh/qosClass: {1}}}}}
spec:
  containers:
  - {{name: a, resources: {{limits: {{kubernetes.io/batch-cpu: 1000, kubernetes.io/batch-memory: 1Gi}}}}}}
  - {{name: b, resources: {{limits: {{kubernetes.io/batch-cpu: 1000, kubernetes.io/batch-memory: 1Gi}}}}}}
  - {{name: c, resources: {{limits: {{kubernetes.io/batch-cpu: 1000, kubernetes.io/batch-memory: 1Gi}}}}}}
)",
                            i, i % 2 == 0 ? "LS" : "BE"));
  }
  TopologyView topology;
  topology.ls_pools = {{.socket = 0, .node = 0, .cpuset = "0-7"}};
  node.SetTopology(topology);
  node.SetSlo(
      "resourceQOSStrategy: {lsClass: {cpuQOS: {enable: true, groupIdentity: 2}}, beClass: "
      "{cpuQOS: {enable: true, groupIdentity: -1}}}");
  node.Sync();
}

// The kubelet says that nothing has changed.
void BM_QuietPass(benchmark::State& state) {
  HookNode node({.host = {.anolis = true}});
  FillNode(node);
  const auto pods = node.state.pods();
  for (auto _ : state) {
    node.state.SetPods(pods);
    node.loop.RunReady();
  }
}
BENCHMARK(BM_QuietPass)->Unit(benchmark::kMicrosecond);

// Once a minute everything is put right.
void BM_FullPass(benchmark::State& state) {
  HookNode node({.host = {.anolis = true}});
  FillNode(node);
  const auto pods = node.state.pods();
  for (auto _ : state) {
    state.PauseTiming();
    node.loop.Advance(std::chrono::seconds(61));
    state.ResumeTiming();
    node.state.SetPods(pods);
    node.loop.RunReady();
  }
}
BENCHMARK(BM_FullPass)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace koord::koordlet::hooks
