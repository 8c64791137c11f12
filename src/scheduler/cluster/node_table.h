#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/objects/node.h"
#include "scheduler/cluster/amount_columns.h"
#include "scheduler/cluster/label_column.h"
#include "scheduler/cluster/pod_info.h"
#include "scheduler/cluster/resource_names.h"
#include "scheduler/cluster/shared_room.h"

namespace koord::scheduler {

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

// A set of taints by number: most nodes of a cluster share a few. The number of a set that no node
// has any more is given to another one.
using TaintSetId = uint32_t;
inline constexpr TaintSetId kNoTaints = 0;

// The cluster as a table: one row per node, stored by column, with the pods that hold room on each.
//
// Only the Ledger writes to it. A row number stays with its node; the row of a node that is gone is
// used again for another. Rows without a node are not live and must never be chosen: pipelines
// start from the `live` column. Pods of nodes that do not exist have no row.
//
// There is a column for each resource that some node offers, and for each label that somebody asks
// about: what pods make up costs nothing per node.
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
  RowRange all() const { return RowRange::First(rows()); }
  std::optional<NodeRow> Find(std::string_view node) const;

  bool IsLive(NodeRow row) const { return live_[row] != 0; }
  const kube::Node& node(NodeRow row) const { return *nodes_[row]; }  // live rows only
  const std::shared_ptr<const kube::Node>& shared_node(NodeRow row) const { return nodes_[row]; }
  const std::string& name(NodeRow row) const { return names_[row]; }
  std::span<const PodInfo* const> pods(NodeRow row) const { return pods_[row]; }

  // Columns, indexed by row.
  const uint8_t* live() const { return live_.data(); }
  const uint8_t* unschedulable() const { return unschedulable_.data(); }
  const TaintSetId* taint_sets() const { return taint_sets_.data(); }
  // Zeros if no node offers the resource, also of what pods have requested of it all the same.
  const int64_t* allocatable(ResourceId id) const {
    const ResourceColumn* column = ColumnOf(id);
    return column == nullptr ? nothing_.data() : column->allocatable.data();
  }
  const int64_t* requested(ResourceId id) const {
    const ResourceColumn* column = ColumnOf(id);
    return column == nullptr ? nothing_.data() : column->requested.data();
  }
  // The same as doubles; null if no node offers the resource.
  const AmountColumns* amounts(ResourceId id) const {
    const ResourceColumn* column = ColumnOf(id);
    return column == nullptr ? nullptr : &column->amounts;
  }
  bool IsOffered(ResourceId id) const { return ColumnOf(id) != nullptr; }
  // Moves when another set of resources than before is offered.
  uint64_t offered_version() const { return offered_version_; }
  // What a node has of each resource, without zeros.
  const ResourceAmounts& offers(NodeRow row) const { return offers_[row].amounts; }
  size_t resource_columns() const;
  // What scores count as requested: with 100m of cpu and 200Mi of memory for containers that do not
  // say what they need.
  const int64_t* non_zero_requested(ResourceId id) const {
    if (id == kCpuId) return non_zero_cpu();
    return id == kMemoryId ? non_zero_memory() : requested(id);
  }
  const int64_t* non_zero_cpu() const { return non_zero_cpu_.data(); }
  const int64_t* non_zero_memory() const { return non_zero_memory_.data(); }
  const int64_t* allocatable_pods() const { return allocatable_pods_.data(); }
  const int64_t* pod_counts() const { return pod_counts_.data(); }

  // Reserve pods of a row and those that draw from reservations. What they share is charged once:
  // columns have it once, and are what a pod sees that may draw from none.
  struct Sharing {
    std::vector<const PodInfo*> pods;
    SharedRoom room;
  };
  // Null: there are none.
  const Sharing* sharing(NodeRow row) const {
    if (sharing_.empty()) return nullptr;
    const auto found = sharing_.find(row);
    return found == sharing_.end() ? nullptr : &found->second;
  }
  // visit(row) for all rows that have such pods.
  template <class Visit>
  void ForEachSharing(Visit visit) const {
    for (const auto& [row, sharing] : sharing_) visit(row);
  }

  // The least priority of the pods on a row; the largest number there is without any.
  int32_t lowest_priority(NodeRow row) const {
    if (!lowest_known_[row]) FindLowestPriority(row);
    return lowest_priority_[row];
  }

