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
};

// One node as a filter sees it.
struct RowView {
  NodeRow row = kNoRow;
  const RowDelta* delta = nullptr;

  // The pods on it: for_each(f) calls f(const PodInfo&).
  template <class F>
  void ForEachPod(const NodeTable& nodes, F f) const;
  // How much of a resource is requested.
  int64_t Requested(const NodeTable& nodes, ResourceId id) const;
  int64_t PodCount(const NodeTable& nodes) const;
};

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
  int64_t amount = nodes.requested(id)[row];
  if (delta == nullptr) return amount;
  for (const PodInfo* pod : delta->removed) amount -= AmountOf(pod->requests(), id);
  for (const PodInfo* pod : delta->added) amount += AmountOf(pod->requests(), id);
  return amount - AmountOf(delta->released, id);
}

inline int64_t RowView::PodCount(const NodeTable& nodes) const {
  int64_t count = nodes.pod_counts()[row];
  if (delta == nullptr) return count;
  return count - static_cast<int64_t>(delta->removed.size()) +
         static_cast<int64_t>(delta->added.size());
}

}  // namespace koord::scheduler
