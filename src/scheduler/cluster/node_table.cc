#include "scheduler/cluster/node_table.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

// The taints that decide placement, without the times at which they were added.
std::vector<kube::Taint> Timeless(std::vector<kube::Taint> taints) {
  for (kube::Taint& taint : taints) taint.time_added.reset();
  return taints;
}

bool HasPreferred(const std::vector<kube::Taint>& taints) {
  return std::ranges::any_of(
      taints, [](const kube::Taint& taint) { return taint.effect == kube::kPreferNoSchedule; });
}

bool SameConditions(const kube::Node& a, const kube::Node& b) {
  return std::ranges::equal(a.status.conditions, b.status.conditions,
                            [](const kube::NodeCondition& x, const kube::NodeCondition& y) {
                              return x.type == y.type && x.status == y.status;
                            });
}

NodeChanges Compare(const kube::Node* before, const kube::Node& after) {
  if (before == nullptr) return {true, true, true, true, true, true, true};
  return {
      .allocatable = before->status.allocatable != after.status.allocatable,
      .labels = before->metadata.labels != after.metadata.labels,
      .taints = before->spec.taints != after.spec.taints,
      .unschedulable = before->spec.unschedulable != after.spec.unschedulable,
      .conditions = !SameConditions(*before, after),
      .annotations = before->metadata.annotations != after.metadata.annotations,
      .images = before->status.images != after.status.images,
  };
}

}  // namespace

NodeTable::NodeTable(ResourceNames& resources) : resources_(resources), taint_set_list_(1) {
  GrowColumns();
}

std::optional<NodeRow> NodeTable::Find(std::string_view node) const {
  const auto found = by_name_.find(node);
  if (found == by_name_.end() || !IsLive(found->second)) return {};
  return found->second;
}

const int64_t* NodeTable::Column(const Columns& columns, ResourceId id) const {
  if (id >= columns.size()) GrowColumns();
  return columns[id].data();
}

void NodeTable::GrowColumns() const {
  for (Columns* columns : {&allocatable_, &requested_}) {
    columns->resize(resources_.size());
    for (auto& column : *columns) column.resize(rows(), 0);
  }
}

const LabelColumn& NodeTable::Label(std::string_view key) const {
  if (const auto found = labels_by_key_.find(key); found != labels_by_key_.end()) {
    return *found->second;
  }
  LabelColumn& column = labels_.emplace_back(std::string(key));
  labels_by_key_.emplace(key, &column);
  column.Resize(rows());
  for (NodeRow row = 0; row < rows(); ++row) {
    if (IsLive(row)) column.Set(row, kube::FindValue(node(row).metadata.labels, key));
  }
  return column;
}

std::optional<std::span<const NodeRow>> NodeTable::ChangedSince(uint64_t position) const {
  if (position < log_start_ || position > log_end()) return {};
  const std::span<const NodeRow> changed = std::span(log_).subspan(position - log_start_);
  if (changed.size() > rows()) return {};
  return changed;
}

void NodeTable::Touch(NodeRow row) {
  // Beyond one entry a row nobody replays the log.
  if (log_.size() > 4 * rows() + 1024) {
    const size_t drop = log_.size() - rows();
    log_.erase(log_.begin(), log_.begin() + static_cast<ptrdiff_t>(drop));
    log_start_ += drop;
  }
  log_.push_back(row);
}

NodeRow NodeTable::RowFor(const std::string& name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  NodeRow row;
  if (!free_.empty()) {
    row = free_.back();
    free_.pop_back();
  } else {
    row = static_cast<NodeRow>(rows());
    nodes_.emplace_back();
    names_.emplace_back();
    pods_.emplace_back();
    live_.push_back(0);
    unschedulable_.push_back(0);
    taint_sets_.push_back(kNoTaints);
    non_zero_cpu_.push_back(0);
    non_zero_memory_.push_back(0);
    allocatable_pods_.push_back(0);
    pod_counts_.push_back(0);
    GrowColumns();
    for (LabelColumn& column : labels_) column.Resize(rows());
  }
  names_[row] = name;
  by_name_.emplace(name, row);
  return row;
}

