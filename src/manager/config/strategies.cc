#include "manager/config/strategies.h"

#include <algorithm>
#include <limits>

#include "base/duration.h"

namespace koord::manager {
namespace {

Status AtLeast(std::string_view member, std::optional<int64_t> value, int64_t least) {
  if (!value || *value >= least) return absl::OkStatus();
  return InvalidArgument("{}: must be at least {}, found {}", member, least, *value);
}

Status Percent(std::string_view member, std::optional<int64_t> value) {
  if (!value || (*value >= 0 && *value <= 100)) return absl::OkStatus();
  return InvalidArgument("{}: must be between 0 and 100, found {}", member, *value);
}

}  // namespace

ColocationStrategy DefaultColocationStrategy() {
  ColocationStrategy strategy;
  strategy.enable = false;
  strategy.metric_aggregate_duration_seconds = 300;
  strategy.metric_report_interval_seconds = 60;
  strategy.metric_aggregate_policy = api::AggregatePolicy{{5min, 10min, 30min}};
  strategy.metric_memory_collect_policy = "usageWithoutPageCache";
  strategy.cpu_reclaim_threshold_percent = 60;
  strategy.cpu_calculate_policy = kPolicyUsage;
  strategy.memory_reclaim_threshold_percent = 65;
  strategy.memory_calculate_policy = kPolicyUsage;
  strategy.degrade_time_minutes = 15;
  strategy.update_time_threshold_seconds = 300;
  strategy.resource_diff_threshold = 0.1;
  strategy.mid_cpu_threshold_percent = 100;
  strategy.mid_memory_threshold_percent = 100;
  strategy.mid_unallocated_percent = 0;
  strategy.mid_static_cpu_reserved_percent = 0;
  strategy.mid_static_memory_reserved_percent = 0;
  return strategy;
}

Status Validate(const ColocationStrategy& s) {
  RETURN_IF_ERROR(
      AtLeast("metricAggregateDurationSeconds", s.metric_aggregate_duration_seconds, 1));
  RETURN_IF_ERROR(AtLeast("metricReportIntervalSeconds", s.metric_report_interval_seconds, 1));
  if (s.metric_memory_collect_policy && s.metric_memory_collect_policy->empty()) {
    return InvalidArgument("metricMemoryCollectPolicy: must not be empty");
  }
  RETURN_IF_ERROR(AtLeast("cpuReclaimThresholdPercent", s.cpu_reclaim_threshold_percent, 0));
  RETURN_IF_ERROR(AtLeast("memoryReclaimThresholdPercent", s.memory_reclaim_threshold_percent, 0));
  RETURN_IF_ERROR(AtLeast("degradeTimeMinutes", s.degrade_time_minutes, 1));
  RETURN_IF_ERROR(AtLeast("updateTimeThresholdSeconds", s.update_time_threshold_seconds, 1));
  if (s.resource_diff_threshold && !(*s.resource_diff_threshold > 0)) {
    return InvalidArgument("resourceDiffThreshold: must be more than 0, found {}",
                           *s.resource_diff_threshold);
  }
  RETURN_IF_ERROR(Percent("midCPUThresholdPercent", s.mid_cpu_threshold_percent));
  RETURN_IF_ERROR(Percent("midMemoryThresholdPercent", s.mid_memory_threshold_percent));
  RETURN_IF_ERROR(Percent("midUnallocatedPercent", s.mid_unallocated_percent));
  RETURN_IF_ERROR(AtLeast("midStaticCPUReservedPercent", s.mid_static_cpu_reserved_percent, 0));
  RETURN_IF_ERROR(
      AtLeast("midStaticMemoryReservedPercent", s.mid_static_memory_reserved_percent, 0));
  RETURN_IF_ERROR(AtLeast("batchCPUThresholdPercent", s.batch_cpu_threshold_percent, 0));
  return AtLeast("batchMemoryThresholdPercent", s.batch_memory_threshold_percent, 0);
}

Duration DegradeTime(const ColocationStrategy& strategy) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 60;
  const int64_t minutes = strategy.degrade_time_minutes.value_or(15);
  return BoundedSeconds(std::clamp(minutes, -kMost, kMost) * 60);
}

Duration UpdateTimeThreshold(const ColocationStrategy& strategy) {
  return BoundedSeconds(strategy.update_time_threshold_seconds.value_or(300));
}

api::ResourceThresholdStrategy DefaultThresholdStrategy() {
  api::ResourceThresholdStrategy strategy;
  strategy.enable = false;
  strategy.cpu_suppress_threshold_percent = 65;
  strategy.cpu_suppress_policy = "cpuset";
  strategy.memory_evict_threshold_percent = 70;
  strategy.cpu_evict_policy = "evictByRealLimit";
  return strategy;
}

api::CpuBurstStrategy DefaultCpuBurstStrategy() {
  api::CpuBurstStrategy strategy;
  strategy.policy = "none";
  strategy.cpu_burst_percent = 1000;
  strategy.cfs_quota_burst_percent = 300;
  strategy.cfs_quota_burst_period_seconds = -1;
  strategy.share_pool_threshold_percent = 50;
  return strategy;
}

}  // namespace koord::manager

KOORD_DEFINE_CODEC(koord::manager::ColocationStrategy);
