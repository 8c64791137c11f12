#pragma once
#include <memory>
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps pods off nodes that an administrator has cordoned.
//
// A node is dropped when it is marked unschedulable and the pod does not tolerate the taint that
// stands for that.
class NodeUnschedulable final : public FilterPlugin, public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "NodeUnschedulable";

  explicit NodeUnschedulable(const PluginContext& context)
      : reason_(context.reasons.Intern("node(s) were unschedulable")) {}

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  PodsRead Reads(const PodQuery&) override { return PodsRead::kNone; }
  bool Wants(EventKind kind) const override {
    return kind == EventKind::kNodeAdded || kind == EventKind::kNodeUpdated ||
           kind == EventKind::kPodUpdated;
  }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;

 private:
  bool Tolerates(const PodQuery& query) const;

  ReasonId reason_;
};

}  // namespace koord::scheduler
