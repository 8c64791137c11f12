#pragma once
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Lets no pod into the queue whose creator has put gates on it (spec.schedulingGates) until all of
// them are gone. Such pods wait silently.
class SchedulingGates final : public PreEnqueuePlugin, public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "SchedulingGates";

  explicit SchedulingGates(const PluginContext&) {}

  std::string_view name() const override { return kName; }
  Verdict PreEnqueue(const kube::Pod& pod) override;
  bool Wants(EventKind kind) const override { return kind == EventKind::kPodUpdated; }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;
};

}  // namespace koord::scheduler
