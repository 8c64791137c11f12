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
           {0, static_cast<NodeRow>(allocatable.size())}, percents.data());
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

TEST(PercentTest, LargeNumbersOfOneNodeDoNotDisturbTheOthers) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_EQ(PercentsOf({kHuge, 100}, {kHuge / 4, 50}, 1, Share::kFree),
            (std::vector<int32_t>{74, 49}));
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
    WeightedPercents(terms, test.absent, 7, {0, 1}, &score);
    EXPECT_EQ(score, test.expected) << "case " << &test - cases;
  }
}

TEST(PercentTest, HandlesMoreRowsThanABlockAndRowsInTheMiddle) {
  const NodeRow rows = 3 * kScoreBlock + 5;
  std::vector<int64_t> allocatable(rows), used(rows), scores(rows, -1);
  for (NodeRow row = 0; row < rows; ++row) {
    allocatable[row] = 100 * (row + 1);
    used[row] = row % 100 * (row + 1);
  }
  const ShareTerm term{.allocatable = allocatable.data(), .used = used.data()};
  WeightedPercents({&term, 1}, Absent::kLeftOut, 0, {3, rows - 1}, scores.data());
  for (NodeRow row = 3; row < rows - 1; ++row) ASSERT_EQ(scores[row - 3], 100 - row % 100);
  EXPECT_EQ(scores[rows - 4], -1);
}

}  // namespace
}  // namespace koord::scheduler::percent_test
