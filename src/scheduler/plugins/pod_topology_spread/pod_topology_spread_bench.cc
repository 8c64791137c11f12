// What one more pod costs where workloads are spread over zones or nodes, strictly or not.
#include "scheduler/plugins/pod_topology_spread/pod_topology_spread.h"
#include "scheduler/topology/testing/bench_cluster.h"

namespace koord::scheduler {
namespace {

enum Kind { kDefaults, kHardZone, kHardHost, kSoftBoth };

// The kind of a workload follows from its number.
kube::Pod PodOfWorkload(int workload) {
  kube::Pod pod;
  pod.metadata.ns = "default";
  pod.metadata.labels.Mutable()["app"] = fmt::format("app-{}", workload);
  const auto add = [&](std::string_view when, std::string key, int32_t max_skew) {
    auto& constraint = pod.spec.topology_spread_constraints.Mutable().emplace_back();
    constraint.when_unsatisfiable = when;
    constraint.topology_key = std::move(key);
    constraint.max_skew = max_skew;
    constraint.label_selector.emplace().match_labels = pod.metadata.labels;
  };
  const int kind = workload % 4;
  if (kind == kHardZone) add(kDoNotSchedule, std::string(kZoneKey), 5);
  if (kind == kHardHost) add(kDoNotSchedule, std::string(kHostnameKey), 1);
  if (kind == kSoftBoth) {
    add(kScheduleAnyway, std::string(kZoneKey), 1);
    add(kScheduleAnyway, std::string(kHostnameKey), 1);
  }
  return pod;
}

BenchCluster<PodTopologySpread>& TheCluster() {
  static auto* cluster = [] {
    auto* made = new BenchCluster<PodTopologySpread>(PodOfWorkload, PodTopologySpreadArgs());
    for (int i = 0; i < made->kWorkloads; ++i) {
      kube::Service service;
      service.metadata.ns = "default";
      service.metadata.name = fmt::format("app-{}", i);
      service.spec.selector["app"] = service.metadata.name;
      made->bed.objects.services.Set(std::make_shared<const kube::Service>(service));
    }
    return made;
  }();
  return *cluster;
}

void BM_OneMorePod(benchmark::State& state) {
  TheCluster().PlaceAndAsk(state, PodOfWorkload(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_OneMorePod)->DenseRange(kDefaults, kSoftBoth)->Unit(benchmark::kMicrosecond);

void BM_NewShape(benchmark::State& state) {
  TheCluster().AskOfNewShapes(state, PodOfWorkload(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_NewShape)->DenseRange(kDefaults, kSoftBoth)->Unit(benchmark::kMicrosecond);

void BM_AfterANodeChanged(benchmark::State& state) {
  TheCluster().RelabelAndAsk(state, PodOfWorkload(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_AfterANodeChanged)->DenseRange(kDefaults, kSoftBoth)->Unit(benchmark::kMicrosecond);

void BM_CheckOneRow(benchmark::State& state) {
  TheCluster().CheckRows(state, PodOfWorkload(kHardHost));
}
BENCHMARK(BM_CheckOneRow);

}  // namespace
}  // namespace koord::scheduler
