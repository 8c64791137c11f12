#include "scheduler/scoring/percent.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/random.h"

namespace koord::scheduler::percent_test {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;

std::vector<int32_t> PercentsOf(const std::vector<int64_t>& allocatable,
                                const std::vector<int64_t>& used, int64_t more, Share share) {
  std::vector<int32_t> percents(allocatable.size());
  Percents({.allocatable = allocatable.data(), .used = used.data(), .more = more, .share = share},
           RowRange::First(allocatable.size()), percents.data());
  return percents;
}

TEST(PercentTest, TruncatesAndCapsAtWhatThereIs) {
  const std::vector<int64_t> allocatable = {8000, 8000, 8000, 0, 3, 3};
  const std::vector<int64_t> used = {2500, 7900, 9000, 0, 0, 1};
  EXPECT_EQ(PercentsOf(allocatable, used, 600, Share::kFree),
            (std::vector<int32_t>{61, 0, 0, kNoPercent, 0, 0}));
  EXPECT_EQ(PercentsOf(allocatable, used, 600, Share::kUsed),
            (std::vector<int32_t>{38, 100, 100, kNoPercent, 100, 100}));
  EXPECT_EQ(PercentsOf(allocatable, used, 1, Share::kFree),
            (std::vector<int32_t>{68, 1, 0, kNoPercent, 66, 33}));
}

// What the definition says, with integers wide enough for anything.
int32_t Expected(int64_t allocatable, int64_t used, Share share) {
  if (allocatable == 0) return kNoPercent;
  const __int128 part = used > allocatable      ? (share == Share::kFree ? 0 : allocatable)
                        : share == Share::kFree ? allocatable - used
                                                : used;
  return static_cast<int32_t>(part * 100 / allocatable);
}

TEST(PercentTest, IsExactForAllSizes) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const uint64_t bound = uint64_t{1} << (1 + random.Below(61));
    std::vector<int64_t> allocatable, used;
    for (int i = 0; i < 64; ++i) {
      allocatable.push_back(static_cast<int64_t>(random.Below(bound)));
      // Often right at a whole percent, where a wrong rounding would show.
      const int64_t at = allocatable.back() / 100 * static_cast<int64_t>(random.Below(104));
      used.push_back(std::max<int64_t>(0, at + static_cast<int64_t>(random.Below(3)) - 1));
    }
    const auto more = static_cast<int64_t>(random.Below(3));
    for (const Share share : {Share::kFree, Share::kUsed}) {
      const std::vector<int32_t> percents = PercentsOf(allocatable, used, more, share);
      for (size_t i = 0; i < allocatable.size(); ++i) {
        ASSERT_EQ(percents[i], Expected(allocatable[i], used[i] + more, share))
            << allocatable[i] << " " << used[i] + more;
      }
    }
  }
}

AmountColumns ColumnsOf(const std::vector<int64_t>& allocatable, const std::vector<int64_t>& used) {
  AmountColumns columns;
  columns.Resize(allocatable.size());
  for (NodeRow row{0}; row < allocatable.size(); ++row) {
    columns.Set(row, allocatable[row], 0, used[row]);
  }
  return columns;
}

TEST(PercentTest, PairsAreExactForAllSizes) {
  Random random(8);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> have[2], used[2];
    for (int which : {0, 1}) {
      const uint64_t bound = uint64_t{1} << (1 + random.Below(47));
      for (int i = 0; i < 64; ++i) {
        have[which].push_back(static_cast<int64_t>(1 + random.Below(bound)));
        const __int128 at = static_cast<__int128>(have[which].back()) *
                            static_cast<int64_t>(random.Below(104)) / 100;
        used[which].push_back(std::max<int64_t>(
            0, static_cast<int64_t>(at) + static_cast<int64_t>(random.Below(5)) - 2));
      }
    }
    const AmountColumns amounts[] = {ColumnsOf(have[0], used[0]), ColumnsOf(have[1], used[1])};
    const auto weight = static_cast<int64_t>(1 + random.Below(100));
    const auto more = static_cast<int64_t>(random.Below(3));
    for (const Share share : {Share::kFree, Share::kUsed}) {
      const ShareTerm terms[] = {{.allocatable = have[0].data(),
                                  .used = used[0].data(),
                                  .amounts = &amounts[0],
                                  .more = more,
                                  .share = share,
                                  .weight = 1},
                                 {.allocatable = have[1].data(),
                                  .used = used[1].data(),
                                  .amounts = &amounts[1],
                                  .share = share,
                                  .weight = weight}};
      std::vector<int64_t> scores(64);
      WeightedPercents(terms, Absent::kLeftOut, 0, RowRange::First(64), scores.data());
      for (size_t i = 0; i < scores.size(); ++i) {
        const int64_t a = Expected(have[0][i], used[0][i] + more, share);
        const int64_t b = Expected(have[1][i], used[1][i], share);
        ASSERT_EQ(scores[i], (a + weight * b) / (1 + weight))
            << used[0][i] << "/" << have[0][i] << " " << used[1][i] << "/" << have[1][i];
      }
    }
  }
}

