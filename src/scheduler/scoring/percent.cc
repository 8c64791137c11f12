#include "scheduler/scoring/percent.h"

#include <algorithm>
#include <array>

#include "base/hot.h"
#include "scheduler/scoring/to_double.h"

namespace koord::scheduler {
namespace {

// A quotient of at most 100 differs from the next integer by at least 1/divisor, so below these
// bounds the division of floating-point numbers truncates to the exact result.
constexpr int64_t kExactInDouble = int64_t{1} << 46;
constexpr int64_t kExactInFloat = int64_t{1} << 17;

// 100 * part / have, truncated, of numbers below kExactInDouble and parts of at most the whole.
[[gnu::always_inline]] inline int32_t WholePercent(int64_t part, int64_t have) {
  return static_cast<int32_t>(ToDouble(part > 0 ? part : 0) * 100 / ToDouble(have > 0 ? have : 1));
}

// The bits of all together. Looked at before the divisions and not among them: what is too large
// for ToDouble becomes nonsense, be it infinite or not a number, and must not be cast.
KOORD_HOT int64_t BitsOf(const int64_t* amounts, size_t n) {
  int64_t bits = 0;
  for (size_t i = 0; i < n; ++i) bits |= amounts[i];
  return bits;
}

bool AreExact(int64_t bits) { return bits >= 0 && bits < kExactInDouble; }

template <Share kShare>
[[gnu::always_inline]] inline void PercentLoop(const int64_t* allocatable, const int64_t* used,
                                               int64_t more, size_t n, int32_t* percents) {
  for (size_t i = 0; i < n; ++i) {
    const int64_t have = allocatable[i];
    const int64_t use = used[i] + more;
    const int64_t part = kShare == Share::kFree ? have - use : use < have ? use : have;
    // Where there is nothing the quotient is 0. Not a choice between the two: what might raise a
    // signal, as casts do, is not done for some lanes only.
    percents[i] = WholePercent(part, have) + (have > 0 ? 0 : kNoPercent);
  }
}

KOORD_HOT void FreePercents(const int64_t* allocatable, const int64_t* used, int64_t more, size_t n,
                            int32_t* percents) {
  PercentLoop<Share::kFree>(allocatable, used, more, n, percents);
}

KOORD_HOT void UsedPercents(const int64_t* allocatable, const int64_t* used, int64_t more, size_t n,
                            int32_t* percents) {
  PercentLoop<Share::kUsed>(allocatable, used, more, n, percents);
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

// trunc(100 * part / allocatable) for whole parts, without dividing; what is negative counts 0.
//
// 100 * part / allocatable is a whole number or at least 1/allocatable away from the next one. Half
// of that more is never one, and below AmountColumns::kLimit farther from it than the product is
// off in its last bits.
[[gnu::always_inline]] inline double WholePercentOf(double part, double percent_per_unit) {
  constexpr double kHalfOfTheLeast = 0.005;
  // Added and taken away again it leaves the nearest whole number, in a way that compiles to
  // vectors.
  constexpr double kToWhole = 0x1.8p52;
  const double percent = (part + kHalfOfTheLeast) * percent_per_unit;
  const double whole = (percent - 0.5 + kToWhole) - kToWhole;
  return whole > 0 ? whole : 0;
}

// Both resources of a pair at once, the usual case, where every row has both.
template <Share kShare>
[[gnu::always_inline]] inline void PairLoop(const ShareTerm& a, const ShareTerm& b, size_t begin,
                                            size_t n, int64_t* scores) {
  const double* have_a = a.amounts->allocatable() + begin;
  const double* have_b = b.amounts->allocatable() + begin;
  const double* used_a = a.amounts->used() + begin;
  const double* used_b = b.amounts->used() + begin;
  const double* percent_a = a.amounts->percent_per_unit() + begin;
  const double* percent_b = b.amounts->percent_per_unit() + begin;
  const auto more_a = static_cast<double>(a.more);
  const auto more_b = static_cast<double>(b.more);
  const auto weight_a = static_cast<double>(a.weight);
  const auto weight_b = static_cast<double>(b.weight);
  const double share_of_one = 1 / (weight_a + weight_b);
  const auto part_of = [](double have, double use) __attribute__((always_inline)) {
    return kShare == Share::kFree ? have - use : use < have ? use : have;
  };
  for (size_t i = 0; i < n; ++i) {
    const double whole_a = WholePercentOf(part_of(have_a[i], used_a[i] + more_a), percent_a[i]);
    const double whole_b = WholePercentOf(part_of(have_b[i], used_b[i] + more_b), percent_b[i]);
    const double sum = whole_a * weight_a + whole_b * weight_b;
    scores[i] = static_cast<int32_t>((sum + 0.5) * share_of_one);  // as above: truncated
  }
}

KOORD_HOT void FreePairs(const ShareTerm& a, const ShareTerm& b, size_t begin, size_t n,
                         int64_t* scores) {
  PairLoop<Share::kFree>(a, b, begin, n, scores);
}

KOORD_HOT void UsedPairs(const ShareTerm& a, const ShareTerm& b, size_t begin, size_t n,
                         int64_t* scores) {
  PairLoop<Share::kUsed>(a, b, begin, n, scores);
}

// False if the block must be done in the general way.
bool ScorePairs(std::span<const ShareTerm> terms, RowRange block, int64_t* scores) {
  const auto is_quick = [&](const ShareTerm& term) {
    return term.weight > 0 && term.more >= 0 && term.amounts != nullptr &&
           !term.amounts->HasOdd(block);
  };
  if (terms.size() != 2 || terms[0].share != terms[1].share ||
      !std::ranges::all_of(terms, is_quick)) {
    return false;
  }
  auto* const pass = terms[0].share == Share::kFree ? FreePairs : UsedPairs;
  pass(terms[0], terms[1], block.begin, block.size(), scores);
  return true;
}

// Weights beyond what configurations may say.
void WeightedPercentsOfLargeWeights(std::span<const ShareTerm> terms, Absent absent,
                                    int64_t if_none, RowRange rows, int64_t* scores) {
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    __int128 sum = 0;
    __int128 weights = 0;
    for (const ShareTerm& term : terms) {
      int32_t percent = 0;
      Percents(term, RowRange::Only(row), &percent);
      if (percent == kNoPercent && absent == Absent::kLeftOut) continue;
      sum += static_cast<__int128>(std::max(percent, 0)) * term.weight;
      weights += term.weight;
    }
    scores[row - rows.begin] = weights > 0 ? static_cast<int64_t>(sum / weights) : if_none;
  }
}

// Apart, since compilers may be told to clear arrays on the stack: for one row of a pair that would
// be most of the work.
[[gnu::noinline]] void ScoreAny(std::span<const ShareTerm> terms, Absent absent, int64_t if_none,
                                RowRange block, int64_t* scores) {
  std::array<int32_t, kScoreBlock> percents, sums, weights;
  const size_t n = block.size();
  std::fill_n(sums.begin(), n, 0);
  std::fill_n(weights.begin(), n, 0);
  for (const ShareTerm& term : terms) {
    Percents(term, block, percents.data());
    const auto weight = static_cast<int32_t>(term.weight);
    Accumulate(percents.data(), weight, absent == Absent::kLeftOut ? 0 : weight, n, sums.data(),
               weights.data());
  }
  Means(sums.data(), weights.data(), if_none, n, scores);
}

}  // namespace

ShareTerm TermOf(const NodeTable& nodes, ResourceId id, int64_t more, Share share, int64_t weight) {
  return {.allocatable = nodes.allocatable(id),
          .used = nodes.non_zero_requested(id),
          .amounts = nodes.amounts(id),
          .more = more,
          .share = share,
          .weight = weight};
}

void OneRowTerms::Add(int64_t allocatable, int64_t used, int64_t more, Share share,
                      int64_t weight) {
  const Amounts& amounts = amounts_.emplace_back(Amounts{allocatable, used});
  terms_.push_back({.allocatable = &amounts.allocatable,
                    .used = &amounts.used,
                    .more = more,
                    .share = share,
                    .weight = weight});
}

void Percents(const ShareTerm& term, RowRange rows, int32_t* percents) {
  const int64_t* const have = term.allocatable + rows.begin;
  if (!AreExact(BitsOf(have, rows.size()))) return PercentsOfLargeNumbers(term, rows, percents);
  auto* const pass = term.share == Share::kFree ? FreePercents : UsedPercents;
  pass(have, term.used + rows.begin, term.more, rows.size(), percents);
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
  ForEachBlock(rows, [&](RowRange block) {
    int64_t* const block_scores = scores + (block.begin - rows.begin);
    if (!ScorePairs(terms, block, block_scores)) {
      ScoreAny(terms, absent, if_none, block, block_scores);
    }
  });
}

}  // namespace koord::scheduler
