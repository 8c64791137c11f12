#pragma once
#include <cstdint>
#include <vector>

#include "scheduler/cluster/node_table.h"
#include "scheduler/plugins/load_aware_scheduling/load_amounts.h"

namespace koord::scheduler {

// What Filter and Score read, one row per node, so that either is one pass over a few columns.
//
// Amounts stand as doubles, which hold them exactly (kMostLoad) and compare and multiply quickly.
class LoadColumns {
 public:
  // The two ways in which a node may look: to prod pods, where their own load is what counts, and
  // to all others. What looks the same to both is kept for the others alone.
  enum View : uint8_t { kOthers, kProd, kViews };

  using Column = std::vector<double>;
  using ByResource = std::vector<Column>;

  explicit LoadColumns(size_t resources);
  void Resize(size_t rows);

  ByResource room[kViews];  // what a pod may bring before a threshold is exceeded
  ByResource free[kViews];  // capacity that is not in use, for scores; may be negative
  // 100/capacity; 0 where the row scores nothing by this resource, or not by these columns.
  ByResource percent_per_unit;
};

// How scores of single resources become one.
struct LoadWeights {
  std::vector<double> weights;  // by tracked resource
  double dominant = 0;
  double total = 0;  // 0: nothing is scored
};

// Clears keep where a pod needs more than there is room for. Pointers are to the first of n rows.
void KeepWithRoom(const double* room, double need, size_t n, uint8_t* keep);

// scores[i] for row begin + i: 0..100, exact for capacities below kMostQuickCapacity.
inline constexpr int64_t kMostQuickCapacity = int64_t{1} << 42;
void ScoreRows(const LoadColumns& columns, LoadColumns::View view, const LoadWeights& weights,
               const std::vector<double>& need, RowRange rows, int64_t* scores);

}  // namespace koord::scheduler
