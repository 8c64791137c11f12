#include "koordlet/qos/cpu_burst/burst_rules.h"

#include <gtest/gtest.h>

namespace koord::koordlet::burst_rules_test {
namespace {

BurstConfig Config(BurstPolicy policy) {
  return {.policy = policy, .cpu_burst_percent = 1000, .quota_burst_percent = 300};
}

TEST(SharePoolTest, Vector8) {
  const double total = 16 - 8;
  EXPECT_EQ(SharePoolOf(10 - 7, total, 50), SharePool::kIdle);
  EXPECT_EQ(SharePoolOf(10 - 5, total, 50), SharePool::kOverload);
  EXPECT_EQ(SharePoolOf(10 - 6.25, total, 50), SharePool::kCooling);
  EXPECT_EQ(SharePoolOf(0, 0, 50), SharePool::kOverload) << "nothing to share";
}

TEST(NextQuotaTest, Vector9) {
  const BurstConfig config = Config(BurstPolicy::kAuto);
  const auto next = [&](double throttled, SharePool pool, int64_t current, const BurstConfig& c) {
    return NextQuota(StepOnNode(WantedStep(c, true, throttled), pool), current, 200000, c);
  };
  EXPECT_EQ(next(0.5, SharePool::kIdle, 580000, config), 600000);
  EXPECT_EQ(next(0.5, SharePool::kOverload, 400000, config), 320000);
  EXPECT_EQ(next(0.5, SharePool::kIdle, 400000, Config(BurstPolicy::kCpuBurstOnly)), 200000);
}

TEST(NextQuotaTest, StaysBetweenLimitAndCeiling) {
  const BurstConfig config = Config(BurstPolicy::kAuto);
  EXPECT_EQ(NextQuota(QuotaStep::kDown, 210000, 200000, config), 200000);
  EXPECT_EQ(NextQuota(QuotaStep::kRemain, 900000, 200000, config), 600000);
  EXPECT_EQ(NextQuota(QuotaStep::kRemain, 100000, 200000, config), 200000);
  BurstConfig none = config;
  for (const auto percent : {std::optional<int64_t>(), std::optional<int64_t>(100),
                             std::optional<int64_t>(-5), std::optional<int64_t>(INT64_MIN)}) {
    none.quota_burst_percent = percent;
    EXPECT_EQ(NextQuota(QuotaStep::kUp, 200000, 200000, none), 200000);
  }
  none.quota_burst_percent = INT64_MAX;
  EXPECT_EQ(NextQuota(QuotaStep::kUp, INT64_MAX, 200000, none), INT64_MAX);
}

TEST(StepOnNodeTest, TheNodeHasTheLastWord) {
  using enum QuotaStep;
  struct Case {
    SharePool pool;
    QuotaStep up, remain, down, reset;
  };
  for (const Case& c : {Case{SharePool::kIdle, kUp, kRemain, kDown, kReset},
                        Case{SharePool::kOverload, kDown, kDown, kDown, kReset},
                        Case{SharePool::kCooling, kRemain, kRemain, kDown, kReset},
                        Case{SharePool::kUnknown, kRemain, kRemain, kDown, kReset}}) {
    EXPECT_EQ(StepOnNode(kUp, c.pool), c.up);
    EXPECT_EQ(StepOnNode(kRemain, c.pool), c.remain);
    EXPECT_EQ(StepOnNode(kDown, c.pool), c.down);
    EXPECT_EQ(StepOnNode(kReset, c.pool), c.reset);
  }
}

TEST(WantedStepTest, NeedsThrottlingAndTokens) {
  const BurstConfig config = Config(BurstPolicy::kCfsQuotaBurstOnly);
  EXPECT_EQ(WantedStep(config, true, 0.1), QuotaStep::kUp);
  EXPECT_EQ(WantedStep(config, true, 0), QuotaStep::kRemain);
  EXPECT_EQ(WantedStep(config, true, std::nullopt), QuotaStep::kRemain);
  EXPECT_EQ(WantedStep(config, false, 0.1), QuotaStep::kDown);
  EXPECT_EQ(WantedStep(Config(BurstPolicy::kNone), true, 0.1), QuotaStep::kReset);
}

TEST(StaticBurstTest, Vector10) {
  EXPECT_EQ(StaticBurst(MilliCpu(1500), Config(BurstPolicy::kAuto)), 1'500'000);
  EXPECT_EQ(StaticBurst(MilliCpu(1500), Config(BurstPolicy::kCfsQuotaBurstOnly)), 0);
  EXPECT_EQ(StaticBurst(MilliCpu(0), Config(BurstPolicy::kAuto)), 0);
}

TEST(StaticBurstTest, StaysInTheKernelsRange) {
  BurstConfig config = Config(BurstPolicy::kAuto);
  config.cpu_burst_percent = INT64_MAX;
  EXPECT_EQ(StaticBurst(MilliCpu(INT64_MAX), config), kMaxBurstMicros);
  config.cpu_burst_percent = -1;
  EXPECT_EQ(StaticBurst(MilliCpu(1500), config), 0);
}

TEST(MergeBurstConfigTest, ThePodsFieldsWin) {
  api::CpuBurstConfig node;
  node.policy = "auto";
  node.cpu_burst_percent = 1000;
  node.cfs_quota_burst_percent = 300;
  api::CpuBurstConfig pod;
  pod.cfs_quota_burst_percent = 200;
  const BurstConfig merged = MergeBurstConfig(node, &pod);
  EXPECT_EQ(merged.policy, BurstPolicy::kAuto);
  EXPECT_EQ(merged.cpu_burst_percent, 1000);
  EXPECT_EQ(merged.quota_burst_percent, 200);
  EXPECT_EQ(merged.quota_burst_period_seconds, -1);
  pod.policy = "none";
  EXPECT_EQ(MergeBurstConfig(node, &pod).policy, BurstPolicy::kNone);
  pod.policy = "always";
  EXPECT_EQ(MergeBurstConfig(node, &pod).policy, BurstPolicy::kNone);
}

TEST(BurstLimiterTest, UseAboveTheLimitCostsTokens) {
  Random random(1);
  BurstLimiter limiter(10, 300, 0s, random);  // capacity 2000, starts with less than 1000
  // Earns 100 a second while idle, until it is full.
  EXPECT_TRUE(limiter.Allows(0, 60s));
  // 200 above the limit: 2000 tokens last ten seconds.
  EXPECT_TRUE(limiter.Allows(300, 69s));
  EXPECT_FALSE(limiter.Allows(300, 70s));
  // Falls no deeper than the capacity.
  EXPECT_FALSE(limiter.Allows(INT64_MAX, 1000s));
  EXPECT_FALSE(limiter.Allows(0, 1020s));
  EXPECT_TRUE(limiter.Allows(0, 1021s));
}

TEST(BurstLimiterTest, NeitherEarnsNorPaysInBetween) {
  Random random(1);
  BurstLimiter limiter(10, 300, 0s, random);
  EXPECT_TRUE(limiter.Allows(0, 60s));
  EXPECT_TRUE(limiter.Allows(60, 600s));
  EXPECT_TRUE(limiter.Allows(99, 6000s));
  EXPECT_TRUE(limiter.Allows(300, 6009s));
}

TEST(BurstLimiterTest, PartsOfSecondsAreNotLost) {
  Random random(1);
  BurstLimiter limiter(10, 300, 0s, random);
  for (int i = 1; i <= 100; ++i) limiter.Allows(300, i * 900ms);
  EXPECT_FALSE(limiter.Allows(300, 90s));
}

TEST(BurstLimiterTest, NoRoomAtAll) {
  Random random(1);
  BurstLimiter limiter(0, 300, 0s, random);
  EXPECT_FALSE(limiter.Allows(0, 100s));
  EXPECT_TRUE(limiter.IsFor(0, 500));
  EXPECT_FALSE(limiter.IsFor(1, 500));
  EXPECT_TRUE(limiter.IsExpired(101s));
}

}  // namespace
}  // namespace koord::koordlet::burst_rules_test
