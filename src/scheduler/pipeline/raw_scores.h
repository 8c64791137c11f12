#pragma once
#include <cstdint>
#include <vector>

#include "scheduler/cluster/pod_info.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// The raw scores of a plugin that normalises, with the least and largest one of the rows that count
// (the feasible ones) at hand. Such scores take few different values (sums of weights, numbers of
// taints), so values are counted.
class RawScores {
 public:
  void Resize(size_t rows) { scores_.resize(rows, 0); }
  int64_t* data() { return scores_.data(); }
  const int64_t* data() const { return scores_.data(); }
  int64_t At(NodeRow row) const { return scores_[row]; }

  // Counts all rows for which feasible[row] is set; `range` is what they span.
  void CountAll(const uint8_t* feasible, ScoreRange range);
  void CountNone() { counts_.clear(); }
  void Set(NodeRow row, int64_t score) { scores_[row] = score; }
  void Count(NodeRow row) { Change(scores_[row], 1); }
  void Uncount(NodeRow row) { Change(scores_[row], -1); }

  ScoreRange range() const;
  // All counted rows have the same score.
  bool uniform() const { return counts_.size() <= 1; }

 private:
  struct Counted {
    int64_t score;
    int64_t rows;
  };

  void Change(int64_t score, int64_t by);

  std::vector<int64_t> scores_;
  std::vector<Counted> counts_;  // ascending; only positive numbers of rows
};

}  // namespace koord::scheduler
