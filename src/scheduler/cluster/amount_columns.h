#pragma once
#include <cstdint>
#include <vector>

#include "scheduler/cluster/pod_info.h"

namespace koord::scheduler {

// The amounts of one resource by row, as doubles: there are vector instructions for all that passes
// over whole columns do with them, and dividing by what a node has is multiplying here.
//
// A row is odd if that would not be exact, or if its node does not have the resource: what the
// columns say of it is harmless and wrong. So is what they say of a row without a node.
class AmountColumns {
 public:
  // Below this, sums and differences are exact, and so are whole percents that are had by
  // multiplying.
  static constexpr int64_t kLimit = int64_t{1} << 42;

  void Resize(size_t rows);  // new rows have no node
  // `used`: what scores count as requested.
  void Set(NodeRow row, int64_t allocatable, int64_t requested, int64_t used);
  void SetWithoutNode(NodeRow row);

  bool IsOdd(NodeRow row) const { return odd_[row] != 0; }
  bool HasOdd(RowRange rows) const { return odd_rows_ != 0 && FindOdd(rows); }

  const double* allocatable() const { return allocatable_.data(); }  // never 0
  const double* requested() const { return requested_.data(); }
  const double* used() const { return used_.data(); }
  const double* percent_per_unit() const { return percent_per_unit_.data(); }  // 100 / allocatable

 private:
  bool FindOdd(RowRange rows) const;
  void SetOdd(NodeRow row, bool odd);

  std::vector<double> allocatable_;
  std::vector<double> requested_;
  std::vector<double> used_;
  std::vector<double> percent_per_unit_;
  std::vector<uint8_t> odd_;
  size_t odd_rows_ = 0;
};

}  // namespace koord::scheduler
