#include "scheduler/cluster/label_column.h"

namespace koord::scheduler {

ValueId LabelColumn::Find(std::string_view value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? kNoValue : found->second;
}

void LabelColumn::Set(NodeRow row, const std::string* value) {
  if (value == nullptr) {
    ids_[row] = kNoValue;
    return;
  }
  const auto [at, is_new] = known_.try_emplace(*value, static_cast<ValueId>(values_.size()));
  if (is_new) values_.push_back(*value);
  ids_[row] = at->second;
}

}  // namespace koord::scheduler
