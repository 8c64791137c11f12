#include "scheduler/scoring/normalize.h"

#include <gtest/gtest.h>

#include <vector>

namespace koord::scheduler::normalize_test {
namespace {

using Scores = std::vector<int64_t>;

Scores ByMax(int64_t max, Scores scores) {
  NormalizeByMax(max, scores);
  return scores;
}

Scores Reversed(int64_t max, Scores scores) {
  NormalizeByMaxReversed(max, scores);
  return scores;
}

TEST(NormalizeTest, KeepsProportions) {
  EXPECT_EQ(ByMax(3, {0, 1, 2, 3}), (Scores{0, 33, 66, 100}));
  EXPECT_EQ(ByMax(0, {0, 0}), (Scores{0, 0}));
  EXPECT_EQ(ByMax(200, {199, 200, 1}), (Scores{99, 100, 0}));
}

TEST(NormalizeTest, TurnsCountsOfWhatIsBadAround) {
  EXPECT_EQ(Reversed(2, {0, 1, 2}), (Scores{100, 50, 0}));
  EXPECT_EQ(Reversed(3, {0, 1, 2}), (Scores{100, 67, 34}));
  EXPECT_EQ(Reversed(0, {0, 0, 0}), (Scores{100, 100, 100}));
}

TEST(NormalizeTest, IsExactForLargeScores) {
  constexpr int64_t kLarge = 1'000'000'000'000'000'000;
  EXPECT_EQ(ByMax(kLarge, {kLarge, kLarge / 100, kLarge / 100 - 1}), (Scores{100, 1, 0}));
  EXPECT_EQ(Reversed(kLarge, {kLarge, kLarge / 100 - 1}), (Scores{0, 100}));
}

TEST(NormalizeTest, IsExactForAllSmallScores) {
  for (const int64_t max : {1, 7, 99, 100, 101, 1000, 131071}) {
    Scores scores;
    for (int64_t score = 0; score <= max; score += 1 + max / 500) scores.push_back(score);
    const Scores normalized = ByMax(max, scores);
    for (size_t i = 0; i < scores.size(); ++i) {
      ASSERT_EQ(normalized[i], 100 * scores[i] / max) << scores[i] << " of " << max;
    }
  }
}

}  // namespace
}  // namespace koord::scheduler::normalize_test
