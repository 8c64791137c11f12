#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "scheduler/cluster/pod_info.h"
#include "scheduler/framework/verdict.h"

namespace koord::scheduler {

// The slot of no plugin: an extender has refused the row.
inline constexpr uint32_t kExtenderSlot = std::numeric_limits<uint32_t>::max();

// Why one row fell out: the first rejection in profile order.
struct RowDiagnosis {
  uint32_t plugin = 0;  // slot, or kExtenderSlot
  RowVerdict verdict;   // success: it did not, or was not looked at
  uint8_t pass = 0;     // 1: not because of pods that are promised the node
};

// Why rows fell out. Rows are many and reasons are few, so a row has the number of its kind.
class DiagnosisTable {
 public:
  struct Kind {
    RowDiagnosis why;
    size_t rows = 0;
  };
  using KindId = uint32_t;
  static constexpr KindId kPassed = 0;  // or was not looked at

  size_t rows() const { return of_row_.size(); }
  const RowDiagnosis& operator[](NodeRow row) const { return kinds_[of_row_[row]].why; }
  // Some may have no rows any more.
  std::span<const Kind> kinds() const { return kinds_; }
  size_t rejected() const { return of_row_.size() - kinds_[kPassed].rows; }

  void Reset(size_t rows);   // all passed
  void Resize(size_t rows);  // new ones have passed
  KindId KindOf(const RowDiagnosis& why);
  void Set(NodeRow row, KindId kind) {
    --kinds_[of_row_[row]].rows;
    ++kinds_[kind].rows;
    of_row_[row] = kind;
  }
  void Set(NodeRow row, const RowDiagnosis& why) { Set(row, KindOf(why)); }

 private:
  using Key = std::tuple<uint32_t, Code, uint8_t, absl::InlinedVector<ReasonId, 2>>;

  std::vector<KindId> of_row_;
  std::vector<Kind> kinds_ = std::vector<Kind>(1);
  KindId last_ = kPassed;  // mostly the next row's as well
  absl::flat_hash_map<Key, KindId> by_content_;
};

// The rows of a diagnosis, as those see them who did not make it.
class RowDiagnoses {
 public:
  RowDiagnoses() = default;
  RowDiagnoses(const DiagnosisTable& table) : table_(&table) {}  // NOLINT: a view of it

  size_t size() const { return table_ == nullptr ? 0 : table_->rows(); }
  const RowDiagnosis& operator[](NodeRow row) const { return (*table_)[row]; }
  std::span<const DiagnosisTable::Kind> kinds() const {
    return table_ == nullptr ? std::span<const DiagnosisTable::Kind>() : table_->kinds();
  }
  size_t rejected() const { return table_ == nullptr ? 0 : table_->rejected(); }
  DiagnosisTable Copy() const { return table_ == nullptr ? DiagnosisTable() : *table_; }

 private:
  const DiagnosisTable* table_ = nullptr;
};

}  // namespace koord::scheduler
