#include "koordlet/qos/cpu_suppress/suppress_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace koord::koordlet::suppress_rules_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Eight processors: cores (0,1)(2,3)(4,5)(6,7), the first two on socket and NUMA node 0.
std::vector<Processor> T8(std::initializer_list<int32_t> cpus) {
  std::vector<Processor> processors;
  for (const int32_t cpu : cpus) {
    const int32_t half = cpu / 4;
    processors.push_back({.cpu = cpu, .core = cpu / 2, .socket = half, .node = half, .l3 = half});
  }
  return processors;
}

TEST(BeCpuLeftTest, Vector1) {
  NodeCpuUse use{.node = 12, .pods = 10, .pods_not_be = 8};
  EXPECT_EQ(BeCpuLeft(MilliCpu(20000), 70, std::nullopt, use), MilliCpu(4000));
  use.host_apps = 1;  // BE, below the directory of best-effort pods
  EXPECT_EQ(BeCpuLeft(MilliCpu(20000), 70, std::nullopt, use), MilliCpu(5000));
}

TEST(BeCpuLeftTest, ReservationAndMinimumAreFloors) {
  const NodeCpuUse use{.node = 12, .pods = 10, .pods_not_be = 8, .reserved = 4};
  EXPECT_EQ(BeCpuLeft(MilliCpu(20000), 70, std::nullopt, use), MilliCpu(2000));
  EXPECT_EQ(BeCpuLeft(MilliCpu(20000), 70, 25, use), MilliCpu(5000));
  EXPECT_EQ(BeCpuLeft(MilliCpu(20000), 70, 5000, use), MilliCpu(20000)) << "no more than there is";
  EXPECT_EQ(BeCpuLeft(MilliCpu(20000), 10, std::nullopt, use), MilliCpu(-10000));
}

TEST(BeCpuLeftTest, NonsenseDoesNotOverflow) {
  const NodeCpuUse use{.node = 1e300, .pods_not_be = 1e300};
  EXPECT_EQ(BeCpuLeft(MilliCpu(INT64_MAX), INT64_MAX, std::nullopt, use), MilliCpu(-INT64_MAX));
  EXPECT_EQ(BeCpuLeft(MilliCpu(INT64_MAX), INT64_MIN, std::nullopt, {}), MilliCpu(INT64_MIN));
  EXPECT_EQ(NextBeQuota(MilliCpu(INT64_MIN), Limit::Of(INT64_MAX), INT64_MAX), kMinBeQuotaMicros);
}

TEST(NextBeQuotaTest, Vector4) {
  EXPECT_EQ(NextBeQuota(MilliCpu(20000), Limit::Of(1'000'000), 80), 1'800'000);
  EXPECT_EQ(NextBeQuota(MilliCpu(20000), Limit::Unlimited(), 80), 2'000'000);
  EXPECT_EQ(NextBeQuota(MilliCpu(20000), Limit::Of(1'980'000), 80), std::nullopt);
  EXPECT_EQ(NextBeQuota(MilliCpu(1), Limit::Of(80'000), 80), 2000);
}

TEST(NextBeQuotaTest, NoLimitIsNotANumber) {
  // Half a core is less than a hundredth of the node away from -1, but far from no limit.
  EXPECT_EQ(NextBeQuota(MilliCpu(500), Limit::Unlimited(), 80), 50'000);
}

TEST(NextBeQuotaTest, ShrinksAtOnce) {
  EXPECT_EQ(NextBeQuota(MilliCpu(1000), Limit::Of(8'000'000), 80), 100'000);
}

TEST(PickCpusTest, Vector2) {
  EXPECT_THAT(PickCpus(3, T8({0, 1, 2, 3, 4, 5, 6, 7})), ElementsAre(0, 1, 4));
}

TEST(PickCpusTest, PairsComeFromNodesInTurn) {
  EXPECT_THAT(PickCpus(4, T8({0, 1, 2, 3, 4, 5, 6, 7})), ElementsAre(0, 1, 4, 5));
}

TEST(PickCpusTest, SinglesWhereNoCoreIsWhole) {
  EXPECT_THAT(PickCpus(3, T8({0, 2, 4, 6})), ElementsAre(0, 2, 4));
}

TEST(PickCpusTest, TooFewIsNone) {
  EXPECT_THAT(PickCpus(5, T8({0, 1, 2, 3})), IsEmpty());
  EXPECT_THAT(PickCpus(0, T8({0, 1})), IsEmpty());
}

TEST(ChooseBeCpusTest, Vector3) {
  const auto lsr = T8({0, 6});
  const auto shared = T8({1, 2, 3, 4, 5});
  EXPECT_EQ(NextBeCpuCount(MilliCpu(3000), 4, 8), 3);
  EXPECT_THAT(ChooseBeCpus(3, lsr, shared), ElementsAre(2, 3, 4));
  EXPECT_THAT(ChooseBeCpus(3, T8({0}), {}), IsEmpty());
}

TEST(ChooseBeCpusTest, NeverASingleProcessor) {
  // One could be had of the LSR pod's, none of the others.
  EXPECT_THAT(ChooseBeCpus(3, T8({0}), T8({1})), IsEmpty());
  EXPECT_THAT(ChooseBeCpus(2, {}, {}), IsEmpty());
}

TEST(NextBeCpuCountTest, GrowsSlowlyShrinksAtOnce) {
  EXPECT_EQ(NextBeCpuCount(MilliCpu(60000), 10, 80), 18);
  EXPECT_EQ(NextBeCpuCount(MilliCpu(10000), 70, 80), 10);
  EXPECT_EQ(NextBeCpuCount(MilliCpu(-5), 70, 80), 2);
  EXPECT_EQ(NextBeCpuCount(MilliCpu(1001), 2, 80), 2);
  EXPECT_EQ(NextBeCpuCount(MilliCpu(2001), 2, 80), 3);
}

TEST(ChooseBeCpusTest, AnyChoiceIsAsLargeAsAskedFor) {
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Processor> lsr, shared;
    const auto cpus = 1 + random.Below(64);
    for (uint64_t cpu = 0; cpu < cpus; ++cpu) {
      Processor p{.cpu = static_cast<int32_t>(cpu),
                  .core = static_cast<int32_t>(cpu / 2),
                  .socket = static_cast<int32_t>(random.Below(2)),
                  .node = static_cast<int32_t>(random.Below(4))};
      (random.Chance(0.2) ? lsr : shared).push_back(p);
    }
    const auto count = static_cast<int64_t>(2 + random.Below(cpus));
    const auto chosen = ChooseBeCpus(count, lsr, shared);
    if (count <= static_cast<int64_t>(cpus)) {
      ASSERT_EQ(static_cast<int64_t>(chosen.size()), count);
    } else {
      ASSERT_TRUE(chosen.empty() || chosen.size() >= 2);
    }
  }
}

}  // namespace
}  // namespace koord::koordlet::suppress_rules_test