TaintSetId NodeTable::InternTaints(const std::vector<kube::Taint>& taints) {
  const std::vector<kube::Taint> set = Timeless(taints);
  const auto found = std::ranges::find(taint_set_list_, set);
  const auto id = static_cast<TaintSetId>(found - taint_set_list_.begin());
  if (found == taint_set_list_.end()) taint_set_list_.push_back(set);
  return id;
}

void NodeTable::SetTaints(NodeRow row, const std::vector<kube::Taint>& taints) {
  if (HasPreferred(taint_set_list_[taint_sets_[row]])) --preferred_taint_rows_;
  taint_sets_[row] = taints.empty() ? kNoTaints : InternTaints(taints);
  if (HasPreferred(taints)) ++preferred_taint_rows_;
}

NodeChanges NodeTable::SetNode(NodeRow row, std::shared_ptr<const kube::Node> node) {
  const NodeChanges changes = Compare(nodes_[row].get(), *node);
  nodes_[row] = std::move(node);
  if (!live_[row]) {
    live_[row] = 1;
    ++live_rows_;
  }
  if (!changes.any()) return changes;
  const kube::Node& current = *nodes_[row];
  if (changes.allocatable) {
    const ResourceAmounts amounts = resources_.AmountsIn(current.status.allocatable);
    if (resources_.size() > allocatable_.size()) GrowColumns();
    for (auto& column : allocatable_) column[row] = 0;
    for (const ResourceAmount& each : amounts) allocatable_[each.id][row] = each.amount;
    allocatable_pods_[row] = kube::AmountOf(current.status.allocatable, kube::kPodCount).Value();
  }
  if (changes.labels) {
    for (LabelColumn& column : labels_) {
      column.Set(row, kube::FindValue(current.metadata.labels, column.key()));
    }
  }
  if (changes.taints) SetTaints(row, current.spec.taints);
  unschedulable_[row] = current.spec.unschedulable ? 1 : 0;
  if (changes.labels || changes.taints || changes.unschedulable) ++topology_version_;
  Touch(row);
  return changes;
}

void NodeTable::ClearNode(NodeRow row) {
  live_[row] = 0;
  --live_rows_;
  nodes_[row].reset();
  unschedulable_[row] = 0;
  SetTaints(row, {});
  for (auto& column : allocatable_) column[row] = 0;
  allocatable_pods_[row] = 0;
  for (LabelColumn& column : labels_) column.Set(row, nullptr);
  ++topology_version_;
  Touch(row);
}

void NodeTable::FreeIfUnused(NodeRow row) {
  if (live_[row] || !pods_[row].empty()) return;
  by_name_.erase(names_[row]);
  names_[row].clear();
  free_.push_back(row);
}

void NodeTable::AddPod(PodInfo& pod, NodeRow row) {
  pod.row = row;
  pod.place = static_cast<uint32_t>(pods_[row].size());
  pods_[row].push_back(&pod);
  Charge(pod, 1);
}

void NodeTable::RemovePod(PodInfo& pod) {
  Charge(pod, -1);
  auto& list = pods_[pod.row];
  const PodInfo* last = list.back();
  list[pod.place] = last;
  const_cast<PodInfo*>(last)->place = pod.place;  // the ledger's own, seen through a const list
  list.pop_back();
  pod.row = kNoRow;
}

void NodeTable::Charge(const PodInfo& pod, int sign) {
  if (resources_.size() > requested_.size()) GrowColumns();
  for (const ResourceAmount& each : pod.requests()) {
    requested_[each.id][pod.row] += sign * each.amount;
  }
  non_zero_cpu_[pod.row] += sign * pod.non_zero_cpu();
  non_zero_memory_[pod.row] += sign * pod.non_zero_memory();
  pod_counts_[pod.row] += sign;
  Touch(pod.row);
}

}  // namespace koord::scheduler
