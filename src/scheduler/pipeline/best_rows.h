#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.h"
#include "scheduler/cluster/pod_info.h"

namespace koord::scheduler {

// The total score of every row, and quickly the best of them.
//
// Rows are summed up in blocks, so that changing one row costs a block and finding the best one
// costs the number of blocks; neither walks the whole cluster.
class BestRows {
 public:
  static constexpr int64_t kInfeasible = std::numeric_limits<int64_t>::min();

  void Resize(size_t rows);  // new rows are infeasible
  size_t rows() const { return rows_; }
  int64_t At(NodeRow row) const { return totals_[row]; }
  const int64_t* Where(NodeRow row) const { return &totals_[row]; }  // to have it in the cache

  void Set(NodeRow row, int64_t total);
  // The total of each row that is feasible is scores[row] + more. The scores may stand in data().
  void SetAll(const int64_t* scores, int64_t more, const uint8_t* feasible);
  int64_t* data() { return totals_.data(); }

  struct Best {
    NodeRow row;
    int64_t total;
    size_t ties;  // how many rows share the total, this one included
  };
  // One of the best rows, each with the same chance. Nothing if no row is feasible.
  std::optional<Best> Pick(Random& random) const;
  size_t feasible() const { return feasible_; }
  // The n best rows, best first, then by row.
  std::vector<NodeRow> Top(size_t n) const;

 private:
  static constexpr size_t kBlock = 64;

  void SummarizeBlock(size_t block);

  size_t rows_ = 0;
  size_t feasible_ = 0;
  std::vector<int64_t> totals_;  // padded to whole blocks
  std::vector<int64_t> best_;    // a block
  std::vector<uint32_t> ties_;   // a block: rows with that total
};

}  // namespace koord::scheduler
