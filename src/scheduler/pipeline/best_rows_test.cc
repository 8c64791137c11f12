#include "scheduler/pipeline/best_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "scheduler/pipeline/raw_scores.h"

namespace koord::scheduler::best_rows_test {
namespace {

TEST(BestRowsTest, PicksEachOfTheBestWithTheSameChance) {
  BestRows rows;
  rows.Resize(1000);
  Random random(1);
  EXPECT_FALSE(rows.Pick(random).has_value());
  for (const int row : {3, 70, 999}) rows.Set(NodeRow(row), 50);
  rows.Set(NodeRow(500), 49);
  EXPECT_EQ(rows.feasible(), 4U);
  std::map<NodeRow, int> picked;
  for (int i = 0; i < 3000; ++i) ++picked[rows.Pick(random)->row];
  EXPECT_EQ(picked.size(), 3U);
  for (const auto& [row, times] : picked) EXPECT_NEAR(times, 1000, 150) << row;
  EXPECT_EQ(rows.Pick(random)->ties, 3U);
}

TEST(BestRowsTest, AgreesWithAPlainSearchAfterAnyChange) {
  Random random(7);
  BestRows rows;
  rows.Resize(300);
  std::vector<int64_t> plain(300, BestRows::kInfeasible);
  for (int step = 0; step < 5000; ++step) {
    const auto row = static_cast<NodeRow>(random.Below(plain.size()));
    plain[row] =
        random.Chance(0.5) ? BestRows::kInfeasible : static_cast<int64_t>(random.Below(20));
    rows.Set(row, plain[row]);
    const int64_t best = *std::ranges::max_element(plain);
    const auto picked = rows.Pick(random);
    ASSERT_EQ(picked.has_value(), best != BestRows::kInfeasible);
    if (!picked) continue;
    ASSERT_EQ(picked->total, best);
    ASSERT_EQ(plain[picked->row], best);
    ASSERT_EQ(picked->ties, static_cast<size_t>(std::ranges::count(plain, best)));
  }
}

TEST(BestRowsTest, SetsAllAtOnce) {
  Random random(3);
  BestRows rows;
  rows.Resize(300);
  std::vector<int64_t> scores(300);
  std::vector<uint8_t> feasible(300);
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = static_cast<int64_t>(random.Below(20));
    feasible[i] = random.Chance(0.5) ? 1 : 0;
  }
  const auto expect_totals = [&](int64_t more) {
    std::vector<int64_t> totals;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (feasible[i]) totals.push_back(scores[i] + more);
      EXPECT_EQ(rows.At(static_cast<NodeRow>(i)),
                feasible[i] ? scores[i] + more : BestRows::kInfeasible);
    }
    EXPECT_EQ(rows.feasible(), totals.size());
    const auto picked = rows.Pick(random);
    const int64_t best = std::ranges::max(totals);
    ASSERT_TRUE(picked.has_value());
    EXPECT_EQ(picked->total, best);
    EXPECT_EQ(picked->ties, static_cast<size_t>(std::ranges::count(totals, best)));
  };
  rows.SetAll(scores.data(), 7, feasible.data());
  expect_totals(7);
  std::ranges::copy(scores, rows.data());
  rows.SetAll(rows.data(), -3, feasible.data());
  expect_totals(-3);
}

TEST(BestRowsTest, ListsTheBestInOrder) {
  BestRows rows;
  rows.Resize(5);
  rows.Set(NodeRow(0), 1);
  rows.Set(NodeRow(2), 9);
  rows.Set(NodeRow(4), 9);
  EXPECT_EQ(rows.Top(2), (std::vector{NodeRow(2), NodeRow(4)}));
  EXPECT_EQ(rows.Top(9), (std::vector{NodeRow(2), NodeRow(4), NodeRow(0)}));
}

TEST(RawScoresTest, KnowsTheRangeOfTheRowsThatCount) {
  RawScores scores;
  scores.Resize(4);
  const int64_t raw[] = {5, 1, 9, 5};
  std::copy_n(raw, 4, scores.data());
  const uint8_t feasible[] = {1, 0, 1, 1};
  scores.CountAll(feasible, {5, 9});
  EXPECT_EQ(scores.range(), (ScoreRange{5, 9}));
  EXPECT_FALSE(scores.uniform());
  scores.Uncount(NodeRow(2));
  EXPECT_EQ(scores.range(), (ScoreRange{5, 5}));
  EXPECT_TRUE(scores.uniform());
  scores.Count(NodeRow(1));
  EXPECT_EQ(scores.range(), (ScoreRange{1, 5}));
  scores.Uncount(NodeRow(0));
  scores.Uncount(NodeRow(1));
  scores.Uncount(NodeRow(3));
  EXPECT_EQ(scores.range(), (ScoreRange{}));
}

}  // namespace
}  // namespace koord::scheduler::best_rows_test