TEST(PercentTest, LargeNumbersOfOneNodeDoNotDisturbTheOthers) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_EQ(PercentsOf({kHuge, 100}, {kHuge / 4, 50}, 1, Share::kFree),
            (std::vector<int32_t>{74, 49}));
}

// The sanitizers see what is done on the way to the result.
TEST(PercentTest, NumbersThatDoublesCannotTellApartAreNoNonsense) {
  for (const int64_t have : {int64_t{1} << 52, (int64_t{1} << 52) + 1, int64_t{1} << 53,
                             int64_t{0x7ff} << 52, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(PercentsOf({have, 100}, {0, 50}, 0, Share::kFree), (std::vector<int32_t>{100, 50}));
    EXPECT_EQ(PercentsOf({have, 100}, {have, 50}, 0, Share::kUsed),
              (std::vector<int32_t>{100, 50}));
    const std::vector<int64_t> allocatable = {have, have}, used = {0, have / 2};
    const AmountColumns amounts = ColumnsOf(allocatable, used);
    const ShareTerm term{
        .allocatable = allocatable.data(), .used = used.data(), .amounts = &amounts};
    const ShareTerm terms[] = {term, term};
    std::vector<int64_t> scores(2);
    WeightedPercents(terms, Absent::kLeftOut, 0, RowRange::First(2), scores.data());
    EXPECT_EQ(scores, (std::vector<int64_t>{100, 50}));
  }
}

struct Weighted {
  std::vector<int64_t> allocatable;  // of one node, by resource
  std::vector<int64_t> used;
  std::vector<int64_t> weights;
  Absent absent;
  int64_t expected;
};

TEST(PercentTest, WeighsResources) {
  const Weighted cases[] = {
      {{100, 200}, {50, 50}, {1, 1}, Absent::kLeftOut, 62},
      {{100, 200}, {50, 50}, {3, 1}, Absent::kLeftOut, 56},
      {{100, 0}, {50, 50}, {1, 1}, Absent::kLeftOut, 50},
      {{100, 0}, {50, 50}, {1, 1}, Absent::kCountsAsZero, 25},
      {{0, 0}, {0, 0}, {1, 1}, Absent::kLeftOut, 7},
      {{0, 0}, {0, 0}, {1, 1}, Absent::kCountsAsZero, 0},
      {{}, {}, {}, Absent::kCountsAsZero, 7},
      {{100, 200}, {50, 50}, {3'000'000, 1'000'000}, Absent::kLeftOut, 56},
      {{100, 0}, {50, 50}, {1'000'000, 1'000'000}, Absent::kCountsAsZero, 25},
      {{100, 200},
       {50, 50},
       {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max()},
       Absent::kLeftOut,
       62},
      {{96 * kGi, 8}, {32 * kGi, 4}, {1, 2}, Absent::kLeftOut, 55},
  };
  for (const Weighted& test : cases) {
    std::vector<ShareTerm> terms;
    for (size_t i = 0; i < test.allocatable.size(); ++i) {
      terms.push_back(
          {.allocatable = &test.allocatable[i], .used = &test.used[i], .weight = test.weights[i]});
    }
    int64_t score = -1;
    WeightedPercents(terms, test.absent, 7, RowRange::First(1), &score);
    EXPECT_EQ(score, test.expected) << "case " << &test - cases;
  }
}

TEST(PercentTest, HandlesMoreRowsThanABlockAndRowsInTheMiddle) {
  const uint32_t rows = 3 * kScoreBlock + 5;
  std::vector<int64_t> allocatable(rows), used(rows), scores(rows, -1);
  for (NodeRow row{0}; row < rows; ++row) {
    allocatable[row] = 100 * (row + 1);
    used[row] = row % 100 * (row + 1);
  }
  const ShareTerm term{.allocatable = allocatable.data(), .used = used.data()};
  WeightedPercents({&term, 1}, Absent::kLeftOut, 0, {NodeRow(3), NodeRow(rows - 1)}, scores.data());
  for (NodeRow row{3}; row < rows - 1; ++row) ASSERT_EQ(scores[row - 3], 100 - row % 100);
  EXPECT_EQ(scores[rows - 4], -1);
}

}  // namespace
}  // namespace koord::scheduler::percent_test
