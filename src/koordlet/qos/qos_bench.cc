#include <benchmark/benchmark.h>

#include "base/log.h"
#include "koordlet/qos/qos_testing.h"

namespace koord::koordlet {
namespace {

constexpr int kPods = 110;

void FillNode(QosRig& rig) {
  for (int i = 0; i < kPods; ++i) {
    const bool be = i % 3 == 0;
    const std::string resources =
        be ? "{requests: {kubernetes.io/batch-cpu: 500, kubernetes.io/batch-memory: 64Mi}}"
           : "{requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 200m, memory: 128Mi}}";
    auto pod = TestPod(fmt::format(R"(
metadata: {{name: p{0:03}, labels: {{koordinator.sh/qosClass: {1}}}}}
spec:
  containers:
  - {{name: a, resources: {2}}}
  - {{name: b, resources: {2}}}
  - {{name: c, resources: {2}}}
)",
                                   i, be ? "BE" : "LS", resources));
    rig.machine.AddPod(*pod);
    rig.pods.push_back(std::move(pod));
  }
  rig.PublishPods();
}

void AppendMetrics(QosRig& rig) {
  rig.metrics.Append({Metric::kNodeCpu}, 20);
  rig.metrics.Append({Metric::kNodeMemory}, 0x1p33);
  for (const NodePod& pod : *rig.state.pods()) {
    rig.metrics.Append({Metric::kPodCpu, pod.uid()}, 0.1);
    rig.metrics.Append({Metric::kPodMemory, pod.uid()}, 0x1p25);
    for (const NodeContainer& container : pod.containers) {
      rig.metrics.Append({Metric::kContainerCpu, container.id}, 0.03);
      rig.metrics.Append({Metric::kContainerThrottled, container.id}, 0);
    }
  }
}

api::NodeSloSpec BusySlo() {
  api::NodeSloSpec slo = QuietSlo();
  slo.resource_used_threshold_with_be->enable = true;
  slo.cpu_burst_strategy->policy = "auto";
  for (auto* of_class :
       {&slo.resource_qos_strategy->ls_class, &slo.resource_qos_strategy->be_class}) {
    (*of_class)->memory_qos->enable = true;
    (*of_class)->memory_qos->min_limit_percent = 50;
    (*of_class)->memory_qos->throttling_percent = 80;
    (*of_class)->memory_qos->wmark_ratio = 95;
  }
  return slo;
}

// All strategies on a full node on which nothing changes. The argument: whether the kubelet's list
// of pods has come anew, as it does every ten seconds.
void BM_EnforcePass(benchmark::State& state) {
  QosRig rig({.shape = {.sockets = 2, .nodes = 2, .cores = 32, .threads = 2}, .anolis = true});
  FillNode(rig);
  rig.SetSlo(BusySlo());
  QosManager manager(rig.loop, rig.Context());
  for (int i = 0; i < 30; ++i) {
    rig.loop.Advance(1s);
    AppendMetrics(rig);
    manager.RunOnce();
  }
  for (auto _ : state) {
    state.PauseTiming();
    rig.loop.Advance(1s);
    AppendMetrics(rig);
    rig.writes.clear();
    if (state.range(0) != 0) rig.PublishPods();
    state.ResumeTiming();
    manager.RunOnce();
  }
}
BENCHMARK(BM_EnforcePass)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace koord::koordlet
