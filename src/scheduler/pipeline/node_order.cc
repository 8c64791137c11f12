#include "scheduler/pipeline/node_order.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

std::string ZoneOf(const kube::Node& node) {
  const kube::Labels& labels = node.metadata.labels;
  const auto either = [&](std::string_view now, std::string_view before) {
    const std::string_view value = kube::ValueOf(labels, now);
    return std::string(value.empty() ? kube::ValueOf(labels, before) : value);
  };
  return either("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region") +
         '\0' + either("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
}

}  // namespace

NodeOrder::NodeOrder(Ledger& ledger) : nodes_(ledger.nodes()) { ledger.AddListener(*this); }

void NodeOrder::OnNodeAdded(NodeRow row) {
  arrivals_.push_back(row);
  current_ = false;
}

void NodeOrder::OnNodeChanged(NodeRow, const NodeChanges& changes) {
  if (changes.labels) current_ = false;
}

void NodeOrder::OnNodeRemoved(NodeRow row) {
  std::erase(arrivals_, row);
  current_ = false;
}

const std::vector<NodeRow>& NodeOrder::rows() {
  if (!current_) Rebuild();
  return order_;
}

void NodeOrder::Rebuild() {
  std::map<std::string, size_t> zone_ids;
  std::vector<std::vector<NodeRow>> zones;
  for (const NodeRow row : arrivals_) {
    const auto [at, is_new] = zone_ids.try_emplace(ZoneOf(nodes_.node(row)), zones.size());
    if (is_new) zones.emplace_back();
    zones[at->second].push_back(row);
  }
  order_.clear();
  for (size_t i = 0; order_.size() < arrivals_.size(); ++i) {
    for (const auto& zone : zones) {
      if (i < zone.size()) order_.push_back(zone[i]);
    }
  }
  current_ = true;
}

}  // namespace koord::scheduler
