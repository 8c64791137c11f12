#include "model/numa/numa_hints.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "model/numa/numa_shares.h"

namespace koord::model::numa_hints_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr NumaMask kTwo{0, 1};

NumaHint Preferred(NumaMask mask, int64_t score = 0) {
  return {.mask = mask, .preferred = true, .score = score};
}
NumaHint Other(NumaMask mask, int64_t score = 0) { return {.mask = mask, .score = score}; }

NumaDecision Decide(NumaPolicy policy, NumaMask all, std::vector<ProviderHints> providers,
                    const NumaExclusivity& exclusivity = {}) {
  return MergeHints(policy, all, providers, exclusivity);
}

TEST(NumaMask, ReadsAsUsersKnowIt) {
  EXPECT_EQ(NumaMask({0}).ToString(), "01");
  EXPECT_EQ(NumaMask({1}).ToString(), "10");
  EXPECT_EQ(NumaMask({0, 1}).ToString(), "11");
  EXPECT_EQ(NumaMask({0, 2}).ToString(), "0101");
  EXPECT_EQ(NumaMask({3}).ToString(), "1000");
  EXPECT_EQ(NumaMask({2}).ToString(), "100") << "the lone even node is not padded";
  EXPECT_EQ(NumaMask({4}).ToString(), "10000");
  EXPECT_EQ(NumaMask({6}).ToString(), "1000000");
}

TEST(NumaMask, SetsOfNodesComeBySizeAndThenByNodes) {
  std::vector<std::string> texts;
  for (const NumaMask mask : MasksOf({0, 2, 3})) texts.push_back(mask.ToString());
  EXPECT_THAT(texts, ElementsAre("01", "100", "1000", "0101", "1001", "1100", "1101"));
  EXPECT_THAT(MasksOf({}), IsEmpty());
  NumaMask many;
  for (int32_t node = 0; node < 20; ++node) many.Add(node);
  EXPECT_EQ(MasksOf(many).size(), 21u) << "single ones and all";
}

TEST(MergeHints, Vector17TheBestScoreAmongPreferred) {
  const ProviderHints gpu{{"gpu", {Preferred({0}, 500), Preferred({1}), Other(kTwo)}}};
  const ProviderHints cpu{{"cpu", {Preferred({0}, 20), Preferred({1}, 60), Other(kTwo)}}};
  for (const NumaPolicy policy :
       {NumaPolicy::kBestEffort, NumaPolicy::kRestricted, NumaPolicy::kSingleNumaNode}) {
    const NumaDecision decision = Decide(policy, kTwo, {gpu, cpu});
    EXPECT_TRUE(decision.admitted);
    EXPECT_EQ(decision.best, Preferred({0}, 520));
  }
  const ProviderHints only_one{{"cpu", {Preferred({1}, 60)}}};
  EXPECT_EQ(Decide(NumaPolicy::kRestricted, kTwo, {gpu, only_one}).best, Preferred({1}, 60));
}

TEST(MergeHints, Vector17WhatCannotBeAlignedIsRejected) {
  const ProviderHints gpu{{"gpu", {Preferred({0})}}};
  const ProviderHints cpu{{"cpu", {Preferred({1})}}};
  const NumaDecision restricted = Decide(NumaPolicy::kRestricted, kTwo, {gpu, cpu});
  EXPECT_FALSE(restricted.admitted);
  EXPECT_THAT(restricted.reasons, ElementsAre("Unaligned NUMA Hint cause cpu prefer [10] among "
                                              "[10] & gpu prefer [01] among [01]"));
  const NumaDecision single = Decide(NumaPolicy::kSingleNumaNode, kTwo, {gpu, cpu});
  EXPECT_THAT(single.reasons, ElementsAre("Unaligned NUMA Hint cause cpu prefer [10] among "
                                          "[10],gpu prefer [01] among [01]"));
  const NumaDecision best_effort = Decide(NumaPolicy::kBestEffort, kTwo, {gpu, cpu});
  EXPECT_TRUE(best_effort.admitted);
  EXPECT_EQ(best_effort.best, Other(kTwo));
}

