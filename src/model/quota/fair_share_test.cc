#include "model/quota/fair_share.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace koord::model::fair_share_test {
namespace {

std::vector<int64_t> Share(int64_t total, const std::vector<ShareClaim>& claims) {
  std::vector<int64_t> shares(claims.size());
  FairShare().Share(total, claims, shares);
  return shares;
}

using Shares = std::vector<int64_t>;

TEST(FairShareTest, FillsUpByWeightAndSharesAgainWhatNobodyNeeds) {
  EXPECT_EQ(Share(200, {{3, 90, 20}, {2, 30, 40}, {2, 120, 30}, {1, 10, 25, false}, {1, 60, 10}}),
            (Shares{63, 30, 58, 25, 24}));
}

TEST(FairShareTest, WholeCardsAreNeitherLostNorInvented) {
  EXPECT_EQ(Share(10, {{1, 9, 2}, {1, 9, 2}, {1, 9, 2}, {5, 0, 4}}), (Shares{4, 3, 3, 0}));
}

TEST(FairShareTest, WhatIsGuaranteedIsGivenFirst) {
  EXPECT_EQ(Share(100, {{1, 80, 20}, {1, 70, 55}}), (Shares{33, 67}));
}

TEST(FairShareTest, FloorsAreGrantedAlsoWhereTheyAreMoreThanThereIs) {
  EXPECT_EQ(Share(50, {{1, 40, 30}, {1, 40, 30}}), (Shares{30, 30}));
  EXPECT_EQ(Share(-5, {{1, 40, 30}}), (Shares{30}));
}

TEST(FairShareTest, WithoutWeightThereIsNothingBeyondTheFloor) {
  EXPECT_EQ(Share(100, {{0, 80, 20}, {0, 70, 10}}), (Shares{20, 10}));
  EXPECT_EQ(Share(100, {{0, 80, 20}, {1, 60, 10}}), (Shares{20, 60}));
}

TEST(FairShareTest, TheLargestNumbersAreExact) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Shares shares = Share(kMost, {{kMost, kMost, 0}, {kMost - 1, kMost, 0}, {1, kMost, 0}});
  EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), Wide{0}), Wide{kMost});
  EXPECT_EQ(shares[0], kMost / 2 + 1);  // half of an odd number, and the larger remainder
}

TEST(FairShareTest, MinsAreScaledInProportion) {
  EXPECT_EQ(ScaledMin(60000, 100000, 150000), 40000);
  EXPECT_EQ(ScaledMin(30000, 100000, 150000), 20000);
  EXPECT_EQ(ScaledMin(33333, 70000, 100000), 23333);
  EXPECT_EQ(ScaledMin(33334, 70000, 100000), 23333);
  EXPECT_EQ(ScaledMin(5, 0, 10), 0);
  EXPECT_EQ(ScaledMin(5, -3, 10), 0);
  // As a double this would be a byte less.
  EXPECT_EQ(ScaledMin(9007199254740993, 9007199254740993, 9007199254740993), 9007199254740993);
}

}  // namespace
}  // namespace koord::model::fair_share_test
