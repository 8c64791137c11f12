#include "koordlet/qos/cpu_evict/satisfaction.h"

#include <gtest/gtest.h>

namespace koord::koordlet::satisfaction_test {
namespace {

constexpr SatisfactionLimits kLimits{.lower = 30, .upper = 40};

TEST(SatisfactionReleaseTest, Vector5) {
  const BeCpu average{.usage = 9500, .request = 50000, .limit = 10000};
  const BeCpu last{.usage = 13000, .request = 50000, .limit = 14000};
  EXPECT_EQ(SatisfactionRelease(average, kLimits), 10000);
  EXPECT_EQ(SatisfactionRelease(last, kLimits), 6000);
  EXPECT_EQ(SatisfactionRelease(average, last, kLimits), 6000);
  EXPECT_EQ(SatisfactionRelease(average, average, kLimits), 10000);
}

TEST(SatisfactionReleaseTest, WhenNobodyHasToGo) {
  struct Case {
    const char* name;
    BeCpu be;
    int64_t release;
  };
  for (const Case& c : {
           Case{"does not use what it has", {8000, 50000, 10000}, 0},
           Case{"just uses it up", {9000, 50000, 10000}, 10000},
           Case{"is satisfied", {15000, 50000, 15001}, 0},
           Case{"is just not satisfied", {15000, 50000, 15000}, 5000},
           Case{"has hardly anything, which counts as used up", {0, 50000, 999}, 19001},
           Case{"has nothing that anybody knows of", {100, 50000, -1}, 0},
           Case{"asks for nothing", {9500, 0, 10000}, 0},
           Case{"nonsense", {INT64_MAX, INT64_MAX, 1000}, INT64_MAX / 10 * 4 - 998},
       }) {
    EXPECT_EQ(SatisfactionRelease(c.be, kLimits), c.release) << c.name;
  }
}

TEST(SatisfactionReleaseTest, BothMustAgree) {
  const BeCpu low{.usage = 9500, .request = 50000, .limit = 10000};
  const BeCpu fine{.usage = 9500, .request = 20000, .limit = 10000};
  EXPECT_EQ(SatisfactionRelease(low, fine, kLimits), 0);
  EXPECT_EQ(SatisfactionRelease(fine, low, kLimits), 0);
}

TEST(SatisfactionLimitsTest, BothOrNeitherInOrder) {
  const auto limits_of = [](std::optional<int64_t> lower, std::optional<int64_t> upper) {
    api::ResourceThresholdStrategy strategy;
    strategy.cpu_evict_be_satisfaction_lower_percent = lower;
    strategy.cpu_evict_be_satisfaction_upper_percent = upper;
    return SatisfactionLimitsOf(strategy);
  };
  EXPECT_TRUE(limits_of(30, 40)->has_value());
  EXPECT_TRUE(limits_of(60, 60)->has_value());
  EXPECT_FALSE(limits_of({}, {})->has_value());
  EXPECT_FALSE(limits_of(30, {}).ok());
  EXPECT_FALSE(limits_of({}, 40).ok());
  EXPECT_FALSE(limits_of(50, 40).ok());
  EXPECT_EQ((*limits_of(30, 40))->usage_threshold, 90);
}

}  // namespace
}  // namespace koord::koordlet::satisfaction_test
