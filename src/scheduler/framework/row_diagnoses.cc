#include "scheduler/framework/row_diagnoses.h"

namespace koord::scheduler {

void DiagnosisTable::Reset(size_t rows) {
  of_row_.assign(rows, kPassed);
  kinds_.resize(1);
  kinds_[kPassed].rows = rows;
  last_ = kPassed;
  by_content_.clear();
}

void DiagnosisTable::Resize(size_t rows) {
  kinds_[kPassed].rows += rows - of_row_.size();  // tables only grow
  of_row_.resize(rows, kPassed);
}

DiagnosisTable::KindId DiagnosisTable::KindOf(const RowDiagnosis& why) {
  if (why.verdict.ok()) return kPassed;
  const RowDiagnosis& last = kinds_[last_].why;
  if (last.plugin == why.plugin && last.pass == why.pass && last.verdict.code == why.verdict.code &&
      last.verdict.reasons == why.verdict.reasons) {
    return last_;
  }
  const auto [at, is_new] =
      by_content_.try_emplace(Key(why.plugin, why.verdict.code, why.pass, why.verdict.reasons),
                              static_cast<KindId>(kinds_.size()));
  if (is_new) kinds_.push_back({why});
  last_ = at->second;
  return last_;
}

}  // namespace koord::scheduler
