#include "scheduler/pipeline/nominated_rows.h"

namespace koord::scheduler {

void NominatedRows::Set(std::string_view node,
                        std::span<const std::shared_ptr<const kube::Pod>> pods) {
  if (const auto known = by_node_.find(node); known != by_node_.end()) {
    for (const auto& pod : known->second) {
      const auto at = node_of_.find(pod->uid());
      if (at != node_of_.end() && at->second == node) node_of_.erase(at);
    }
    by_node_.erase(known);
  }
  if (!pods.empty()) {
    Pods& promised = by_node_[node];
    for (const auto& pod : pods) {
      auto info = std::make_unique<PodInfo>();
      info->shape = ledger_.shapes().Of(pod);
      info->pod = pod;
      node_of_.insert_or_assign(info->uid(), std::string(node));
      promised.push_back(std::move(info));
    }
  }
  if (const auto row = ledger_.nodes().Find(node)) ledger_.nodes().Touch(*row);
}

const std::string& NominatedRows::NodeOf(std::string_view uid) const {
  static const std::string kNowhere;
  const auto found = node_of_.find(uid);
  return found == node_of_.end() ? kNowhere : found->second;
}

const NominatedRows::Pods& NominatedRows::On(std::string_view node) const {
  static const Pods kNone;
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? kNone : found->second;
}

std::vector<const PodInfo*> NominatedRows::On(std::string_view node, int32_t priority,
                                              std::string_view except_uid) const {
  std::vector<const PodInfo*> pods;
  for (const auto& pod : On(node)) {
    if (pod->shape->priority >= priority && pod->uid() != except_uid) pods.push_back(pod.get());
  }
  return pods;
}

}  // namespace koord::scheduler
