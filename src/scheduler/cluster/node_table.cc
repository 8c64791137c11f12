#include "scheduler/cluster/node_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.h"

namespace koord::scheduler {
namespace {

constexpr int32_t kNobody = std::numeric_limits<int32_t>::max();

// The taints that decide placement, without the times at which they were added.
std::vector<kube::Taint> Timeless(std::vector<kube::Taint> taints) {
  for (kube::Taint& taint : taints) taint.time_added.reset();
  return taints;
}

// The same text for the same set.
std::string TextOf(const std::vector<kube::Taint>& taints) {
  std::string text;
  for (const kube::Taint& taint : taints) {
    text += fmt::format("{}={}:{}\n", taint.key, taint.value, taint.effect);
  }
  return text;
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

// Each is a column over all nodes, and what one node says must not cost the others that much.
constexpr size_t kMostResources = 256;

kube::ResourceList SomeOf(const kube::ResourceList& offered) {
  kube::ResourceList some;
  for (const auto& [name, amount] : offered) {
    const bool is_needed =
        name == kube::kCpu || name == kube::kMemory || name == kube::kEphemeralStorage;
    if (is_needed || some.size() < kMostResources) some.emplace(name, amount);
  }
  return some;
}

}  // namespace

NodeTable::NodeTable(ResourceNames& resources) : resources_(resources) {
  for (ResourceId id = 0; id < kFirstScalarId; ++id) AddColumn(id);
  taint_texts_.Intern(TextOf({}));
  taint_set_list_.resize(1);
}

std::optional<NodeRow> NodeTable::Find(std::string_view node) const {
  const auto found = by_name_.find(node);
  if (found == by_name_.end()) return {};
  return found->second;
}

size_t NodeTable::resource_columns() const {
  return static_cast<size_t>(
      std::ranges::count_if(columns_, [](const auto& column) { return column != nullptr; }));
}

// Pods may have asked for the resource before any node had it.
NodeTable::ResourceColumn& NodeTable::AddColumn(ResourceId id) {
  if (id >= columns_.size()) columns_.resize(id + 1);
  columns_[id] = std::make_unique<ResourceColumn>();
  ResourceColumn& column = *columns_[id];
  column.allocatable.resize(rows(), 0);
  column.requested.resize(rows(), 0);
  column.amounts.Resize(rows());
  for (NodeRow row{0}; row < rows(); ++row) {
    for (const PodInfo* pod : pods_[row]) column.requested[row] += AmountOf(pod->requests(), id);
    if (const Sharing* shared = sharing(row)) {
      column.requested[row] -= AmountOf(shared->room.amounts, id);
    }
    PublishAmounts(id, row);
  }
  ++offered_version_;
  return column;
}

void NodeTable::DropColumnIfUnoffered(ResourceId id) {
  if (id < kFirstScalarId || columns_[id] == nullptr || columns_[id]->offered_by != 0) return;
  columns_[id].reset();
  ++offered_version_;
}

void NodeTable::GrowColumns() {
  nothing_.resize(rows(), 0);
  nowhere_.resize(rows(), kNoValue);
  for (const auto& column : columns_) {
    if (column == nullptr) continue;
    column->allocatable.resize(rows(), 0);
    column->requested.resize(rows(), 0);
    column->amounts.Resize(rows());
  }
  for (const auto& [key, column] : labels_) column->Resize(rows());
}

LabelPtr NodeTable::Label(std::string_view key) const {
  if (const auto found = labels_.find(key); found != labels_.end()) return found->second;
  // Often enough that a single pod with thousands of labels is soon forgotten, too.
  if (++labels_made_ > std::max<size_t>(64, labels_.size() / 16)) {
    absl::erase_if(labels_, [](const auto& entry) { return entry.second.use_count() == 1; });
    labels_made_ = 0;
  }
  auto column = std::make_shared<LabelColumn>(std::string(key), nowhere_);
  labels_.emplace(key, column);
  if (!label_keys_.contains(key)) return column;
  for (NodeRow row{0}; row < rows(); ++row) {
    if (IsLive(row)) column->Set(row, kube::FindValue(node(row).metadata.labels, key));
  }
  return column;
}

std::optional<std::span<const NodeRow>> NodeTable::ChangedSince(uint64_t position) const {
  if (position < log_start_ || position > log_end()) return {};
  const std::span<const NodeRow> changed = std::span(log_).subspan(position - log_start_);
  // To look at every row once is less than that. The only node of a cluster has two that speak of
  // it, itself and its topology: that both did does not make pods be tried in vain.
  constexpr size_t kFew = 2;
  if (changed.size() > std::max(rows(), kFew)) return {};
  return changed;
}

void NodeTable::Touch(NodeRow row) {
  TouchByTime(row);
  happened_[row] = log_end();
}

void NodeTable::TouchByTime(NodeRow row) {
  // Beyond one entry a row nobody replays the log.
  if (log_.size() > 4 * rows() + 1024) {
    const size_t drop = log_.size() - rows();
    log_.erase(log_.begin(), log_.begin() + static_cast<ptrdiff_t>(drop));
    log_start_ += drop;
  }
  log_.push_back(row);
}

NodeRow NodeTable::AddRow(const std::string& name) {
  NodeRow row;
  if (!free_.empty()) {
    row = free_.back();
    free_.pop_back();
  } else {
    row = NodeRow(rows());
    nodes_.emplace_back();
    names_.emplace_back();
    pods_.emplace_back();
    live_.push_back(0);
    happened_.push_back(0);
    unschedulable_.push_back(0);
    taint_sets_.push_back(kNoTaints);
    taint_holds_.emplace_back();
    offers_.emplace_back();
    non_zero_cpu_.push_back(0);
    non_zero_memory_.push_back(0);
    allocatable_pods_.push_back(0);
    pod_counts_.push_back(0);
    lowest_priority_.push_back(kNobody);
    lowest_known_.push_back(1);
    GrowColumns();
  }
  names_[row] = name;
  by_name_.emplace(name, row);
  return row;
}

void NodeTable::SetTaints(NodeRow row, const std::vector<kube::Taint>& taints) {
  if (HasPreferred(taint_set_list_[taint_sets_[row]])) --preferred_taint_rows_;
  if (HasPreferred(taints)) ++preferred_taint_rows_;
  std::vector<kube::Taint> set = Timeless(taints);
  CountedTexts::Hold hold;
  const TaintSetId id = taint_texts_.Intern(TextOf(set), hold);
  if (id >= taint_set_list_.size()) taint_set_list_.resize(id + 1);
  if (taint_set_list_[id] != set) {
    taint_set_list_[id] = std::move(set);
    ++taint_sets_version_;
  }
  taint_sets_[row] = id;
  taint_holds_[row] = std::move(hold);
}

void NodeTable::SetAllocatable(NodeRow row, const kube::ResourceList& allocatable) {
  const bool is_much = allocatable.size() > kMostResources;
  if (is_much) {
    LOG_WARNING("A node offers more resources than are looked at", {"node", names_[row]},
                {"offered", allocatable.size()}, {"limit", kMostResources});
  }
  Offer after;
  after.amounts = is_much ? resources_.AmountsIn(SomeOf(allocatable), after.names)
                          : resources_.AmountsIn(allocatable, after.names);
  DropZeros(after.amounts);
  const Offer before = std::exchange(offers_[row], std::move(after));
  for (const ResourceAmount& each : before.amounts) {
    columns_[each.id]->allocatable[row] = 0;
    --columns_[each.id]->offered_by;
  }
  for (const ResourceAmount& each : offers_[row].amounts) {
    ResourceColumn& column = IsOffered(each.id) ? *columns_[each.id] : AddColumn(each.id);
    column.allocatable[row] = each.amount;
    ++column.offered_by;
  }
  for (const ResourceAmount& each : before.amounts) DropColumnIfUnoffered(each.id);
  for (ResourceId id = 0; id < columns_.size(); ++id) PublishAmounts(id, row);
}

void NodeTable::PublishAmounts(ResourceId id, NodeRow row) {
  if (!IsOffered(id)) return;
  ResourceColumn& column = *columns_[id];
  if (live_[row]) {
    column.amounts.Set(row, column.allocatable[row], column.requested[row],
                       non_zero_requested(id)[row]);
  } else {
    column.amounts.SetWithoutNode(row);
  }
}

void NodeTable::SetLabel(NodeRow row, const std::string& key, const std::string* value) {
  const auto found = labels_.find(key);
  if (found != labels_.end()) found->second->Set(row, value);
}

void NodeTable::SetLabels(NodeRow row, const kube::Labels& before, const kube::Labels& after) {
  for (const auto& [key, value] : before) {
    if (kube::FindValue(after, key) != nullptr) continue;
    SetLabel(row, key, nullptr);
    const auto known = label_keys_.find(key);
    if (--known->second == 0) label_keys_.erase(known);
  }
  for (const auto& [key, value] : after) {
    if (kube::FindValue(before, key) == nullptr) ++label_keys_[key];
    SetLabel(row, key, &value);
  }
}

NodeChanges NodeTable::SetNode(NodeRow row, std::shared_ptr<const kube::Node> node) {
  const NodeChanges changes = Compare(nodes_[row].get(), *node);
  const std::shared_ptr<const kube::Node> before = std::exchange(nodes_[row], std::move(node));
  if (!live_[row]) {
    live_[row] = 1;
    ++live_rows_;
  }
  if (!changes.any()) return changes;
  const kube::Node& current = *nodes_[row];
  if (changes.allocatable) {
    SetAllocatable(row, current.status.allocatable);
    allocatable_pods_[row] = kube::AmountOf(current.status.allocatable, kube::kPodCount).Value();
  }
  if (changes.labels) {
    const kube::Shared<kube::Labels> none;
    SetLabels(row, before ? before->metadata.labels : none, current.metadata.labels);
  }
  if (changes.taints) SetTaints(row, current.spec.taints);
  unschedulable_[row] = current.spec.unschedulable ? 1 : 0;
  if (changes.labels || changes.taints || changes.unschedulable) ++topology_version_;
  Touch(row);
  return changes;
}

void NodeTable::RemoveNode(NodeRow row) {
  live_[row] = 0;
  --live_rows_;
  SetLabels(row, nodes_[row]->metadata.labels, kube::Labels());
  nodes_[row].reset();
  unschedulable_[row] = 0;
  SetTaints(row, {});
  SetAllocatable(row, {});
  allocatable_pods_[row] = 0;
  ++topology_version_;
  Touch(row);
  by_name_.erase(names_[row]);
  names_[row].clear();
  free_.push_back(row);
}

void NodeTable::AddPod(PodInfo& pod, NodeRow row) {
  pod.row = row;
  pod.place = static_cast<uint32_t>(pods_[row].size());
  pods_[row].push_back(&pod);
  lowest_priority_[row] = std::min(lowest_priority_[row], pod.shape->priority);
  Charge(pod, 1);
  if (MayShare(pod)) Share(pod);
}

void NodeTable::RemovePod(PodInfo& pod) {
  if (MayShare(pod)) Unshare(pod);
  Charge(pod, -1);
  auto& list = pods_[pod.row];
  const PodInfo* last = list.back();
  list[pod.place] = last;
  const_cast<PodInfo*>(last)->place = pod.place;  // the ledger's own, seen through a const list
  list.pop_back();
  if (pod.shape->priority <= lowest_priority_[pod.row]) lowest_known_[pod.row] = 0;
  pod.row = kNoRow;
}

void NodeTable::MovePod(PodInfo& pod, uint32_t place) {
  auto& list = pods_[pod.row];
  const_cast<PodInfo*>(list[place])->place = pod.place;
  std::swap(list[place], list[pod.place]);
  pod.place = place;
}

void NodeTable::FindLowestPriority(NodeRow row) const {
  int32_t lowest = kNobody;
  for (const PodInfo* pod : pods_[row]) lowest = std::min(lowest, pod->shape->priority);
  lowest_priority_[row] = lowest;
  lowest_known_[row] = 1;
}

void NodeTable::Charge(const PodInfo& pod, int sign) {
  for (const ResourceAmount& each : pod.requests()) {
    if (IsOffered(each.id)) columns_[each.id]->requested[pod.row] += sign * each.amount;
  }
  non_zero_cpu_[pod.row] += sign * pod.non_zero_cpu();
  non_zero_memory_[pod.row] += sign * pod.non_zero_memory();
  pod_counts_[pod.row] += sign;
  PublishRequested(pod.requests(), pod.row);
  Touch(pod.row);
}

// CPU and memory always: whoever asks for none of them counts as asking for a little.
void NodeTable::PublishRequested(const ResourceAmounts& changed, NodeRow row) {
  PublishAmounts(kCpuId, row);
  PublishAmounts(kMemoryId, row);
  for (const ResourceAmount& each : changed) {
    if (each.id > kMemoryId) PublishAmounts(each.id, row);
  }
}

// ---- What reservations and their owners share

void NodeTable::Share(const PodInfo& pod) {
  Sharing& sharing = sharing_[pod.row];
  sharing.pods.push_back(&pod);
  ShareAnew(pod.row, sharing);
}

void NodeTable::Unshare(const PodInfo& pod) {
  const auto at = sharing_.find(pod.row);
  std::erase(at->second.pods, &pod);
  ShareAnew(pod.row, at->second);
  if (at->second.pods.empty()) sharing_.erase(at);
}

void NodeTable::ShareAnew(NodeRow row, Sharing& sharing) {
  const SharedRoom before = std::exchange(sharing.room, SharedBy(sharing.pods));
  ChargeShared(row, before, 1);
  ChargeShared(row, sharing.room, -1);
  PublishRequested(before.amounts, row);
  PublishRequested(sharing.room.amounts, row);
}

void NodeTable::ChargeShared(NodeRow row, const SharedRoom& room, int sign) {
  for (const ResourceAmount& each : room.amounts) {
    if (IsOffered(each.id)) columns_[each.id]->requested[row] += sign * each.amount;
  }
  non_zero_cpu_[row] += sign * room.non_zero_cpu;
  non_zero_memory_[row] += sign * room.non_zero_memory;
  pod_counts_[row] += sign * room.places;
}

}  // namespace koord::scheduler
