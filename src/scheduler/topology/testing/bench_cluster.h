#pragma once
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler/testing/plugin_bed.h"

// For benchmarks: 5,000 nodes in three zones with 20,000 pods of 100 workloads.
namespace koord::scheduler {

template <class PluginUnderTest>
class BenchCluster {
 public:
  static constexpr int kNodes = 5000;
  static constexpr int kPods = 20000;
  static constexpr int kWorkloads = 100;
  using MakePod = kube::Pod (*)(int workload);

  // `make` gives a pod of a workload.
  template <class Args>
  BenchCluster(MakePod make, const Args& args) : plugin(bed.context, args) {
    for (int i = 0; i < kNodes; ++i) {
      kube::Node node;
      node.metadata.name = fmt::format("node-{}", i);
      node.metadata.labels.Mutable()["kubernetes.io/hostname"] = node.metadata.name;
      node.metadata.labels.Mutable()["topology.kubernetes.io/zone"] = fmt::format("zone-{}", i % 3);
      bed.ledger.SetNode(std::make_shared<const kube::Node>(node));
    }
    for (int i = 0; i < kPods; ++i) {
      auto pod = std::make_shared<kube::Pod>(make(i % kWorkloads));
      pod->metadata.uid = pod->metadata.name = fmt::format("pod-{}", i);
      pod->spec.node_name = fmt::format("node-{}", i * 7 % kNodes);
      bed.ledger.SetPod(std::move(pod));
    }
    keep_.resize(kNodes);
    scores_.resize(kNodes);
  }

  std::unique_ptr<PodQuery> Query(const kube::Pod& pod) {
    auto query = std::make_unique<PodQuery>(
        bed.ledger.shapes().Of(std::make_shared<const kube::Pod>(pod)), bed.ledger.nodes(), 1);
    query->SetState(0, plugin.Compile(query->shape()));
    return query;
  }

  // All that the plugin has to say of all rows.
  void Ask(PodQuery& query) {
    const NodeTable& nodes = bed.ledger.nodes();
    if (plugin.WideVersion(query) == 0) return;
    std::copy_n(nodes.live(), nodes.rows(), keep_.begin());
    plugin.Filter(query, nodes.all(), keep_.data());
    if (plugin.PreScore(query, keep_).ok()) {
      plugin.Score(query, nodes.all(), scores_.data());
      plugin.Normalize(query, {0, 2000}, scores_);
    }
    benchmark::DoNotOptimize(keep_.data());
    benchmark::DoNotOptimize(scores_.data());
  }

  // A pod is placed, and another of the same shape asked about.
  void PlaceAndAsk(benchmark::State& state, const kube::Pod& pod) {
    const auto query = Query(pod);
    auto placed = std::make_shared<kube::Pod>(pod);
    placed->metadata.uid = placed->metadata.name = "one-more";
    NodeRow row{0};
    for (auto _ : state) {
      benchmark::DoNotOptimize(bed.ledger.Assume(placed, query->shared_shape(), row));
      Ask(*query);
      bed.ledger.Forget("one-more");
      row = NodeRow((row + 1) % kNodes);
    }
  }

  // Pods of shapes that were never seen before.
  void AskOfNewShapes(benchmark::State& state, kube::Pod pod) {
    for (auto _ : state) {
      pod.metadata.labels.Mutable()["index"] = fmt::format("{}", next_++);
      Ask(*Query(pod));
    }
  }

  // A node has got another label.
  void RelabelAndAsk(benchmark::State& state, const kube::Pod& pod) {
    const auto query = Query(pod);
    for (auto _ : state) {
      auto node = std::make_shared<kube::Node>(bed.ledger.nodes().node(NodeRow(0)));
      node->metadata.labels.Mutable()["x"] = fmt::format("{}", next_++ % 2);
      bed.ledger.SetNode(std::move(node));
      Ask(*query);
    }
  }

  void CheckRows(benchmark::State& state, const kube::Pod& pod) {
    const auto query = Query(pod);
    NodeRow row{0};
    for (auto _ : state) {
      benchmark::DoNotOptimize(plugin.Check(*query, {row, nullptr}));
      row = NodeRow((row + 1) % kNodes);
    }
  }

  PluginBed bed;
  PluginUnderTest plugin;

 private:
  int next_ = 0;
  std::vector<uint8_t> keep_;
  std::vector<int64_t> scores_;
};

}  // namespace koord::scheduler
