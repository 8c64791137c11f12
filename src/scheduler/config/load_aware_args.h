#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/config_document.h"
#include "kube/time.h"

namespace koord::scheduler {

// By resource; sorted by name, which is the order in which resources are looked at.
using ResourceNumbers = std::map<std::string, int64_t, std::less<>>;

// Percentiles of usage instead of its average.
struct LoadAwareAggregatedArgs {
  ResourceNumbers usage_thresholds;    // percent
  std::string usage_aggregation_type;  // avg, p50, p90, p95, p99
  Duration usage_aggregated_duration{};
  std::string score_aggregation_type;
  Duration score_aggregated_duration{};

  static void Fields(auto& self, auto&& field) {
    field("usageThresholds", self.usage_thresholds);
    field("usageAggregationType", self.usage_aggregation_type);
    field("usageAggregatedDuration", kube::Always(self.usage_aggregated_duration));
    field("scoreAggregationType", self.score_aggregation_type);
    field("scoreAggregatedDuration", kube::Always(self.score_aggregated_duration));
  }
  bool operator==(const LoadAwareAggregatedArgs&) const = default;
};

struct LoadAwareSchedulingArgs {
  static constexpr std::string_view kPlugin = "LoadAwareScheduling";

  bool filter_expired_node_metrics = true;
  int64_t node_metric_expiration_seconds = 180;
  bool enable_schedule_when_node_metrics_expired = false;
  ResourceNumbers resource_weights;
  int64_t dominant_resource_weight = 0;
  ResourceNumbers usage_thresholds;  // percent; 0 = not checked
  ResourceNumbers prod_usage_thresholds;
  bool prod_usage_include_sys = false;
  bool score_according_prod_usage = false;
  std::string estimator;
  ResourceNumbers estimated_scaling_factors;  // percent of the request
  std::optional<int64_t> estimated_seconds_after_pod_scheduled;
  std::optional<int64_t> estimated_seconds_after_initialized;
  bool allow_customize_estimation = false;
  std::optional<LoadAwareAggregatedArgs> aggregated;
  std::vector<std::string> supported_resources;

  static void Fields(auto& self, auto&& field) {
    field("filterExpiredNodeMetrics", kube::Always(self.filter_expired_node_metrics));
    field("nodeMetricExpirationSeconds", kube::Always(self.node_metric_expiration_seconds));
    field("enableScheduleWhenNodeMetricsExpired",
          kube::Always(self.enable_schedule_when_node_metrics_expired));
    field("resourceWeights", self.resource_weights);
    field("dominantResourceWeight", self.dominant_resource_weight);
    field("usageThresholds", self.usage_thresholds);
    field("prodUsageThresholds", self.prod_usage_thresholds);
    field("prodUsageIncludeSys", self.prod_usage_include_sys);
    field("scoreAccordingProdUsage", self.score_according_prod_usage);
    field("estimator", self.estimator);
    field("estimatedScalingFactors", self.estimated_scaling_factors);
    field("estimatedSecondsAfterPodScheduled", self.estimated_seconds_after_pod_scheduled);
    field("estimatedSecondsAfterInitialized", self.estimated_seconds_after_initialized);
    field("allowCustomizeEstimation", self.allow_customize_estimation);
    field("aggregated", self.aggregated);
    field("supportedResources", self.supported_resources);
  }
  bool operator==(const LoadAwareSchedulingArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;
};

// All resources that the arguments are about, cpu and memory always, in ascending order.
std::vector<std::string> TrackedResources(const LoadAwareSchedulingArgs& args);

}  // namespace koord::scheduler
