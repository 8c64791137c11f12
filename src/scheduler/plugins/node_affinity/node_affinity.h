#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/config/affinity_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/matching/node_matcher.h"

namespace koord::scheduler {

// Keeps pods on the nodes that they ask for, and prefers those that they would like.
//
// A node is dropped when it does not match what the profile adds for every pod, or when it lacks a
// label of the pod's nodeSelector or matches no term of its required node affinity. A pod all of
// whose terms name nodes is looked at on those nodes only.
//
// The score is the sum of the weights of the preferred terms that a node matches, in proportion to
// the largest sum.
class NodeAffinity final : public PreFilterPlugin,
                           public FilterPlugin,
                           public ScorePlugin,
                           public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "NodeAffinity";

  NodeAffinity(const PluginContext& context, NodeAffinityArgs args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  PreFilterResult PreFilter(PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  PodsRead Reads(const PodQuery&) override { return PodsRead::kNone; }
  Verdict PreScore(PodQuery& query, std::span<const uint8_t> feasible) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  bool normalizes() const override { return true; }
  void Normalize(const PodQuery& query, ScoreRange range, std::span<int64_t> scores) override;
  bool Wants(EventKind kind) const override {
    return kind == EventKind::kNodeAdded || kind == EventKind::kNodeUpdated ||
           kind == EventKind::kPodUpdated;
  }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

 private:
  struct Preferred {
    int32_t weight;
    NodeTermMatcher term;
  };
  struct State;

  std::vector<Preferred> Compile(const std::vector<kube::PreferredSchedulingTerm>& terms) const;
  bool MatchesNode(const kube::Pod& pod, const kube::Node& node) const;

  const NodeTable& nodes_;
  kube::NodeAffinity added_;
  NodeMatcher added_required_;
  std::vector<Preferred> added_preferred_;
  ReasonId pod_mismatch_;
  ReasonId added_mismatch_;
};

}  // namespace koord::scheduler
