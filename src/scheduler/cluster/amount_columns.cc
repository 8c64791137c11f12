#include "scheduler/cluster/amount_columns.h"

#include <cstring>

namespace koord::scheduler {
namespace {

bool IsExact(int64_t amount) { return amount >= 0 && amount < AmountColumns::kLimit; }

}  // namespace

void AmountColumns::Resize(size_t rows) {
  allocatable_.resize(rows, 1);
  requested_.resize(rows, 0);
  used_.resize(rows, 0);
  percent_per_unit_.resize(rows, 0);
  odd_.resize(rows, 0);
}

void AmountColumns::Set(NodeRow row, int64_t allocatable, int64_t requested, int64_t used) {
  if (allocatable == 0 || !IsExact(allocatable) || !IsExact(requested) || !IsExact(used)) {
    SetWithoutNode(row);
    SetOdd(row, true);
    return;
  }
  SetOdd(row, false);
  requested_[row] = static_cast<double>(requested);
  used_[row] = static_cast<double>(used);
  const auto has = static_cast<double>(allocatable);
  if (percent_per_unit_[row] != 0 && allocatable_[row] == has) return;  // dividing takes longest
  allocatable_[row] = has;
  percent_per_unit_[row] = 100 / has;
}

void AmountColumns::SetWithoutNode(NodeRow row) {
  SetOdd(row, false);
  allocatable_[row] = 1;
  requested_[row] = used_[row] = percent_per_unit_[row] = 0;
}

bool AmountColumns::FindOdd(RowRange rows) const {
  return std::memchr(odd_.data() + rows.begin, 1, rows.size()) != nullptr;
}

void AmountColumns::SetOdd(NodeRow row, bool odd) {
  odd_rows_ += odd ? 1 : 0;
  odd_rows_ -= odd_[row];
  odd_[row] = odd ? 1 : 0;
}

}  // namespace koord::scheduler
