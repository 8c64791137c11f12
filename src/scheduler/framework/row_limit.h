#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/cluster/node_table.h"

namespace koord::scheduler {

// The only rows that can do for pods of some shape, as a plugin knows and keeps them: the nodes of
// the reservations that may be used, the plan of a gang. Handed to the pipeline by PreFilter once,
// and followed from then on.
//
// A row that enters or leaves is touched, so that it alone is looked at again. Another set of rows
// altogether moves the version, and everything is.
class RowLimit {
 public:
  explicit RowLimit(NodeTable& nodes) : nodes_(nodes) {}

  bool Has(NodeRow row) const { return row < has_.size() && has_[row] != 0; }
  size_t size() const { return size_; }
  uint64_t version() const { return version_; }

  void Add(NodeRow row) {
    if (Put(row, 1)) nodes_.Touch(row);
  }
  void Remove(NodeRow row) {
    if (Put(row, 0)) nodes_.Touch(row);
  }
  void Assign(std::span<const NodeRow> rows) {
    has_.clear();
    size_ = 0;
    for (const NodeRow row : rows) Put(row, 1);
    ++version_;
  }

 private:
  // Whether that is a change.
  bool Put(NodeRow row, uint8_t has) {
    if (Has(row) == (has != 0)) return false;
    if (row >= has_.size()) has_.resize(row + 1, 0);
    has_[row] = has;
    size_ += has != 0 ? 1 : -1;
    return true;
  }

  NodeTable& nodes_;
  std::vector<uint8_t> has_;
  size_t size_ = 0;
  uint64_t version_ = 1;
};

}  // namespace koord::scheduler
