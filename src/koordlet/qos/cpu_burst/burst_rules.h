#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "api/qos_strategy.h"
#include "base/clock.h"
#include "base/milli_cpu.h"
#include "base/random.h"

// How far containers may go beyond their CPU limits. Numbers in, numbers out.
namespace koord::koordlet {

enum class BurstPolicy : uint8_t { kNone, kCpuBurstOnly, kCfsQuotaBurstOnly, kAuto };
BurstPolicy ParseBurstPolicy(std::string_view text);  // none for what it does not know

// The node's strategy with what the pod says for itself on top.
struct BurstConfig {
  BurstPolicy policy = BurstPolicy::kNone;
  int64_t cpu_burst_percent = 0;
  std::optional<int64_t> quota_burst_percent;
  int64_t quota_burst_period_seconds = -1;

  bool accumulates() const {  // unused quota, for a later moment
    return policy == BurstPolicy::kAuto || policy == BurstPolicy::kCpuBurstOnly;
  }
  bool scales_quota() const {
    return policy == BurstPolicy::kAuto || policy == BurstPolicy::kCfsQuotaBurstOnly;
  }
};
BurstConfig MergeBurstConfig(const api::CpuBurstConfig& node, const api::CpuBurstConfig* pod);

inline constexpr int64_t kMaxBurstMicros = 100'000'000;  // the kernel's

// Microseconds of unused quota that a container may save up.
int64_t StaticBurst(MilliCpu limit, const BurstConfig& config);

// How busy the processors are that pods share.
enum class SharePool : uint8_t { kUnknown, kIdle, kCooling, kOverload };
// In cores. `used` and `total` leave out pods that are no part of it.
SharePool SharePoolOf(double used, double total, int64_t threshold_percent);

std::string_view ToString(SharePool pool);

// What becomes of a container's quota.
enum class QuotaStep : uint8_t { kRemain, kUp, kDown, kReset };
std::string_view ToString(QuotaStep step);
// `throttled`: the share of periods in which the container was held back; none: not known.
QuotaStep WantedStep(const BurstConfig& config, bool limiter_allows,
                     std::optional<double> throttled);
QuotaStep StepOnNode(QuotaStep wanted, SharePool pool);
int64_t NextQuota(QuotaStep step, int64_t current, int64_t base, const BurstConfig& config);

// Keeps a container from living beyond its limit for long: what it uses above costs tokens, what it
// leaves unused earns them.
class BurstLimiter {
 public:
  // `period_seconds` >= 0.
  BurstLimiter(int64_t period_seconds, int64_t percent, SteadyTime now, Random& random);

  // The configuration it was made for.
  bool IsFor(int64_t period_seconds, int64_t percent) const {
    return capacity_ == CapacityOf(period_seconds, percent);
  }
  // `usage_percent`: of the limit, now.
  bool Allows(int64_t usage_percent, SteadyTime now);
  bool IsExpired(SteadyTime now) const { return now - last_ > expires_after_; }

 private:
  static int64_t CapacityOf(int64_t period_seconds, int64_t percent);

  int64_t capacity_;
  int64_t tokens_;
  Duration expires_after_;
  SteadyTime last_;
};

}  // namespace koord::koordlet
