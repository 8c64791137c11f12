// What one more pod costs on 5,000 nodes in three zones with 20,000 pods of 100 workloads, a
// quarter of which keep away from their own kind and a quarter of which prefer company.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "scheduler/plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler {
namespace {

constexpr int kNodes = 5000;
constexpr int kPods = 20000;
constexpr int kWorkloads = 100;
constexpr std::string_view kHost = "kubernetes.io/hostname";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

kube::PodAffinityTerm Term(std::string app, std::string_view key) {
  kube::PodAffinityTerm term;
  term.label_selector.emplace().match_labels["app"] = std::move(app);
  term.topology_key = key;
  return term;
}

enum Kind { kPlain, kApart, kTogether, kPrefers };

kube::Pod PodOfWorkload(int workload, int kind) {
  kube::Pod pod;
  pod.metadata.ns = "default";
  const std::string app = fmt::format("app-{}", workload);
  pod.metadata.labels["app"] = app;
  kube::Affinity affinity;
  if (kind == kApart) {
    affinity.pod_anti_affinity = kube::PodAffinity{.required = {Term(app, kHost)}, .preferred = {}};
  } else if (kind == kTogether) {
    affinity.pod_affinity = kube::PodAffinity{.required = {Term(app, kZone)}, .preferred = {}};
  } else if (kind == kPrefers) {
    affinity.pod_affinity =
        kube::PodAffinity{.required = {}, .preferred = {{10, Term(app, kZone)}}};
    affinity.pod_anti_affinity =
        kube::PodAffinity{.required = {}, .preferred = {{5, Term(app, kHost)}}};
  }
  if (kind != kPlain) pod.spec.affinity = affinity;
  return pod;
}

struct Cluster {
  Cluster() {
    for (int i = 0; i < kNodes; ++i) {
      kube::Node node;
      node.metadata.name = fmt::format("node-{}", i);
      node.metadata.labels[std::string(kHost)] = node.metadata.name;
      node.metadata.labels[std::string(kZone)] = fmt::format("zone-{}", i % 3);
      bed.ledger.SetNode(std::make_shared<const kube::Node>(node));
    }
    for (int i = 0; i < kPods; ++i) Add(i % kWorkloads, i % kWorkloads % 4);
  }
  void Add(int workload, int kind) {
    kube::Pod pod = PodOfWorkload(workload, kind);
    pod.metadata.uid = pod.metadata.name = fmt::format("pod-{}", next);
    pod.spec.node_name = fmt::format("node-{}", (next * 7) % kNodes);
    ++next;
    bed.ledger.SetPod(std::make_shared<const kube::Pod>(pod));
  }
  std::unique_ptr<PodQuery> Query(const kube::Pod& pod) {
    auto query = std::make_unique<PodQuery>(
        bed.ledger.shapes().Of(std::make_shared<const kube::Pod>(pod)), bed.ledger.nodes(), 1);
    query->SetState(0, plugin.Compile(query->shape()));
    return query;
  }
  void Ask(PodQuery& query) {
    const NodeTable& nodes = bed.ledger.nodes();
    if (plugin.WideVersion(query) == 0) return;
    keep.assign(nodes.live(), nodes.live() + nodes.rows());
    scores.resize(nodes.rows());
    plugin.Filter(query, nodes.all(), keep.data());
    if (plugin.PreScore(query, keep).ok()) {
      plugin.Score(query, nodes.all(), scores.data());
      plugin.Normalize(query, {-100, 2000}, scores);
    }
    benchmark::DoNotOptimize(keep.data());
    benchmark::DoNotOptimize(scores.data());
  }

  PluginBed bed;
  int next = 0;
  InterPodAffinity plugin{bed.context, {}};
  std::vector<uint8_t> keep;
  std::vector<int64_t> scores;
};

Cluster& TheCluster() {
  static Cluster cluster;
  return cluster;
}

// Filter, score and normalise all rows after a pod of the shape was placed.
void BM_OneMorePod(benchmark::State& state) {
  Cluster& cluster = TheCluster();
  const int kind = static_cast<int>(state.range(0));
  const kube::Pod pod = PodOfWorkload(kind, kind);
  const auto query = cluster.Query(pod);
  auto placed = std::make_shared<kube::Pod>(pod);
  placed->metadata.uid = placed->metadata.name = "one-more";
  NodeRow row = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cluster.bed.ledger.Assume(placed, query->shared_shape(), row));
    cluster.Ask(*query);
    cluster.bed.ledger.Forget("one-more");
    row = (row + 1) % kNodes;
  }
}
BENCHMARK(BM_OneMorePod)
    ->ArgName("kind")
    ->DenseRange(kPlain, kPrefers)
    ->Unit(benchmark::kMicrosecond);

// A shape that was never seen before, of a workload that runs.
void BM_NewShape(benchmark::State& state) {
  Cluster& cluster = TheCluster();
  const int kind = static_cast<int>(state.range(0));
  kube::Pod pod = PodOfWorkload(kind, kind);
  for (auto _ : state) {
    pod.metadata.labels["index"] = fmt::format("{}", cluster.next++);
    cluster.Ask(*cluster.Query(pod));
  }
}
BENCHMARK(BM_NewShape)
    ->ArgName("kind")
    ->DenseRange(kPlain, kPrefers)
    ->Unit(benchmark::kMicrosecond);

// A node has got another label: everything is counted again.
void BM_AfterANodeChanged(benchmark::State& state) {
  Cluster& cluster = TheCluster();
  const auto query = cluster.Query(PodOfWorkload(1, kApart));
  const kube::Node node = cluster.bed.ledger.nodes().node(0);
  int version = 0;
  for (auto _ : state) {
    auto changed = std::make_shared<kube::Node>(node);
    changed->metadata.labels["x"] = version++ % 2 ? "a" : "b";
    cluster.bed.ledger.SetNode(changed);
    cluster.Ask(*query);
  }
}
BENCHMARK(BM_AfterANodeChanged)->Unit(benchmark::kMicrosecond);

void BM_CheckOneRow(benchmark::State& state) {
  Cluster& cluster = TheCluster();
  const auto query = cluster.Query(PodOfWorkload(1, kApart));
  NodeRow row = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cluster.plugin.Check(*query, {row, nullptr}));
    row = (row + 1) % kNodes;
  }
}
BENCHMARK(BM_CheckOneRow);

}  // namespace
}  // namespace koord::scheduler
