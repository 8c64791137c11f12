#pragma once
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps pods off all nodes but the one that they name.
//
// A pod that names its node (spec.nodeName) has one: it is booked there and never asks for another.
// So every pod that comes here may run on any node as far as this is concerned; the plugin exists
// for the profiles that list it.
class NodeName final : public FilterPlugin, public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "NodeName";

  explicit NodeName(const PluginContext&) {}

  std::string_view name() const override { return kName; }
  void Filter(const PodQuery&, RowRange, uint8_t*) override {}
  RowVerdict Check(const PodQuery&, const RowView&) override { return {}; }
  PodsRead Reads(const PodQuery&) override { return PodsRead::kNone; }
  bool Wants(EventKind kind) const override { return kind == EventKind::kNodeAdded; }
  bool MightCure(const kube::Pod&, const ClusterEvent& event) override {
    return event.kind == EventKind::kNodeAdded || event.kind == EventKind::kForced;
  }
};

}  // namespace koord::scheduler
