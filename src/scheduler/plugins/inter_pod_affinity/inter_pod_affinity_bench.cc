// What one more pod costs where a quarter of the workloads keep away from their own kind, a quarter
// stay together and a quarter prefer company.
#include "scheduler/plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "scheduler/topology/testing/bench_cluster.h"

namespace koord::scheduler {
namespace {

enum Kind { kPlain, kApart, kTogether, kPrefers };

kube::PodAffinityTerm Term(const std::string& app, std::string key) {
  kube::PodAffinityTerm term;
  term.label_selector.emplace().match_labels["app"] = app;
  term.topology_key = std::move(key);
  return term;
}

// The kind of a workload follows from its number.
kube::Pod PodOfWorkload(int workload) {
  const std::string app = fmt::format("app-{}", workload);
  const kube::PodAffinityTerm on_host = Term(app, "kubernetes.io/hostname");
  const kube::PodAffinityTerm in_zone = Term(app, "topology.kubernetes.io/zone");
  kube::Pod pod;
  pod.metadata.ns = "default";
  pod.metadata.labels.Mutable()["app"] = app;
  kube::Affinity affinity;
  const int kind = workload % 4;
  if (kind == kApart) affinity.pod_anti_affinity.emplace().required.push_back(on_host);
  if (kind == kTogether) affinity.pod_affinity.emplace().required.push_back(in_zone);
  if (kind == kPrefers) {
    affinity.pod_affinity.emplace().preferred.push_back({10, in_zone});
    affinity.pod_anti_affinity.emplace().preferred.push_back({5, on_host});
  }
  if (kind != kPlain) pod.spec.affinity = affinity;
  return pod;
}

BenchCluster<InterPodAffinity>& TheCluster() {
  static BenchCluster<InterPodAffinity> cluster(PodOfWorkload, InterPodAffinityArgs());
  return cluster;
}

void BM_OneMorePod(benchmark::State& state) {
  TheCluster().PlaceAndAsk(state, PodOfWorkload(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_OneMorePod)->DenseRange(kPlain, kPrefers)->Unit(benchmark::kMicrosecond);

void BM_NewShape(benchmark::State& state) {
  TheCluster().AskOfNewShapes(state, PodOfWorkload(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_NewShape)->DenseRange(kPlain, kPrefers)->Unit(benchmark::kMicrosecond);

void BM_AfterANodeChanged(benchmark::State& state) {
  TheCluster().RelabelAndAsk(state, PodOfWorkload(kApart));
}
BENCHMARK(BM_AfterANodeChanged)->Unit(benchmark::kMicrosecond);

void BM_CheckOneRow(benchmark::State& state) {
  TheCluster().CheckRows(state, PodOfWorkload(kApart));
}
BENCHMARK(BM_CheckOneRow);

}  // namespace
}  // namespace koord::scheduler
