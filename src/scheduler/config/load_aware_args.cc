#include "scheduler/config/load_aware_args.h"

#include <array>
#include <set>

#include "base/duration.h"
#include "base/strings.h"
#include "kube/objects/resource_list.h"

namespace koord::scheduler {
namespace {

using kube::ConfigField;

const std::string kCpu(kube::kCpu);
const std::string kMemory(kube::kMemory);

void CheckNumbers(const ResourceNumbers& numbers, int64_t least, int64_t most,
                  const ConfigField& at) {
  for (const auto& [resource, number] : numbers)
    at.Member(resource).CheckRange(number, least, most);
}

void CheckAggregationType(std::string_view type, const ConfigField& at) {
  constexpr std::array<std::string_view, 5> kTypes{"avg", "p50", "p90", "p95", "p99"};
  if (!type.empty()) at.CheckOneOf(type, kTypes);
}

void CheckDuration(Duration duration, const ConfigField& at) {
  if (duration < Duration::zero()) {
    at.Error("{} is negative: must be at least 0s", FormatDuration(duration));
  }
}

void CheckAggregated(const LoadAwareAggregatedArgs& args, const ConfigField& at) {
  CheckNumbers(args.usage_thresholds, 0, 100, at.Member("usageThresholds"));
  CheckAggregationType(args.usage_aggregation_type, at.Member("usageAggregationType"));
  CheckDuration(args.usage_aggregated_duration, at.Member("usageAggregatedDuration"));
  CheckAggregationType(args.score_aggregation_type, at.Member("scoreAggregationType"));
  CheckDuration(args.score_aggregated_duration, at.Member("scoreAggregatedDuration"));
}

}  // namespace

void LoadAwareSchedulingArgs::SetDefaults() {
  if (resource_weights.empty() && dominant_resource_weight == 0) {
    resource_weights = {{kCpu, 1}, {kMemory, 1}};
  }
  if (usage_thresholds.empty()) usage_thresholds = {{kCpu, 65}, {kMemory, 95}};
  estimated_scaling_factors.try_emplace(kCpu, 85);
  estimated_scaling_factors.try_emplace(kMemory, 70);
}

void LoadAwareSchedulingArgs::Check(const ConfigField& at) const {
  at.Member("nodeMetricExpirationSeconds").CheckAtLeast(node_metric_expiration_seconds, 1);
  CheckNumbers(resource_weights, 1, 100, at.Member("resourceWeights"));
  at.Member("dominantResourceWeight").CheckRange(dominant_resource_weight, 0, 100);
  CheckNumbers(usage_thresholds, 0, 100, at.Member("usageThresholds"));
  CheckNumbers(prod_usage_thresholds, 0, 100, at.Member("prodUsageThresholds"));
  CheckNumbers(estimated_scaling_factors, 1, 100, at.Member("estimatedScalingFactors"));
  for (const auto& [resource, weight] : resource_weights) {
    if (estimated_scaling_factors.contains(resource)) continue;
    at.Member("resourceWeights")
        .Member(resource)
        .Error("{} has a weight but no entry in estimatedScalingFactors", Quote(resource, 64));
  }
  if (aggregated) CheckAggregated(*aggregated, at.Member("aggregated"));
}

std::vector<std::string> TrackedResources(const LoadAwareSchedulingArgs& args) {
  std::set<std::string> names{kCpu, kMemory};
  const auto add = [&](const ResourceNumbers& numbers) {
    for (const auto& [resource, number] : numbers) names.insert(resource);
  };
  add(args.resource_weights);
  add(args.usage_thresholds);
  add(args.prod_usage_thresholds);
  add(args.estimated_scaling_factors);
  if (args.aggregated) add(args.aggregated->usage_thresholds);
  names.insert(args.supported_resources.begin(), args.supported_resources.end());
  return {names.begin(), names.end()};
}

}  // namespace koord::scheduler
