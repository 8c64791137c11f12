#include "scheduler/pipeline/best_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

struct BlockSummary {
  int64_t best;
  uint32_t ties;
};

constexpr size_t kRowsOfBlock = 64;  // known when compiled: whole vectors, no remainder

KOORD_HOT BlockSummary SummaryOf(const int64_t* totals) {
  int64_t best = BestRows::kInfeasible;
  for (size_t i = 0; i < kRowsOfBlock; ++i) best = totals[i] > best ? totals[i] : best;
  uint64_t ties = 0;
  for (size_t i = 0; i < kRowsOfBlock; ++i) ties += totals[i] == best ? 1 : 0;
  return {best, static_cast<uint32_t>(ties)};
}

// How many are feasible.
[[gnu::always_inline]] inline size_t FillLoop(const int64_t* scores, int64_t more,
                                              const uint8_t* feasible, size_t n, int64_t* totals) {
  uint64_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    totals[i] = feasible[i] ? scores[i] + more : BestRows::kInfeasible;
    count += feasible[i];
  }
  return count;
}

KOORD_HOT size_t Fill(const int64_t* scores, int64_t more, const uint8_t* feasible, size_t n,
                      int64_t* __restrict totals) {
  return FillLoop(scores, more, feasible, n, totals);
}

// Compiled apart: a loop that may or may not write where it reads does not become vectors.
KOORD_HOT size_t FillInPlace(int64_t more, const uint8_t* feasible, size_t n,
                             int64_t* __restrict totals) {
  return FillLoop(totals, more, feasible, n, totals);
}

}  // namespace

void BestRows::Resize(size_t rows) {
  rows_ = rows;
  const size_t blocks = (rows + kBlock - 1) / kBlock;
  totals_.resize(blocks * kBlock, kInfeasible);
  std::fill(totals_.begin() + static_cast<ptrdiff_t>(rows), totals_.end(), kInfeasible);
  best_.resize(blocks, kInfeasible);
  ties_.resize(blocks, kBlock);
}

void BestRows::Set(NodeRow row, int64_t total) {
  const int64_t before = std::exchange(totals_[row], total);
  if (before == total) return;
  feasible_ += (total != kInfeasible ? 1 : 0);
  feasible_ -= (before != kInfeasible ? 1 : 0);
  // Mostly the other rows of the block need not be looked at.
  const size_t block = row / kBlock;
  if (before == best_[block]) {
    if (total > before || --ties_[block] == 0) SummarizeBlock(block);
  } else if (total == best_[block]) {
    ++ties_[block];
  } else if (total > best_[block]) {
    best_[block] = total;
    ties_[block] = 1;
  }
}

void BestRows::SummarizeBlock(size_t block) {
  static_assert(kBlock == kRowsOfBlock);
  const BlockSummary summary = SummaryOf(&totals_[block * kBlock]);
  best_[block] = summary.best;
  ties_[block] = summary.ties;
}

void BestRows::SetAll(const int64_t* scores, int64_t more, const uint8_t* feasible) {
  feasible_ = 0;
  for (size_t block = 0; block < best_.size(); ++block) {
    const size_t begin = block * kBlock;
    const size_t n = std::min(kBlock, rows_ - begin);
    int64_t* const totals = &totals_[begin];
    feasible_ += scores == totals_.data() ? FillInPlace(more, feasible + begin, n, totals)
                                          : Fill(scores + begin, more, feasible + begin, n, totals);
    SummarizeBlock(block);
  }
}

std::optional<BestRows::Best> BestRows::Pick(Random& random) const {
  if (feasible_ == 0) return {};
  const int64_t best = *std::ranges::max_element(best_);
  size_t ties = 0;
  for (size_t block = 0; block < best_.size(); ++block)
    ties += best_[block] == best ? ties_[block] : 0;
  size_t skip = ties == 1 ? 0 : random.Below(ties);
  for (size_t block = 0; block < best_.size(); ++block) {
    if (best_[block] != best) continue;
    if (skip >= ties_[block]) {
      skip -= ties_[block];
      continue;
    }
    for (size_t row = block * kBlock;; ++row) {
      if (totals_[row] == best && skip-- == 0) return Best{static_cast<NodeRow>(row), best, ties};
    }
  }
  return {};
}

std::vector<NodeRow> BestRows::Top(size_t n) const {
  std::vector<NodeRow> rows;
  for (NodeRow row{0}; row < rows_; ++row) {
    if (totals_[row] != kInfeasible) rows.push_back(row);
  }
  n = std::min(n, rows.size());
  std::ranges::partial_sort(rows, rows.begin() + static_cast<ptrdiff_t>(n),
                            [&](NodeRow a, NodeRow b) {
                              return totals_[a] != totals_[b] ? totals_[a] > totals_[b] : a < b;
                            });
  rows.resize(n);
  return rows;
}

}  // namespace koord::scheduler
