#include "koordlet/qos/eviction/victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/extended_resources.h"

namespace koord::koordlet::victims_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr int64_t kGi = int64_t{1} << 30;

TEST(UsageReleaseTest, Vector6) {
  const auto limits = CheckUsageLimits(82, std::nullopt);
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->lower, 80);
  EXPECT_EQ(UsageRelease(115'000'000'000, 120'000'000'000, *limits), 18'000'000'000);
}

TEST(UsageReleaseTest, BelowTheThresholdNobodyGoes) {
  const UsageLimits limits{.threshold = 82, .lower = 80};
  EXPECT_EQ(UsageRelease(81'999, 100'000, limits), std::nullopt);
  EXPECT_EQ(UsageRelease(82'000, 100'000, limits), 2'000);
  EXPECT_EQ(UsageRelease(82'000, 0, limits), std::nullopt);
}

TEST(UsageLimitsTest, MustMakeSense) {
  EXPECT_FALSE(CheckUsageLimits(std::nullopt, 50));
  EXPECT_FALSE(CheckUsageLimits(-1, std::nullopt));
  EXPECT_FALSE(CheckUsageLimits(80, 80));
  EXPECT_TRUE(CheckUsageLimits(80, 79));
  EXPECT_TRUE(CheckUsageLimits(0, std::nullopt));
}

TEST(AllocatableReleaseTest, Vector7) {
  const AllocatableLimits limits{.threshold = 80, .lower = 70};
  EXPECT_THAT(
      AllocatableRelease({{api::kBatchMemory, 85 * kGi}}, {{api::kBatchMemory, 100 * kGi}}, limits),
      ElementsAre(Pair(api::kBatchMemory, 16106127360)));
}

TEST(AllocatableReleaseTest, WhatTheNodeDoesNotHaveGoesAsAWhole) {
  const AllocatableLimits limits{.threshold = 80, .lower = 70};
  EXPECT_THAT(AllocatableRelease({{api::kBatchCpu, 5000}, {api::kMidCpu, 8000}, {kube::kCpu, 0}},
                                 {{api::kBatchCpu, 0}, {api::kMidCpu, 10000}}, limits),
              ElementsAre(Pair(api::kBatchCpu, 5000)));
  EXPECT_THAT(AllocatableRelease({{api::kMidCpu, 8001}}, {{api::kMidCpu, 10000}}, limits),
              ElementsAre(Pair(api::kMidCpu, 1001)));
}

TEST(AllocatableLimitsTest, MustMakeSense) {
  EXPECT_TRUE(CheckAllocatableLimits(80, 70, 7999));
  EXPECT_FALSE(CheckAllocatableLimits(80, 70, 8000));
  EXPECT_FALSE(CheckAllocatableLimits(80, 80, 5999));
  EXPECT_FALSE(CheckAllocatableLimits(80, std::nullopt, 5999));
  EXPECT_FALSE(CheckAllocatableLimits(std::nullopt, 70, 5999));
  EXPECT_FALSE(CheckAllocatableLimits(80, 70, std::nullopt));
  EXPECT_FALSE(CheckAllocatableLimits(-1, -2, 5999));
}

}  // namespace
}  // namespace koord::koordlet::victims_test
