#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_metric.h"
#include "api/qos_strategy.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/codec.h"

// What the values of slo-controller-config say, as far as the types are not those of NodeSLO.
// Everything may be absent: then the level above decides, in the end the built-in default.
namespace koord::manager {

inline constexpr std::string_view kPolicyUsage = "usage";
inline constexpr std::string_view kPolicyRequest = "request";
inline constexpr std::string_view kPolicyMaxUsageRequest = "maxUsageRequest";
inline constexpr std::string_view kMidReclaimStatic = "static";

// How idle resources become batch and mid resources; how nodes are measured for that.
struct ColocationStrategy {
  std::optional<bool> enable;
  std::optional<int64_t> metric_aggregate_duration_seconds;
  std::optional<int64_t> metric_report_interval_seconds;
  std::optional<api::AggregatePolicy> metric_aggregate_policy;
  std::optional<std::string> metric_memory_collect_policy;

  std::optional<int64_t> cpu_reclaim_threshold_percent;
  std::optional<std::string> cpu_calculate_policy;  // usage, maxUsageRequest
  std::optional<int64_t> memory_reclaim_threshold_percent;
  std::optional<std::string> memory_calculate_policy;  // usage, request, maxUsageRequest
  std::optional<int64_t> degrade_time_minutes;
  std::optional<int64_t> update_time_threshold_seconds;
  std::optional<double> resource_diff_threshold;

  std::optional<std::string> mid_reclaim_mode;  // static, or nothing
  std::optional<int64_t> mid_cpu_threshold_percent;
  std::optional<int64_t> mid_memory_threshold_percent;
  std::optional<int64_t> mid_unallocated_percent;
  std::optional<int64_t> mid_static_cpu_reserved_percent;
  std::optional<int64_t> mid_static_memory_reserved_percent;
  std::optional<int64_t> batch_cpu_threshold_percent;     // none: no cap
  std::optional<int64_t> batch_memory_threshold_percent;  // likewise
  kube::Json extensions;                                  // of third parties

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("metricAggregateDurationSeconds", self.metric_aggregate_duration_seconds);
    field("metricReportIntervalSeconds", self.metric_report_interval_seconds);
    field("metricAggregatePolicy", self.metric_aggregate_policy);
    field("metricMemoryCollectPolicy", self.metric_memory_collect_policy);
    field("cpuReclaimThresholdPercent", self.cpu_reclaim_threshold_percent);
    field("cpuCalculatePolicy", self.cpu_calculate_policy);
    field("memoryReclaimThresholdPercent", self.memory_reclaim_threshold_percent);
    field("memoryCalculatePolicy", self.memory_calculate_policy);
    field("degradeTimeMinutes", self.degrade_time_minutes);
    field("updateTimeThresholdSeconds", self.update_time_threshold_seconds);
    field("resourceDiffThreshold", self.resource_diff_threshold);
    field("midReclaimMode", self.mid_reclaim_mode);
    field("midCPUThresholdPercent", self.mid_cpu_threshold_percent);
    field("midMemoryThresholdPercent", self.mid_memory_threshold_percent);
    field("midUnallocatedPercent", self.mid_unallocated_percent);
    field("midStaticCPUReservedPercent", self.mid_static_cpu_reserved_percent);
    field("midStaticMemoryReservedPercent", self.mid_static_memory_reserved_percent);
    field("batchCPUThresholdPercent", self.batch_cpu_threshold_percent);
    field("batchMemoryThresholdPercent", self.batch_memory_threshold_percent);
    field("extensions", self.extensions);
  }
  bool operator==(const ColocationStrategy&) const = default;
};

ColocationStrategy DefaultColocationStrategy();
// What the strategy says, or else its default.
int64_t ValueOrDefault(const ColocationStrategy& strategy,
                       std::optional<int64_t> ColocationStrategy::*member);
// What would make no sense at run time; the error names the member.
Status Validate(const ColocationStrategy& strategy);
// How old a NodeMetric may be.
Duration DegradeTime(const ColocationStrategy& strategy);
// How long a small difference may wait, and how small it has to be, as a part of what there is.
Duration UpdateTimeThreshold(const ColocationStrategy& strategy);
double DiffThreshold(const ColocationStrategy& strategy);

// By how much CPUs of one model are worth more than those that requests are stated in: nothing
// beyond these bounds is believed.
inline constexpr double kLeastCpuRatio = 1.0;
inline constexpr double kMostCpuRatio = 5.0;
struct CpuModelRatios {
  std::optional<double> base_ratio;
  std::optional<double> hyper_thread_enabled_ratio;
  std::optional<double> turbo_enabled_ratio;
  std::optional<double> hyper_thread_turbo_enabled_ratio;

  static void Fields(auto& self, auto&& field) {
    field("baseRatio", self.base_ratio);
    field("hyperThreadEnabledRatio", self.hyper_thread_enabled_ratio);
    field("turboEnabledRatio", self.turbo_enabled_ratio);
    field("hyperThreadTurboEnabledRatio", self.hyper_thread_turbo_enabled_ratio);
  }
  bool operator==(const CpuModelRatios&) const = default;
};

struct CpuNormalizationStrategy {
  std::optional<bool> enable;
  std::optional<double> default_ratio;  // of models that are not listed
  std::map<std::string, CpuModelRatios, std::less<>> ratio_model;

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("defaultRatio", self.default_ratio);
    field("ratioModel", self.ratio_model);
  }
  bool operator==(const CpuNormalizationStrategy&) const = default;
};

struct AmplificationStrategy {
  std::optional<bool> enable;
  std::map<std::string, double, std::less<>> resource_amplification_ratio;

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("resourceAmplificationRatio", self.resource_amplification_ratio);
  }
  bool operator==(const AmplificationStrategy&) const = default;
};

struct HostApplications {
  std::vector<api::HostApplication> applications;

  static void Fields(auto& self, auto&& field) { field("applications", self.applications); }
  bool operator==(const HostApplications&) const = default;
};

}  // namespace koord::manager

KOORD_DECLARE_CODEC(koord::manager::ColocationStrategy);
