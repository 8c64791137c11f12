#include "manager/noderesource/cpu_normalization/cpu_normalization.h"

#include "api/keys.h"
#include "api/node_annotations.h"
#include "base/strings.h"

namespace koord::manager {
namespace {

std::optional<double> RatioIn(const CpuModelRatios& ratios, const api::CpuBasicInfo& cpu) {
  if (cpu.hyper_thread_enabled && cpu.turbo_enabled) return ratios.hyper_thread_turbo_enabled_ratio;
  if (cpu.hyper_thread_enabled) return ratios.hyper_thread_enabled_ratio;
  return cpu.turbo_enabled ? ratios.turbo_enabled_ratio : ratios.base_ratio;
}

StatusOr<double> RatioOf(const api::CpuBasicInfo& cpu, const CpuNormalizationStrategy& strategy) {
  if (const auto model = strategy.ratio_model.find(cpu.cpu_model);
      model != strategy.ratio_model.end()) {
    if (const auto ratio = RatioIn(model->second, cpu)) return *ratio;
  }
  if (strategy.default_ratio) return *strategy.default_ratio;
  return NotFound("no ratio for CPUs of model {} (hyper-threading {}, turbo {})",
                  Quote(cpu.cpu_model), cpu.hyper_thread_enabled ? "on" : "off",
                  cpu.turbo_enabled ? "on" : "off");
}

}  // namespace

StatusOr<bool> IsNormalizationEnabled(const kube::Node& node,
                                      const CpuNormalizationConfig& config) {
  ASSIGN_OR_RETURN(const std::optional<bool> label,
                   api::CpuNormalizationEnabledOf(node.metadata.labels));
  return label.value_or(config.For(node.metadata.labels).enable.value_or(false));
}

StatusOr<std::string> NormalizationRatio(const kube::Node& node,
                                         const api::NodeResourceTopology* topology,
                                         const CpuNormalizationConfig& config) {
  ASSIGN_OR_RETURN(const bool enabled, IsNormalizationEnabled(node, config));
  if (!enabled) return api::FormatRatio(1);
  if (topology == nullptr) return NotFound("there is no NodeResourceTopology");
  ASSIGN_OR_RETURN(const auto cpu, api::CpuBasicInfoOf(topology->metadata.annotations));
  if (!cpu) return NotFound("the NodeResourceTopology does not say what the CPUs are");
  ASSIGN_OR_RETURN(const double ratio, RatioOf(*cpu, config.For(node.metadata.labels)));
  if (!(ratio >= kLeastCpuRatio && ratio <= kMostCpuRatio)) {
    return InvalidArgument("the ratio must be between {} and {}, found {}", kLeastCpuRatio,
                           kMostCpuRatio, ratio);
  }
  return api::FormatRatio(ratio);
}

bool IsNormalizationOutOfDate(const kube::Node& node, const std::string& ratio) {
  const auto before = api::CpuNormalizationRatioOf(node.metadata.annotations);
  if (!before.ok() || !*before) return true;
  const auto after =
      api::CpuNormalizationRatioOf({{std::string(api::kAnnotationCpuNormalizationRatio), ratio}});
  return after.ok() && *after && api::IsRatioDifferent(**before, **after);
}

}  // namespace koord::manager
