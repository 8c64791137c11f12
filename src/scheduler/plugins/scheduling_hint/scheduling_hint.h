#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/config/candidate_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Lets another component say where a pod should go, in an annotation of the pod.
//
// Nodes that the hint names (nodeNames) are the only ones that will do; of those that it prefers
// (preferredNodeNames) the first that passes all filters is taken, and if none does the pod is
// placed as usual. A hint that cannot be read is an error of the pod's attempt.
class SchedulingHint final : public PreFilterPlugin, public PreferNodesPlugin {
 public:
  static constexpr std::string_view kName = "SchedulingHint";

  SchedulingHint(const PluginContext& context, const SchedulingHintArgs& args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  PreFilterResult PreFilter(PodQuery& query) override;
  std::span<const std::string> PreferNodes(const PodQuery& query) override;

 private:
  size_t most_preferred_;
};

}  // namespace koord::scheduler
