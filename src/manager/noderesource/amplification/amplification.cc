#include "manager/noderesource/amplification/amplification.h"

#include "api/node_annotations.h"
#include "kube/objects/resource_list.h"

namespace koord::manager {

StatusOr<std::optional<std::string>> AmplificationRatio(const kube::Node& node,
                                                        const AmplificationConfig& config) {
  const AmplificationStrategy& strategy = config.For(node.metadata.labels);
  api::AmplificationRatios ratios;
  if (strategy.enable.value_or(false)) ratios = strategy.resource_amplification_ratio;
  ASSIGN_OR_RETURN(const std::optional<double> normalization,
                   api::CpuNormalizationRatioOf(node.metadata.annotations));
  const auto cpu = ratios.find(kube::kCpu);
  const double configured = cpu != ratios.end() && cpu->second > 0 ? cpu->second : 1;
  const double amplified = configured * normalization.value_or(1);
  if (amplified > 1) ratios.insert_or_assign(std::string(kube::kCpu), amplified);
  for (const auto& [resource, ratio] : ratios) {
    if (!(ratio >= 1)) {
      return InvalidArgument("the ratio of {} must be at least 1, found {}", resource, ratio);
    }
  }
  if (ratios.empty()) return std::optional<std::string>();
  return std::optional(api::EncodeAmplificationRatios(ratios));
}

}  // namespace koord::manager
