#include "koordlet/qos/cpu_burst/burst_rules.h"

#include <algorithm>

#include "koordlet/qos/framework/amounts.h"

namespace koord::koordlet {
namespace {

using std::chrono::seconds;

constexpr int64_t kMaxPeriodSeconds = 366 * 24 * 3600;

}  // namespace

BurstPolicy ParseBurstPolicy(std::string_view text) {
  if (text == "auto") return BurstPolicy::kAuto;
  if (text == "cpuBurstOnly") return BurstPolicy::kCpuBurstOnly;
  if (text == "cfsQuotaBurstOnly") return BurstPolicy::kCfsQuotaBurstOnly;
  return BurstPolicy::kNone;
}

BurstConfig MergeBurstConfig(const api::CpuBurstConfig& node, const api::CpuBurstConfig* pod) {
  const api::CpuBurstConfig none;
  const api::CpuBurstConfig& own = pod == nullptr ? none : *pod;
  const auto first_of = [](const auto& a, const auto& b) { return a ? a : b; };
  BurstConfig config;
  config.policy = ParseBurstPolicy(own.policy.empty() ? node.policy : own.policy);
  config.cpu_burst_percent = first_of(own.cpu_burst_percent, node.cpu_burst_percent).value_or(0);
  config.quota_burst_percent = first_of(own.cfs_quota_burst_percent, node.cfs_quota_burst_percent);
  config.quota_burst_period_seconds =
      first_of(own.cfs_quota_burst_period_seconds, node.cfs_quota_burst_period_seconds)
          .value_or(-1);
  return config;
}

int64_t StaticBurst(MilliCpu limit, const BurstConfig& config) {
  if (!config.accumulates() || limit <= MilliCpu()) return 0;
  // milli / 1000 * percent / 100 * 100000 us
  return std::clamp<int64_t>(Scale(limit.value(), config.cpu_burst_percent, 1), 0, kMaxBurstMicros);
}

SharePool SharePoolOf(double used, double total, int64_t threshold_percent) {
  const double ratio = total > 0 ? used / total : 1;
  const double threshold = static_cast<double>(threshold_percent) / 100;
  if (ratio >= threshold) return SharePool::kOverload;
  return ratio >= 0.9 * threshold ? SharePool::kCooling : SharePool::kIdle;
}

std::string_view ToString(SharePool pool) {
  switch (pool) {
    case SharePool::kIdle:
      return "idle";
    case SharePool::kCooling:
      return "cooling";
    case SharePool::kOverload:
      return "overload";
    case SharePool::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view ToString(QuotaStep step) {
  switch (step) {
    case QuotaStep::kUp:
      return "up";
    case QuotaStep::kDown:
      return "down";
    case QuotaStep::kReset:
      return "reset";
    case QuotaStep::kRemain:
      break;
  }
  return "remain";
}

QuotaStep WantedStep(const BurstConfig& config, bool limiter_allows,
                     std::optional<double> throttled) {
  if (!config.scales_quota()) return QuotaStep::kReset;
  if (!limiter_allows) return QuotaStep::kDown;
  return throttled.value_or(0) > 0 ? QuotaStep::kUp : QuotaStep::kRemain;
}

QuotaStep StepOnNode(QuotaStep wanted, SharePool pool) {
  switch (pool) {
    case SharePool::kOverload:
      return wanted == QuotaStep::kReset ? wanted : QuotaStep::kDown;
    case SharePool::kCooling:
    case SharePool::kUnknown:
      return wanted == QuotaStep::kUp ? QuotaStep::kRemain : wanted;
    case SharePool::kIdle:
      return wanted;
  }
  return wanted;
}

int64_t NextQuota(QuotaStep step, int64_t current, int64_t base, const BurstConfig& config) {
  const int64_t percent = config.quota_burst_percent.value_or(0);
  const int64_t ceiling = percent > 100 ? PercentOf(base, percent) : base;
  int64_t target = current;
  switch (step) {
    case QuotaStep::kUp:
      target = Scale(current, 12, 10);
      break;
    case QuotaStep::kDown:
      target = Scale(current, 8, 10);
      break;
    case QuotaStep::kReset:
      target = base;
      break;
    case QuotaStep::kRemain:
      break;
  }
  return std::clamp(target, base, ceiling);
}

BurstLimiter::BurstLimiter(int64_t period_seconds, int64_t percent, SteadyTime now, Random& random)
    : capacity_(CapacityOf(period_seconds, percent)),
      tokens_(Truncate(random.Fraction() * 0.5 * static_cast<double>(capacity_))),
      expires_after_(2 * seconds(std::clamp<int64_t>(period_seconds, 0, kMaxPeriodSeconds))),
      last_(now) {}

int64_t BurstLimiter::CapacityOf(int64_t period_seconds, int64_t percent) {
  return std::max<int64_t>(Scale(Minus(percent, 100), period_seconds, 1), 0);
}

bool BurstLimiter::Allows(int64_t usage_percent, SteadyTime now) {
  const auto passed = std::chrono::duration_cast<seconds>(now - last_);
  last_ += passed;  // parts of seconds count the next time
  if (usage_percent >= 100) {
    tokens_ = Minus(tokens_, Scale(Minus(usage_percent, 100), passed.count(), 1));
  } else if (usage_percent < 60) {
    tokens_ = Plus(tokens_, Scale(Minus(100, usage_percent), passed.count(), 1));
  }
  tokens_ = std::clamp(tokens_, -capacity_, capacity_);
  return tokens_ > 0;
}

}  // namespace koord::koordlet
