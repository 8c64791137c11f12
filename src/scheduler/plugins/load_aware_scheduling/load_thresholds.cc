#include "scheduler/plugins/load_aware_scheduling/load_thresholds.h"

#include <cmath>
#include <optional>

#include "api/node_annotations.h"

namespace koord::scheduler {
namespace {

double PercentUsed(int64_t amount, int64_t capacity) {
  return std::round(static_cast<double>(amount) / static_cast<double>(capacity) * 100);
}

struct Thresholds {
  const ResourceNumbers* usage;
  const ResourceNumbers* prod;
  const ResourceNumbers* aggregated = nullptr;  // null: not configured
  UsageKind aggregation;
};

template <class Aggregated>
void SetAggregated(Thresholds& thresholds, const Aggregated& from, Duration duration) {
  if (from.usage_thresholds.empty() || from.usage_aggregation_type.empty()) return;
  thresholds.aggregated = &from.usage_thresholds;
  thresholds.aggregation = {from.usage_aggregation_type, duration};
}

Thresholds Choose(const LoadAwareSchedulingArgs& args, const api::UsageThresholds& node) {
  Thresholds chosen{&args.usage_thresholds, &args.prod_usage_thresholds};
  if (!node.usage_thresholds.empty()) chosen.usage = &node.usage_thresholds;
  if (!node.prod_usage_thresholds.empty()) chosen.prod = &node.prod_usage_thresholds;
  if (const auto& from = args.aggregated) {
    SetAggregated(chosen, *from, from->usage_aggregated_duration);
  }
  if (const auto& from = node.aggregated_usage) {
    SetAggregated(chosen, *from, from->usage_aggregated_duration.value_or(Duration{}));
  }
  return chosen;
}

LoadAmounts LimitsOf(const ResourceNumbers& thresholds, const LoadAmounts& capacity,
                     const LoadResources& tracked) {
  LoadAmounts limits(tracked.size(), kNoLimit);
  for (size_t i = 0; i < tracked.size(); ++i) {
    const auto found = thresholds.find(tracked.name(i));
    if (found != thresholds.end()) limits[i] = LoadLimit(capacity[i], found->second);
  }
  return limits;
}

bool AnyIsSet(const ResourceNumbers& thresholds, const LoadResources& tracked) {
  for (size_t i = 0; i < tracked.size(); ++i) {
    const auto found = thresholds.find(tracked.name(i));
    if (found != thresholds.end() && found->second > 0) return true;
  }
  return false;
}

LoadAmounts CapacityOf(const kube::Node& node, const LoadResources& tracked) {
  LoadAmounts capacity = tracked.AmountsIn(node.status.allocatable);
  const auto raw = api::RawAllocatableOf(node.metadata.annotations);
  if (!raw.ok() || !raw->has_value()) return capacity;
  for (size_t i = 0; i < tracked.size(); ++i) {
    const auto found = (*raw)->find(tracked.name(i));
    if (found != (*raw)->end()) capacity[i] = tracked.AmountOf(i, found->second);
  }
  return capacity;
}

}  // namespace

int64_t LoadLimit(int64_t capacity, int64_t threshold) {
  if (capacity <= 0 || threshold <= 0) return kNoLimit;
  const auto exceeds = [&](int64_t amount) {
    return PercentUsed(amount, capacity) > static_cast<double>(threshold);
  };
  int64_t within = 0;
  int64_t beyond = int64_t{1} << 61;  // more than any sum of loads
  if (!exceeds(beyond)) return kNoLimit;
  while (beyond - within > 1) {
    const int64_t middle = within + (beyond - within) / 2;
    (exceeds(middle) ? beyond : within) = middle;
  }
  return within;
}

NodeLimits NodeLimitsOf(const kube::Node& node, const LoadAwareSchedulingArgs& args,
                        const LoadResources& tracked) {
  const auto annotation = api::UsageThresholdsOf(node.metadata.annotations);
  const api::UsageThresholds own =
      annotation.ok() ? annotation->value_or(api::UsageThresholds{}) : api::UsageThresholds{};
  const Thresholds thresholds = Choose(args, own);
  NodeLimits limits{.capacity = CapacityOf(node, tracked)};
  const ResourceNumbers& others =
      thresholds.aggregated != nullptr ? *thresholds.aggregated : *thresholds.usage;
  limits.others = {.active = AnyIsSet(others, tracked),
                   .aggregated = thresholds.aggregated != nullptr,
                   .usage = thresholds.aggregation,
                   .most = LimitsOf(others, limits.capacity, tracked)};
  limits.prod = limits.others;
  if (AnyIsSet(*thresholds.prod, tracked)) {
    limits.prod = {.active = true,
                   .of_prod = true,
                   .most = LimitsOf(*thresholds.prod, limits.capacity, tracked)};
  }
  return limits;
}

}  // namespace koord::scheduler
