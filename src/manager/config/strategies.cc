#include "manager/config/strategies.h"

#include <algorithm>
#include <limits>

#include "api/default_strategies.h"
#include "api/setting_rules.h"
#include "base/duration.h"

namespace koord::manager {

ColocationStrategy DefaultColocationStrategy() {
  ColocationStrategy strategy;
  strategy.enable = false;
  const api::MetricCollectPolicy metrics = api::DefaultMetricCollectPolicy();
  strategy.metric_aggregate_duration_seconds = metrics.aggregate_duration_seconds;
  strategy.metric_report_interval_seconds = metrics.report_interval_seconds;
  strategy.metric_aggregate_policy = metrics.node_aggregate_policy;
  strategy.metric_memory_collect_policy = metrics.node_memory_collect_policy;
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
  const auto broken = api::BrokenRulesOf(api::StrategyKind::kColocation, kube::Encode(s),
                                         api::StrategyState::kInForce);
  if (!broken.empty()) {
    return InvalidArgument("{}: {}", broken[0].Path(), broken[0].Description());
  }
  if (s.metric_memory_collect_policy && s.metric_memory_collect_policy->empty()) {
    return InvalidArgument("metricMemoryCollectPolicy: must not be empty");
  }
  return absl::OkStatus();
}

namespace {

template <class T>
T OrDefault(const ColocationStrategy& strategy, std::optional<T> ColocationStrategy::*member) {
  static const ColocationStrategy& defaults = *new ColocationStrategy(DefaultColocationStrategy());
  return (strategy.*member).value_or((defaults.*member).value_or(0));
}

}  // namespace

int64_t ValueOrDefault(const ColocationStrategy& strategy,
                       std::optional<int64_t> ColocationStrategy::*member) {
  return OrDefault(strategy, member);
}

double DiffThreshold(const ColocationStrategy& strategy) {
  return OrDefault(strategy, &ColocationStrategy::resource_diff_threshold);
}

Duration DegradeTime(const ColocationStrategy& strategy) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 60;
  const int64_t minutes = ValueOrDefault(strategy, &ColocationStrategy::degrade_time_minutes);
  return BoundedSeconds(std::clamp(minutes, -kMost, kMost) * 60);
}

Duration UpdateTimeThreshold(const ColocationStrategy& strategy) {
  return BoundedSeconds(
      ValueOrDefault(strategy, &ColocationStrategy::update_time_threshold_seconds));
}

}  // namespace koord::manager

KOORD_DEFINE_CODEC(koord::manager::ColocationStrategy);
