#include "scheduler/config/device_share_args.h"

#include "api/extended_resources.h"

namespace koord::scheduler {

void DeviceShareArgs::SetDefaults() {
  if (!scoring_strategy) {
    scoring_strategy = ScoringStrategy{std::string(kLeastAllocated), {}, {}};
    for (const std::string_view name :
         {api::kGpuMemoryRatio, api::kGpuMemory, api::kRdma, api::kFpga}) {
      scoring_strategy->resources.push_back({std::string(name), 1});
    }
  }
  if (!gpu_shared_resource_templates_config) {
    gpu_shared_resource_templates_config =
        GpuSharedResourceTemplates{.config_map_namespace = "koordinator-system",
                                   .config_map_name = "gpu-shared-resource-templates",
                                   .matched_resources = {std::string(api::kHuaweiNpuCore)}};
  }
}

void DeviceShareArgs::Check(const kube::ConfigField& at) const {
  CheckAllocatedStrategy(scoring_strategy, "scoring strategy", at.Member("scoringStrategy"));
}

}  // namespace koord::scheduler
