#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/objects/node.h"
#include "scheduler/cluster/label_column.h"
#include "scheduler/cluster/pod_info.h"
#include "scheduler/cluster/resource_names.h"

namespace koord::scheduler {

// Rows that stand together: [begin, end).
struct RowRange {
  NodeRow begin = 0;
  NodeRow end = 0;

  size_t size() const { return end - begin; }
};

// What an update of a Node object changed, as far as placement may depend on it.
struct NodeChanges {
  bool allocatable = false;
  bool labels = false;
  bool taints = false;
  bool unschedulable = false;
  bool conditions = false;
  bool annotations = false;
  bool images = false;

  bool any() const {
    return allocatable || labels || taints || unschedulable || conditions || annotations || images;
  }
};

// A set of taints, interned: most nodes of a cluster share a few.
using TaintSetId = uint32_t;
inline constexpr TaintSetId kNoTaints = 0;

// The cluster as a table: a row a node, stored by column, with the pods that hold room on each.
//
// Only the Ledger writes to it. A row number stays with its node; the row of a node that is gone is
// used again for another. Rows without a node (free ones, and those whose node is unknown but whose
// pods are not) are not live and must never be chosen: pipelines start from the `live` column.
//
// Whoever keeps results per row remembers a position in the log of changes and asks later which
// rows have changed since.
class NodeTable {
 public:
  explicit NodeTable(ResourceNames& resources);
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  size_t rows() const { return nodes_.size(); }  // live or not
  size_t live_rows() const { return live_rows_; }
  RowRange all() const { return {0, static_cast<NodeRow>(rows())}; }
  std::optional<NodeRow> Find(std::string_view node) const;  // live ones only

  bool IsLive(NodeRow row) const { return live_[row] != 0; }
  const kube::Node& node(NodeRow row) const { return *nodes_[row]; }  // live rows only
  const std::shared_ptr<const kube::Node>& shared_node(NodeRow row) const { return nodes_[row]; }
  const std::string& name(NodeRow row) const { return names_[row]; }
  std::span<const PodInfo* const> pods(NodeRow row) const { return pods_[row]; }

  // Columns, indexed by row.
  const uint8_t* live() const { return live_.data(); }
  const uint8_t* unschedulable() const { return unschedulable_.data(); }
  const TaintSetId* taint_sets() const { return taint_sets_.data(); }
  const int64_t* allocatable(ResourceId id) const { return Column(allocatable_, id); }
  const int64_t* requested(ResourceId id) const { return Column(requested_, id); }
  // requested(cpu|memory) with 100m and 200Mi for containers that do not say what they need.
  const int64_t* non_zero_cpu() const { return non_zero_cpu_.data(); }
  const int64_t* non_zero_memory() const { return non_zero_memory_.data(); }
  const int64_t* allocatable_pods() const { return allocatable_pods_.data(); }
  const int64_t* pod_counts() const { return pod_counts_.data(); }

  // The column of a label, made when it is first asked for.
  const LabelColumn& Label(std::string_view key) const;

  const std::vector<kube::Taint>& taints(TaintSetId set) const { return taint_set_list_[set]; }
  size_t taint_set_count() const { return taint_set_list_.size(); }
  // Some live node has a taint that only discourages.
  bool has_preferred_taints() const { return preferred_taint_rows_ != 0; }

  // Moves whenever nodes come or go, or labels, taints or cordons change.
  uint64_t topology_version() const { return topology_version_; }

  // The log of changed rows. `ChangedSince` gives the rows (some more than once) that changed after
  // a position; nothing if that is too long ago, or so much that everything is better looked at.
  uint64_t log_end() const { return log_start_ + log_.size(); }
  std::optional<std::span<const NodeRow>> ChangedSince(uint64_t position) const;
  // For owners of further columns: what they know of this row has changed.
  void Touch(NodeRow row);

 private:
  friend class Ledger;

  NodeRow RowFor(const std::string& name);  // of a node that may not be known yet
  NodeChanges SetNode(NodeRow row, std::shared_ptr<const kube::Node> node);
  void ClearNode(NodeRow row);
  void FreeIfUnused(NodeRow row);
  void AddPod(PodInfo& pod, NodeRow row);
  void RemovePod(PodInfo& pod);
  void Charge(const PodInfo& pod, int sign);

  using Columns = std::vector<std::vector<int64_t>>;
  const int64_t* Column(const Columns& columns, ResourceId id) const;
  void GrowColumns() const;
  TaintSetId InternTaints(const std::vector<kube::Taint>& taints);
  void SetTaints(NodeRow row, const std::vector<kube::Taint>& taints);

  ResourceNames& resources_;
  StringMap<NodeRow> by_name_;
  std::vector<NodeRow> free_;
  size_t live_rows_ = 0;
  size_t preferred_taint_rows_ = 0;
  uint64_t topology_version_ = 1;

  std::vector<std::shared_ptr<const kube::Node>> nodes_;
  std::vector<std::string> names_;
  std::vector<std::vector<const PodInfo*>> pods_;
  std::vector<uint8_t> live_;
  std::vector<uint8_t> unschedulable_;
  std::vector<TaintSetId> taint_sets_;
  mutable Columns allocatable_;
  mutable Columns requested_;
  std::vector<int64_t> non_zero_cpu_;
  std::vector<int64_t> non_zero_memory_;
  std::vector<int64_t> allocatable_pods_;
  std::vector<int64_t> pod_counts_;
  mutable std::deque<LabelColumn> labels_;
  mutable StringMap<LabelColumn*> labels_by_key_;
  std::vector<std::vector<kube::Taint>> taint_set_list_;

  std::vector<NodeRow> log_;
  uint64_t log_start_ = 0;
};

}  // namespace koord::scheduler
