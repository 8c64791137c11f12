#include "scheduler/scoring/percent.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/hot.h"
#include "scheduler/scoring/to_double.h"

namespace koord::scheduler {
namespace {

// A quotient of at most 100 differs from the next integer by at least 1/divisor, so below these
// bounds the division of floating-point numbers truncates to the exact result.
constexpr int64_t kExactInDouble = int64_t{1} << 46;
constexpr int64_t kExactInFloat = int64_t{1} << 17;

// The bits of all divisors together are returned: what is not below kExactInDouble was not exact.
template <Share kShare>
[[gnu::always_inline]] inline int64_t PercentLoop(const int64_t* allocatable, const int64_t* used,
                                                  int64_t more, size_t n, int32_t* percents) {
  int64_t bits = 0;
  for (size_t i = 0; i < n; ++i) {
    const int64_t have = allocatable[i];
    const int64_t use = used[i] + more;
    const int64_t part = kShare == Share::kFree ? have - use : use < have ? use : have;
    const double quotient = ToDouble(part > 0 ? part : 0) * 100 / ToDouble(have > 0 ? have : 1);
    // Where there is nothing the quotient is 0. Not a choice between the two: what might raise a
    // signal, as casts do, is not done for some lanes only.
    percents[i] = static_cast<int32_t>(quotient) + (have > 0 ? 0 : kNoPercent);
    bits |= have;
  }
  return bits;
}

KOORD_HOT int64_t FreePercents(const int64_t* allocatable, const int64_t* used, int64_t more,
                               size_t n, int32_t* percents) {
  return PercentLoop<Share::kFree>(allocatable, used, more, n, percents);
}

KOORD_HOT int64_t UsedPercents(const int64_t* allocatable, const int64_t* used, int64_t more,
                               size_t n, int32_t* percents) {
  return PercentLoop<Share::kUsed>(allocatable, used, more, n, percents);
}

void PercentsOfLargeNumbers(const ShareTerm& term, RowRange rows, int32_t* percents) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t have = term.allocatable[rows.begin + i];
    const int64_t use = term.used[rows.begin + i] + term.more;
    const int64_t used = std::clamp<int64_t>(use, 0, std::max<int64_t>(have, 0));
    const __int128 part = term.share == Share::kFree ? have - used : used;
    percents[i] = have > 0 ? static_cast<int32_t>(part * 100 / have) : kNoPercent;
  }
}

KOORD_HOT void Accumulate(const int32_t* percents, int32_t weight, int32_t absent_weight, size_t n,
                          int32_t* sums, int32_t* weights) {
  for (size_t i = 0; i < n; ++i) {
    const bool present = percents[i] >= 0;
    sums[i] += present ? percents[i] * weight : 0;
    weights[i] += present ? weight : absent_weight;
  }
}

KOORD_HOT void DivideLoop(const int32_t* sums, const int32_t* weights, int64_t if_none, size_t n,
                          int64_t* scores) {
  const auto none = static_cast<int32_t>(if_none);
  for (size_t i = 0; i < n; ++i) {
    const int32_t weight = weights[i];
    const auto divisor = static_cast<float>(weight > 0 ? weight : 1);
    const auto quotient = static_cast<int32_t>(static_cast<float>(sums[i]) / divisor);
    scores[i] = quotient + (weight > 0 ? 0 : none);
  }
}

// Both resources of a pair at once, the usual case: if every row has both, and if dividing by their
// weights is multiplying by a power of two. Returns the bits of all divisors together (see
// PercentLoop); negative where a row lacks one of them.
template <Share kShare>
[[gnu::always_inline]] inline int64_t PairLoop(const ShareTerm& a, const ShareTerm& b, size_t begin,
                                               size_t n, int64_t* scores) {
  const int64_t* have_a = a.allocatable + begin;
  const int64_t* have_b = b.allocatable + begin;
  const int64_t* used_a = a.used + begin;
  const int64_t* used_b = b.used + begin;
  const auto weight_a = static_cast<double>(a.weight);
  const auto weight_b = static_cast<double>(b.weight);
  const double share_of_one = 1 / (weight_a + weight_b);
  const auto percent = [](int64_t have, int64_t use) __attribute__((always_inline)) {
    const int64_t part = kShare == Share::kFree ? have - use : use < have ? use : have;
    return static_cast<double>(
        static_cast<int32_t>(ToDouble(part > 0 ? part : 0) * 100 / ToDouble(have > 0 ? have : 1)));
  };
  int64_t bits = 0;
  for (size_t i = 0; i < n; ++i) {
    const double sum = percent(have_a[i], used_a[i] + a.more) * weight_a +
                       percent(have_b[i], used_b[i] + b.more) * weight_b;
    scores[i] = static_cast<int32_t>(sum * share_of_one);
    bits |= have_a[i] | have_b[i] | (have_a[i] - 1) | (have_b[i] - 1);
  }
  return bits;
}

