#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "scheduler/cluster/pod_info.h"

namespace koord::scheduler {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = 0;  // the node does not have the label

// One label of every node, its values as numbers: a topology key's domains, or what a selector
// compares.
class LabelColumn {
 public:
  explicit LabelColumn(std::string key) : key_(std::move(key)) {}

  const std::string& key() const { return key_; }
  ValueId At(NodeRow row) const { return ids_[row]; }
  const ValueId* data() const { return ids_.data(); }

  // kNoValue if no node ever had it.
  ValueId Find(std::string_view value) const;
  const std::string& ValueOf(ValueId id) const { return values_[id]; }
  size_t values() const { return values_.size(); }  // ids are below this

  void Resize(size_t rows) { ids_.resize(rows, kNoValue); }
  void Set(NodeRow row, const std::string* value);  // null: not there

 private:
  std::string key_;
  std::vector<ValueId> ids_;
  std::vector<std::string> values_ = {""};
  StringMap<ValueId> known_;
};

}  // namespace koord::scheduler
