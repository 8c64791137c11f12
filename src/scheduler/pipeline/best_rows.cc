#include "scheduler/pipeline/best_rows.h"

#include <algorithm>
#include <numeric>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

struct BlockSummary {
  int64_t best;
  uint32_t ties;
};

KOORD_HOT BlockSummary SummaryOf(const int64_t* totals, size_t n) {
  int64_t best = totals[0];
  for (size_t i = 1; i < n; ++i) best = totals[i] > best ? totals[i] : best;
  uint64_t ties = 0;
  for (size_t i = 0; i < n; ++i) ties += totals[i] == best ? 1 : 0;
  return {best, static_cast<uint32_t>(ties)};
}

KOORD_HOT size_t CountFeasible(const int64_t* totals, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) count += totals[i] != BestRows::kInfeasible ? 1 : 0;
  return count;
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
  if (totals_[row] == total) return;
  feasible_ += (total != kInfeasible ? 1 : 0);
  feasible_ -= (totals_[row] != kInfeasible ? 1 : 0);
  totals_[row] = total;
  SummarizeBlock(row / kBlock);
}

void BestRows::SummarizeBlock(size_t block) {
  const BlockSummary summary = SummaryOf(&totals_[block * kBlock], kBlock);
  best_[block] = summary.best;
  ties_[block] = summary.ties;
}

void BestRows::Summarize() {
  for (size_t block = 0; block < best_.size(); ++block) SummarizeBlock(block);
  feasible_ = CountFeasible(totals_.data(), rows_);
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
  for (NodeRow row = 0; row < rows_; ++row) {
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
