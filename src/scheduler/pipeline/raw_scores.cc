#include "scheduler/pipeline/raw_scores.h"

#include <algorithm>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

KOORD_HOT int64_t CountCounting(const int64_t* scores, const uint8_t* feasible, size_t n) {
  int64_t count = 0;
  for (size_t i = 0; i < n; ++i) count += feasible[i] && scores[i] != kIgnoredRow ? 1 : 0;
  return count;
}

}  // namespace

void RawScores::CountAll(const uint8_t* feasible, ScoreRange range) {
  counts_.clear();
  if (range.min == range.max) {  // mostly: a score that makes no difference between nodes
    const int64_t rows = CountCounting(scores_.data(), feasible, scores_.size());
    if (rows > 0) counts_.push_back({range.min, rows});
    return;
  }
  // Rows next to each other mostly have the same score: count runs.
  int64_t run_score = kIgnoredRow;
  int64_t run = 0;
  for (NodeRow row{0}; row < scores_.size(); ++row) {
    if (!feasible[row]) continue;
    if (scores_[row] == run_score) {
      ++run;
      continue;
    }
    if (run > 0) Change(run_score, run);
    run_score = scores_[row];
    run = 1;
  }
  if (run > 0) Change(run_score, run);
}

void RawScores::Change(int64_t score, int64_t by) {
  if (score == kIgnoredRow) return;
  auto at = std::ranges::lower_bound(counts_, score, {}, &Counted::score);
  if (at == counts_.end() || at->score != score) at = counts_.insert(at, {score, 0});
  at->rows += by;
  if (at->rows == 0) counts_.erase(at);
}

ScoreRange RawScores::range() const {
  if (counts_.empty()) return {};
  return {counts_.front().score, counts_.back().score};
}

}  // namespace koord::scheduler
