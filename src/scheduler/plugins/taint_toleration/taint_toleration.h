#pragma once
#include <memory>
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps pods off nodes whose taints they do not tolerate, and prefers nodes with few discouraging
// ones.
//
// A node is dropped when it has a NoSchedule or NoExecute taint that none of the pod's tolerations
// covers. Among the others, those with the fewest PreferNoSchedule taints that the pod does not
// tolerate score highest.
//
// Nodes share sets of taints, so a pod's tolerations are compared once a set; a row costs one
// lookup.
class TaintToleration final : public FilterPlugin, public ScorePlugin, public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "TaintToleration";

  explicit TaintToleration(const PluginContext& context)
      : nodes_(context.nodes()),
        reason_(context.reasons.Intern("node(s) had untolerated taint(s)")) {}

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  PodsRead Reads(const PodQuery&) override { return PodsRead::kNone; }
  uint64_t version() const override { return nodes_.has_preferred_taints() ? 1 : 0; }
  std::optional<int64_t> SameForAll(const PodQuery&) override {
    if (nodes_.has_preferred_taints()) return {};
    return 0;
  }
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  bool normalizes() const override { return true; }
  void Normalize(const PodQuery& query, ScoreRange range, std::span<int64_t> scores) override;
  bool Wants(EventKind kind) const override {
    return kind == EventKind::kNodeAdded || kind == EventKind::kNodeUpdated ||
           kind == EventKind::kPodUpdated;
  }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

 private:
  const NodeTable& nodes_;
  ReasonId reason_;
};

}  // namespace koord::scheduler
