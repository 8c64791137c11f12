#include "koordlet/qos/cpu_evict/satisfaction.h"

#include <algorithm>

#include "koordlet/qos/framework/amounts.h"

namespace koord::koordlet {
namespace {

constexpr int64_t kSmallLimit = 1000;  // always counts as used up

bool IsUsedUp(const BeCpu& be, int64_t threshold_percent) {
  if (be.limit <= 0) return false;
  if (be.limit < kSmallLimit) return true;
  return static_cast<__int128>(be.usage) * 100 >=
         static_cast<__int128>(be.limit) * threshold_percent;
}

}  // namespace

StatusOr<std::optional<SatisfactionLimits>> SatisfactionLimitsOf(
    const api::ResourceThresholdStrategy& strategy) {
  const auto& lower = strategy.cpu_evict_be_satisfaction_lower_percent;
  const auto& upper = strategy.cpu_evict_be_satisfaction_upper_percent;
  if (!lower && !upper) return std::nullopt;
  if (!lower || !upper) {
    return InvalidArgument(
        "cpuEvictBESatisfactionLowerPercent and cpuEvictBESatisfactionUpperPercent: expected both "
        "or neither");
  }
  if (*upper < *lower) {
    return InvalidArgument(
        "cpuEvictBESatisfactionUpperPercent {} must not be below "
        "cpuEvictBESatisfactionLowerPercent {}",
        *upper, *lower);
  }
  SatisfactionLimits limits{.lower = *lower, .upper = *upper};
  if (const auto& usage = strategy.cpu_evict_be_usage_threshold_percent) {
    limits.usage_threshold = *usage;
  }
  return limits;
}

int64_t SatisfactionRelease(const BeCpu& be, const SatisfactionLimits& limits) {
  if (!IsUsedUp(be, limits.usage_threshold) || be.request <= 0) return 0;
  const auto request = static_cast<__int128>(be.request);
  const auto limit = static_cast<__int128>(be.limit) * 100;
  if (limit > request * limits.lower) return 0;
  return std::max<int64_t>(Saturate((request * limits.upper - limit) / 100), 0);
}

int64_t SatisfactionRelease(const BeCpu& average, const BeCpu& last,
                            const SatisfactionLimits& limits) {
  const int64_t by_average = SatisfactionRelease(average, limits);
  if (by_average <= 0) return 0;
  if (last.request == average.request && last.limit == average.limit) return by_average;
  return std::min(by_average, SatisfactionRelease(last, limits));
}

}  // namespace koord::koordlet