TEST(MergeHints, AResourceFromNowhereIsRejected) {
  const ProviderHints cpu{{"cpu", {}}, {"memory", {Preferred({0})}}};
  for (const NumaPolicy policy : {NumaPolicy::kRestricted, NumaPolicy::kSingleNumaNode}) {
    const NumaDecision decision = Decide(policy, kTwo, {cpu});
    EXPECT_FALSE(decision.admitted);
    EXPECT_THAT(decision.reasons, ElementsAre("Unsatisfied NUMA cpu"));
  }
  const NumaDecision best_effort = Decide(NumaPolicy::kBestEffort, kTwo, {cpu});
  EXPECT_TRUE(best_effort.admitted);
  EXPECT_EQ(best_effort.best, Other(kTwo)) << "is not aligned";
}

TEST(MergeHints, AProviderThatDoesNotCareChangesNothing) {
  const ProviderHints cpu{{"cpu", {Preferred({1}, 7), Other(kTwo)}}};
  EXPECT_EQ(Decide(NumaPolicy::kSingleNumaNode, kTwo, {cpu, {}}).best, Preferred({1}, 7));
  EXPECT_TRUE(Decide(NumaPolicy::kSingleNumaNode, kTwo, {{}, {}}).admitted);
}

TEST(MergeHints, SpanningNodesIsNotEnoughForASingleNode) {
  const ProviderHints cpu{{"cpu", {Preferred(kTwo, 3)}}};
  EXPECT_FALSE(Decide(NumaPolicy::kSingleNumaNode, kTwo, {cpu}).admitted);
  EXPECT_EQ(Decide(NumaPolicy::kRestricted, kTwo, {cpu}).best, Preferred(kTwo, 3));
}

TEST(MergeHints, OnAMachineWithOneNodeThereIsNothingToAlign) {
  const ProviderHints cpu{{"cpu", {Preferred({0}, 3)}}};
  const NumaDecision decision = Decide(NumaPolicy::kSingleNumaNode, {0}, {cpu});
  EXPECT_TRUE(decision.admitted);
  EXPECT_EQ(decision.best.mask, std::nullopt);
}

TEST(MergeHints, PreferredAreTheNarrowestUnlessThePolicyRejectsTheOthers) {
  std::vector<NumaHint> hints{Other({1}), Other(kTwo)};
  MarkPreferred(hints, NumaPolicy::kSingleNumaNode);
  EXPECT_THAT(hints, ElementsAre(Preferred({1}), Other(kTwo)));
  MarkPreferred(hints, NumaPolicy::kRestricted);
  EXPECT_THAT(hints, ElementsAre(Preferred({1}), Preferred(kTwo)));
}

TEST(NumaExclusivity, Vector18) {
  const NumaExclusivity shared_single{.required = true, .single = {1}, .shared = {0}};
  EXPECT_FALSE(shared_single.Allows(NumaMask{0}));
  EXPECT_TRUE(shared_single.Allows(NumaMask{1}));
  EXPECT_FALSE(shared_single.Allows(kTwo));
  const NumaExclusivity shared_idle{.required = true, .single = {}, .shared = {0}};
  EXPECT_TRUE(shared_idle.Allows(kTwo));
  EXPECT_FALSE(shared_idle.Allows(NumaMask{0}));
  EXPECT_FALSE(shared_idle.Allows(std::nullopt));
  const NumaExclusivity preferred{.required = false, .single = {1}, .shared = {0}};
  for (const NumaMask mask : MasksOf(kTwo)) EXPECT_TRUE(preferred.Allows(mask));
}

TEST(NumaExclusivity, AHintThatIsNotAllowedIsNotPreferred) {
  const ProviderHints cpu{{"cpu", {Preferred({0}, 9), Preferred({1}, 1)}}};
  const NumaExclusivity exclusivity{.required = true, .single = {}, .shared = {0}};
  EXPECT_EQ(Decide(NumaPolicy::kSingleNumaNode, kTwo, {cpu}, exclusivity).best, Preferred({1}, 1));
}

