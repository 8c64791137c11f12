#pragma once
#include <string_view>

#include "scheduler/config/volume_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Rejects pods that name ResourceClaims, with a reason that says so.
//
// Devices that are claimed through Kubernetes' dynamic resource allocation are not handed out by
// this scheduler; a pod that needs one must not be started without it.
class DynamicResources final : public PreFilterPlugin, public RequeuePlugin {
 public:
  static constexpr std::string_view kName = "DynamicResources";

  DynamicResources(const PluginContext&, const DynamicResourcesArgs&) {}

  std::string_view name() const override { return kName; }
  PreFilterResult PreFilter(PodQuery& query) override;
  // Nothing but another pod helps.
  bool Wants(EventKind) const override { return false; }
  bool MightCure(const kube::Pod&, const ClusterEvent&) override { return false; }
};

}  // namespace koord::scheduler