KOORD_HOT int64_t FreePairs(const ShareTerm& a, const ShareTerm& b, size_t begin, size_t n,
                            int64_t* scores) {
  return PairLoop<Share::kFree>(a, b, begin, n, scores);
}

KOORD_HOT int64_t UsedPairs(const ShareTerm& a, const ShareTerm& b, size_t begin, size_t n,
                            int64_t* scores) {
  return PairLoop<Share::kUsed>(a, b, begin, n, scores);
}

// False if the block must be done in the general way.
bool ScorePairs(std::span<const ShareTerm> terms, RowRange block, int64_t* scores) {
  if (terms.size() != 2 || terms[0].share != terms[1].share ||
      !std::has_single_bit(static_cast<uint64_t>(terms[0].weight + terms[1].weight))) {
    return false;
  }
  auto* const pass = terms[0].share == Share::kFree ? FreePairs : UsedPairs;
  const int64_t bits = pass(terms[0], terms[1], block.begin, block.size(), scores);
  return bits >= 0 && bits < kExactInDouble;
}

// Weights beyond what configurations may say.
void WeightedPercentsOfLargeWeights(std::span<const ShareTerm> terms, Absent absent,
                                    int64_t if_none, RowRange rows, int64_t* scores) {
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    __int128 sum = 0;
    __int128 weights = 0;
    for (const ShareTerm& term : terms) {
      int32_t percent = 0;
      Percents(term, {row, row + 1}, &percent);
      if (percent == kNoPercent && absent == Absent::kLeftOut) continue;
      sum += static_cast<__int128>(std::max(percent, 0)) * term.weight;
      weights += term.weight;
    }
    scores[row - rows.begin] = weights > 0 ? static_cast<int64_t>(sum / weights) : if_none;
  }
}

}  // namespace

const int64_t* UsedForScoring(const NodeTable& nodes, ResourceId id) {
  if (id == kCpuId) return nodes.non_zero_cpu();
  return id == kMemoryId ? nodes.non_zero_memory() : nodes.requested(id);
}

void Percents(const ShareTerm& term, RowRange rows, int32_t* percents) {
  auto* const pass = term.share == Share::kFree ? FreePercents : UsedPercents;
  const int64_t bits =
      pass(term.allocatable + rows.begin, term.used + rows.begin, term.more, rows.size(), percents);
  if (bits < 0 || bits >= kExactInDouble) PercentsOfLargeNumbers(term, rows, percents);
}

void Means(const int32_t* sums, const int32_t* weights, int64_t if_none, size_t n, int64_t* means) {
  DivideLoop(sums, weights, if_none, n, means);
}

void WeightedPercents(std::span<const ShareTerm> terms, Absent absent, int64_t if_none,
                      RowRange rows, int64_t* scores) {
  __int128 total = 0;
  for (const ShareTerm& term : terms) total += term.weight;
  if (total >= kExactInFloat) {
    WeightedPercentsOfLargeWeights(terms, absent, if_none, rows, scores);
    return;
  }
  std::array<int32_t, kScoreBlock> percents, sums, weights;
  ForEachBlock(rows, [&](RowRange block) {
    if (ScorePairs(terms, block, scores + (block.begin - rows.begin))) return;
    const size_t n = block.size();
    std::fill_n(sums.begin(), n, 0);
    std::fill_n(weights.begin(), n, 0);
    for (const ShareTerm& term : terms) {
      Percents(term, block, percents.data());
      const auto weight = static_cast<int32_t>(term.weight);
      Accumulate(percents.data(), weight, absent == Absent::kLeftOut ? 0 : weight, n, sums.data(),
                 weights.data());
    }
    Means(sums.data(), weights.data(), if_none, n, scores + (block.begin - rows.begin));
  });
}

}  // namespace koord::scheduler
