#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "scheduler/cluster/pod_info.h"

namespace koord::scheduler {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = 0;  // the node does not have the label

// One label of every node, its values as numbers: a topology key's domains, or what a selector
// compares. The number of a value that no node has any more is given to another one. A label that
// no node has costs nothing per node: pods may name any number of them.
class LabelColumn {
 public:
  // `nowhere`: kNoValue for every row; the table's, shared by its columns.
  LabelColumn(std::string key, const std::vector<ValueId>& nowhere)
      : key_(std::move(key)), nowhere_(nowhere) {}

  const std::string& key() const { return key_; }
  const ValueId* data() const { return ids_.empty() ? nowhere_.data() : ids_.data(); }
  ValueId At(NodeRow row) const { return data()[row]; }

  // kNoValue if no node has it.
  ValueId Find(std::string_view value) const;
  const std::string& ValueOf(ValueId id) const { return values_[id].text; }
  size_t values() const { return values_.size(); }  // ids are below this
  uint64_t version() const { return version_; }     // moves when an id gets a value

  void Resize(size_t rows) {
    if (!ids_.empty()) ids_.resize(rows, kNoValue);
  }
  void Set(NodeRow row, const std::string* value);  // null: not there

 private:
  struct Value {
    std::string text;
    size_t rows = 0;  // that have it
  };

  ValueId IdOf(const std::string& value);
  void Release(ValueId id);

  const std::string key_;
  const std::vector<ValueId>& nowhere_;
  std::vector<ValueId> ids_;  // by row; empty while no node has the label
  std::vector<Value> values_ = {{}};
  std::vector<ValueId> free_;
  StringMap<ValueId> known_;
  uint64_t version_ = 1;
};

// Who keeps it, keeps the column in the table.
using LabelPtr = std::shared_ptr<const LabelColumn>;

}  // namespace koord::scheduler
