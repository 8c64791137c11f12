#include "scheduler/cluster/label_column.h"

namespace koord::scheduler {

ValueId LabelColumn::Find(std::string_view value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? kNoValue : found->second;
}

ValueId LabelColumn::IdOf(const std::string& value) {
  if (const ValueId known = Find(value); known != kNoValue) return known;
  ValueId id;
  if (free_.empty()) {
    id = static_cast<ValueId>(values_.size());
    values_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  values_[id].text = value;
  known_.emplace(value, id);
  ++version_;
  return id;
}

void LabelColumn::Release(ValueId id) {
  if (id == kNoValue || --values_[id].rows != 0) return;
  known_.erase(values_[id].text);
  values_[id].text = std::string();
  free_.push_back(id);
}

void LabelColumn::Set(NodeRow row, const std::string* value) {
  const ValueId before = At(row);
  const ValueId after = value == nullptr ? kNoValue : IdOf(*value);
  if (before == after) return;
  if (ids_.empty()) ids_ = nowhere_;
  ids_[row] = after;
  if (after != kNoValue) ++values_[after].rows;
  Release(before);
  if (known_.empty()) ids_ = {};
}

}  // namespace koord::scheduler
