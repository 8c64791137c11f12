#pragma once
#include <array>
#include <memory>
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps pods in the zones and regions of their volumes.
//
// A bound volume may carry zone and region labels, with several values joined by "__". A node that
// has any such label must have a value of each of them; a node that has none can be anywhere.
class VolumeZone final : public PreFilterPlugin, public FilterPlugin, public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "VolumeZone";

  explicit VolumeZone(const PluginContext& context);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  uint64_t VersionFor(const PodShape& shape) const override;
  PreFilterResult PreFilter(PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  PodsRead Reads(const PodQuery&) override { return PodsRead::kNone; }
  bool Wants(EventKind kind) const override;
  bool MightCure(const kube::Pod&, const ClusterEvent& event) override { return Wants(event.kind); }

 private:
  struct State;
  static constexpr size_t kLabels = 4;

  bool Fits(State& state, NodeRow row) const;

  const ClusterObjects& objects_;
  std::array<LabelPtr, kLabels> columns_;
  ReasonId mismatch_;
};

}  // namespace koord::scheduler
