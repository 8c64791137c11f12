#include "scheduler/pipeline/nominated_rows.h"

#include <algorithm>

namespace koord::scheduler {

void NominatedRows::Set(std::string_view node,
                        std::span<const std::shared_ptr<const kube::Pod>> pods) {
  const auto row = ledger_.nodes().Find(node);
  if (const auto known = by_node_.find(node); known != by_node_.end()) {
    for (const auto& pod : known->second->pods) {
      const auto at = node_of_.find(pod->uid());
      if (at != node_of_.end() && at->second == node) node_of_.erase(at);
    }
    if (row) Place(*row, nullptr);
    by_node_.erase(known);
  }
  if (!pods.empty()) {
    const auto& promises = by_node_[node] = MakePromises(node, pods);
    if (row) Place(*row, promises.get());
  }
  if (row) ledger_.nodes().Touch(*row);
}

std::unique_ptr<NominatedRows::Promises> NominatedRows::MakePromises(
    std::string_view node, std::span<const std::shared_ptr<const kube::Pod>> pods) {
  auto made = std::make_unique<Promises>();
  for (const auto& pod : pods) {
    auto info = std::make_unique<PodInfo>();
    info->shape = ledger_.shapes().Of(pod);
    info->pod = pod;
    node_of_.insert_or_assign(info->uid(), std::string(node));
    made->pods.push_back(std::move(info));
  }
  std::ranges::stable_sort(made->pods, std::greater<>(),
                           [](const auto& pod) { return pod->shape->priority; });
  RowDelta delta;
  for (const auto& pod : made->pods) {
    delta.added.push_back(pod.get());
    const int32_t priority = pod->shape->priority;
    if (made->looks.empty() || made->looks.back().priority != priority) {
      made->looks.push_back({priority, {}});
    }
    made->looks.back().delta = delta;
  }
  return made;
}

void NominatedRows::Place(NodeRow row, const Promises* promises) {
  if (row >= by_row_.size()) by_row_.resize(row + 1, nullptr);
  if ((promises != nullptr) != (by_row_[row] != nullptr)) {
    if (promises != nullptr) {
      rows_.push_back(row);
    } else {
      std::erase(rows_, row);
    }
  }
  by_row_[row] = promises;
}

void NominatedRows::OnNodeAdded(NodeRow row) {
  const auto found = by_node_.find(ledger_.nodes().name(row));
  if (found != by_node_.end()) Place(row, found->second.get());
}

void NominatedRows::OnNodeRemoved(NodeRow row) {
  if (Has(row)) Place(row, nullptr);
}

const std::string& NominatedRows::NodeOf(std::string_view uid) const {
  static const std::string kNowhere;
  const auto found = node_of_.find(uid);
  return found == node_of_.end() ? kNowhere : found->second;
}

const RowDelta* NominatedRows::DeltaAt(NodeRow row, int32_t priority) const {
  if (!Has(row)) return nullptr;
  const RowDelta* delta = nullptr;
  for (const Promises::Look& look : by_row_[row]->looks) {
    if (look.priority < priority) break;
    delta = &look.delta;
  }
  return delta;
}

std::vector<const PodInfo*> NominatedRows::On(NodeRow row, int32_t priority,
                                              std::string_view except_uid) const {
  std::vector<const PodInfo*> pods;
  if (const RowDelta* delta = DeltaAt(row, priority)) pods = delta->added;
  std::erase_if(pods, [&](const PodInfo* pod) { return pod->uid() == except_uid; });
  return pods;
}

}  // namespace koord::scheduler
