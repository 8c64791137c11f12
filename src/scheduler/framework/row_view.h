#pragma once
#include <vector>

#include "scheduler/cluster/node_table.h"
#include "scheduler/cluster/pod_info.h"

namespace koord::scheduler {

// How a node would look if: pods that are to be evicted were gone, pods that are promised the node
// were there, a reservation's room were given back. Most rows are looked at without one.
struct RowDelta {
  std::vector<const PodInfo*> removed;  // pods of this row
  std::vector<const PodInfo*> added;    // their `row` is not set
  ResourceAmounts released;             // further room that this pod may use (negative: may not)

  bool empty() const { return removed.empty() && added.empty() && released.empty(); }
  // Both together. Nobody is removed twice.
  void Add(const RowDelta& more);
};

// One node as a filter sees it.
struct RowView {
  NodeRow row = kNoRow;
  const RowDelta* delta = nullptr;

  // The pods on it: for_each(f) calls f(const PodInfo&).
  template <class F>
  void ForEachPod(const NodeTable& nodes, F f) const;
  // How much of a resource is requested; 0 if no node offers it.
  int64_t Requested(const NodeTable& nodes, ResourceId id) const;
  // The same as scores count it, see NodeTable::non_zero_requested.
  int64_t NonZeroRequested(const NodeTable& nodes, ResourceId id) const;
  int64_t PodCount(const NodeTable& nodes) const;

 private:
  // The delta has pods that reserve or draw from reservations.
  bool ChangesSharing() const;
  SharedRoom SharedRoomIn(const NodeTable& nodes) const;
  // What is charged more since less of it is shared than by the pods of the row.
  template <class Part>
  int64_t NoLongerShared(const NodeTable& nodes, Part part) const;
};

inline void RowDelta::Add(const RowDelta& more) {
  for (const PodInfo* pod : more.removed) {
    if (std::ranges::find(removed, pod) == removed.end()) removed.push_back(pod);
  }
  added.insert(added.end(), more.added.begin(), more.added.end());
  AddTo(released, more.released);
}

template <class F>
void RowView::ForEachPod(const NodeTable& nodes, F f) const {
  for (const PodInfo* pod : nodes.pods(row)) {
    if (delta != nullptr && std::ranges::find(delta->removed, pod) != delta->removed.end()) {
      continue;
    }
    f(*pod);
  }
  if (delta == nullptr) return;
  for (const PodInfo* pod : delta->added) f(*pod);
}

inline int64_t RowView::Requested(const NodeTable& nodes, ResourceId id) const {
  if (!nodes.IsOffered(id)) return 0;
  int64_t amount = nodes.requested(id)[row];
  if (delta == nullptr) return amount;
  for (const PodInfo* pod : delta->removed) amount -= AmountOf(pod->requests(), id);
  for (const PodInfo* pod : delta->added) amount += AmountOf(pod->requests(), id);
  amount +=
      NoLongerShared(nodes, [id](const SharedRoom& room) { return AmountOf(room.amounts, id); });
  return amount - AmountOf(delta->released, id);
}

inline int64_t RowView::NonZeroRequested(const NodeTable& nodes, ResourceId id) const {
  if (id != kCpuId && id != kMemoryId) return Requested(nodes, id);
  int64_t amount = nodes.non_zero_requested(id)[row];
  if (delta == nullptr) return amount;
  const auto of = [id](const auto& pod) {
    return id == kCpuId ? pod.non_zero_cpu() : pod.non_zero_memory();
  };
  for (const PodInfo* pod : delta->removed) amount -= of(*pod);
  for (const PodInfo* pod : delta->added) amount += of(*pod);
  amount += NoLongerShared(nodes, [id](const SharedRoom& room) {
    return id == kCpuId ? room.non_zero_cpu : room.non_zero_memory;
  });
  return amount - AmountOf(delta->released, id);
}

inline int64_t RowView::PodCount(const NodeTable& nodes) const {
  int64_t count = nodes.pod_counts()[row];
  if (delta == nullptr) return count;
  return count - static_cast<int64_t>(delta->removed.size()) +
         static_cast<int64_t>(delta->added.size()) +
         NoLongerShared(nodes, [](const SharedRoom& room) { return room.places; });
}

inline bool RowView::ChangesSharing() const {
  const auto may_share = [](const PodInfo* pod) { return MayShare(*pod); };
  return std::ranges::any_of(delta->removed, may_share) ||
         std::ranges::any_of(delta->added, may_share);
}

inline SharedRoom RowView::SharedRoomIn(const NodeTable& nodes) const {
  std::vector<const PodInfo*> pods;
  if (const NodeTable::Sharing* sharing = nodes.sharing(row)) pods = sharing->pods;
  std::erase_if(pods, [&](const PodInfo* pod) {
    return std::ranges::find(delta->removed, pod) != delta->removed.end();
  });
  pods.insert(pods.end(), delta->added.begin(), delta->added.end());
  return SharedBy(pods);
}

template <class Part>
int64_t RowView::NoLongerShared(const NodeTable& nodes, Part part) const {
  if (!ChangesSharing()) return 0;
  const NodeTable::Sharing* sharing = nodes.sharing(row);
  return (sharing == nullptr ? 0 : part(sharing->room)) - part(SharedRoomIn(nodes));
}

}  // namespace koord::scheduler
