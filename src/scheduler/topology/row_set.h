#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/string_map.h"
#include "kube/objects/pod.h"
#include "scheduler/cluster/node_table.h"

namespace koord::scheduler {

// What a node must be like to be counted.
struct NodeCriteria {
  std::vector<std::string> keys;  // labels that it must carry
  // What a pod asks of its node; null: nothing.
  const kube::PodSpec* selected_by = nullptr;
  // Whose tolerations must cover the taints that keep pods off; null: taints do not matter.
  const kube::PodSpec* tolerated_by = nullptr;

  bool empty() const;
  std::string Key() const;  // the same text for the same criteria
};

// The rows of the nodes that meet some criteria, found again when nodes have changed.
class RowSet {
 public:
  RowSet(const NodeTable& nodes, const NodeCriteria& criteria);

  void Refresh();  // before reading
  bool Has(NodeRow row) const { return row < rows_.size() && rows_[row] != 0; }
  const uint8_t* data() const { return rows_.data(); }

 private:
  using Flags = std::vector<uint8_t>;

  void DropUnselected();
  void DropUnmatched(const kube::NodeSelectorRequirement& requirement, Flags& rows) const;
  void DropUnnamed(const kube::NodeSelectorRequirement& field, Flags& rows) const;
  Flags RowsOf(const kube::NodeSelectorTerm& term) const;
  void DropUntolerated();

  const NodeTable& nodes_;
  std::vector<std::string> keys_;
  kube::Labels node_selector_;
  std::optional<kube::NodeSelector> affinity_;
  std::optional<std::vector<kube::Toleration>> tolerations_;
  uint64_t topology_version_ = 0;
  Flags rows_;
};

// Row sets by their criteria: pods of one workload share theirs.
class RowSets {
 public:
  explicit RowSets(const NodeTable& nodes) : nodes_(nodes) {}

  // Null if every node meets them.
  std::shared_ptr<RowSet> For(const NodeCriteria& criteria);
  size_t size() const { return sets_.size(); }

 private:
  const NodeTable& nodes_;
  StringMap<std::shared_ptr<RowSet>> sets_;
  size_t drop_at_ = 64;
};

}  // namespace koord::scheduler
