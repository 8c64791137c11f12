#include <benchmark/benchmark.h>

#include "model/transform/transform.h"

namespace koord::model {
namespace {

// What nearly every pod event pays: looking, and finding nothing to do.
void BM_PodThatStaysAsItIs(benchmark::State& state) {
  kube::Pod pod;
  pod.metadata.labels = {{"app", "web"}, {"pod-template-hash", "abc"}};
  pod.spec.scheduler_name = "koord-scheduler";
  for (int i = 0; i < 2; ++i) {
    kube::ResourceRequirements& resources = pod.spec.containers.Mutable().emplace_back().resources;
    resources.requests = {{"cpu", kube::Quantity(1)}, {"memory", kube::Quantity(1 << 30)}};
    resources.limits = resources.requests;
  }
  const auto shared = std::make_shared<const kube::Pod>(std::move(pod));
  for (auto _ : state) benchmark::DoNotOptimize(Transform(shared, {}));
}
BENCHMARK(BM_PodThatStaysAsItIs);

}  // namespace
}  // namespace koord::model