// The merge by all combinations in nested loops, as it is defined.
NumaHint BestOfAll(NumaMask all, const std::vector<ProviderHints>& providers) {
  std::vector<const ResourceHints*> lists;
  for (const ProviderHints& provider : providers) {
    for (const ResourceHints& each : provider) lists.push_back(&each);
  }
  NumaHint best{.mask = all};
  std::vector<size_t> at(lists.size(), 0);
  while (true) {
    NumaMask mask = all;
    bool preferred = true, unsatisfied = false;
    int largest = 0;
    for (size_t i = 0; i < lists.size(); ++i) {
      const NumaHint& hint = lists[i]->hints[at[i]];
      mask = mask & *hint.mask;
      preferred = preferred && hint.preferred && hint.mask == lists[0]->hints[at[0]].mask;
      largest = std::max(largest, hint.mask->size());
    }
    unsatisfied = largest != mask.size();
    int64_t score = 0;
    for (size_t i = 0; i < lists.size(); ++i) {
      const NumaHint& hint = lists[i]->hints[at[i]];
      if (*hint.mask == mask) score += hint.score;
    }
    const NumaHint merged{mask, preferred, unsatisfied, score};
    const bool better = preferred != best.preferred
                            ? preferred
                            : mask.IsNarrowerThan(*best.mask) ||
                                  (mask.size() == best.mask->size() && score > best.score);
    if (!mask.empty() && better) best = merged;
    size_t i = lists.size();
    while (i > 0 && ++at[i - 1] == lists[i - 1]->hints.size()) at[--i] = 0;
    if (i == 0) return best;
  }
}

TEST(MergeHints, ShortCutsGiveWhatNestedLoopsGive) {
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    NumaMask all;
    for (int32_t node = 0; node < 1 + static_cast<int32_t>(random.Below(3)); ++node) all.Add(node);
    std::vector<ProviderHints> providers;
    for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
      ResourceHints each{fmt::format("r{}", n), {}};
      for (const NumaMask mask : MasksOf(all)) {
        if (random.Chance(0.3)) continue;
        each.hints.push_back(
            {mask, random.Chance(0.4), false, static_cast<int64_t>(random.Below(5))});
      }
      if (each.hints.empty()) each.hints.push_back(Other(all));
      providers.push_back({each});
    }
    const NumaHint best = BestOfAll(all, providers);
    const NumaDecision restricted = Decide(NumaPolicy::kRestricted, all, providers);
    ASSERT_EQ(restricted.admitted, best.preferred) << i;
    if (best.preferred) {
      ASSERT_EQ(restricted.best, best) << i;
    }
    ASSERT_EQ(Decide(NumaPolicy::kBestEffort, all, providers).best,
              best.unsatisfied ? Other(all) : best)
        << i;
  }
}

TEST(DivideAmongNodes, GivesLaterNodesWhatEarlierOnesLack) {
  const auto divide = [](int64_t amount, int64_t unit, std::vector<int64_t> available) {
    std::vector<int64_t> shares(available.size());
    const int64_t left = DivideAmongNodes(amount, unit, available, shares);
    return std::pair(shares, left);
  };
  using Shares = std::vector<int64_t>;
  EXPECT_EQ(divide(8, 2, {4, 4}), std::pair(Shares({4, 4}), int64_t{0})) << "vector 9";
  EXPECT_EQ(divide(4, 1, {4, 1}), std::pair(Shares({3, 1}), int64_t{0})) << "vector 10";
  EXPECT_EQ(divide(7, 1, {10, 10, 10}), std::pair(Shares({2, 2, 3}), int64_t{0}));
  EXPECT_EQ(divide(6, 2, {10, 10}), std::pair(Shares({2, 4}), int64_t{0})) << "whole cores";
  EXPECT_EQ(divide(9, 1, {2, 3}), std::pair(Shares({2, 3}), int64_t{4}));
  EXPECT_EQ(divide(9, 1, {-2, 3}), std::pair(Shares({0, 3}), int64_t{6}));
}

}  // namespace
}  // namespace koord::model::numa_hints_test