  // The column of a label, made when it is first asked for. Those that nobody keeps are dropped.
  LabelPtr Label(std::string_view key) const;
  size_t label_columns() const { return labels_.size(); }

  const std::vector<kube::Taint>& taints(TaintSetId set) const { return taint_set_list_[set]; }
  size_t taint_set_count() const { return taint_set_list_.size(); }  // ids are below this
  // Moves when an id gets a set.
  uint64_t taint_sets_version() const { return taint_sets_version_; }
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
  // The same where nothing has happened but that time has passed.
  void TouchByTime(NodeRow row);
  // Whether something has happened to the row after a position of the log.
  bool HasHappenedSince(uint64_t position, NodeRow row) const { return happened_[row] > position; }

 private:
  friend class Ledger;

  NodeRow AddRow(const std::string& name);  // of a node that is not known yet
  NodeChanges SetNode(NodeRow row, std::shared_ptr<const kube::Node> node);
  void RemoveNode(NodeRow row);  // which has no pods any more
  void AddPod(PodInfo& pod, NodeRow row);
  void RemovePod(PodInfo& pod);
  // Makes a pod and the one at this place of its row change places.
  void MovePod(PodInfo& pod, uint32_t place);
  void Charge(const PodInfo& pod, int sign);
  void Share(const PodInfo& pod);
  void Unshare(const PodInfo& pod);
  void ShareAnew(NodeRow row, Sharing& sharing);
  void ChargeShared(NodeRow row, const SharedRoom& room, int sign);
  void PublishRequested(const ResourceAmounts& changed, NodeRow row);
  void PublishAmounts(ResourceId id, NodeRow row);
  void FindLowestPriority(NodeRow row) const;

  struct ResourceColumn {
    std::vector<int64_t> allocatable;
    std::vector<int64_t> requested;
    AmountColumns amounts;  // follow
    size_t offered_by = 0;  // rows
  };
  struct Offer {
    ResourceHold names;
    ResourceAmounts amounts;
  };

  const ResourceColumn* ColumnOf(ResourceId id) const {
    return id < columns_.size() ? columns_[id].get() : nullptr;
  }
  ResourceColumn& AddColumn(ResourceId id);
  void DropColumnIfUnoffered(ResourceId id);
  void GrowColumns();
  void SetAllocatable(NodeRow row, const kube::ResourceList& allocatable);
  void SetLabels(NodeRow row, const kube::Labels& before, const kube::Labels& after);
  void SetLabel(NodeRow row, const std::string& key, const std::string* value);
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
  // The end of the log after the last change of a row that was not made by time alone.
  std::vector<uint64_t> happened_;
  std::vector<uint8_t> live_;
  std::vector<uint8_t> unschedulable_;
  std::vector<TaintSetId> taint_sets_;
  std::vector<CountedTexts::Hold> taint_holds_;  // keep the ids of taint_sets_
  std::vector<Offer> offers_;
  std::vector<std::unique_ptr<ResourceColumn>> columns_;  // by id; null: no node offers it
  uint64_t offered_version_ = 1;
  std::vector<int64_t> non_zero_cpu_;
  std::vector<int64_t> non_zero_memory_;
  std::vector<int64_t> allocatable_pods_;
  std::vector<int64_t> pod_counts_;
  absl::flat_hash_map<NodeRow, Sharing> sharing_;
  mutable std::vector<int32_t> lowest_priority_;
  mutable std::vector<uint8_t> lowest_known_;  // 0: a pod of that priority has left
  std::vector<int64_t> nothing_;               // a column of zeros
  std::vector<ValueId> nowhere_;               // the same for labels
  mutable StringMap<std::shared_ptr<LabelColumn>> labels_;
  mutable size_t labels_made_ = 0;  // since unused ones were dropped
  StringMap<size_t> label_keys_;    // that nodes have: how many do
  CountedTexts taint_texts_;        // the sets' ids, by what is in them
  std::vector<std::vector<kube::Taint>> taint_set_list_;
  uint64_t taint_sets_version_ = 1;

  std::vector<NodeRow> log_;
  uint64_t log_start_ = 0;
};

}  // namespace koord::scheduler
