#include "scheduler/plugins/reservation/neighbours.h"

#include <algorithm>

#include "api/keys.h"
#include "api/reservation_annotations.h"

namespace koord::scheduler {

Neighbours::Neighbours(const NodeTable& nodes, const Offers& offers, Reasons& reasons)
    : nodes_(nodes),
      offers_(offers),
      other_policy_(reasons.Intern("node(s) reservation allocate policy conflict")),
      other_node_(reasons.Intern("node(s) didn't match the nodeName specified by reservation")) {}

Neighbours::Asks Neighbours::Of(const PodShape& shape) {
  const kube::Pod& sample = *shape.sample;
  if (IsReservePod(sample)) {
    const kube::Annotations& annotations = sample.metadata.annotations;
    return {.any = true,
            .has_default_policy = kube::ValueOf(annotations, api::kAnnotationReservePolicy).empty(),
            .node = kube::ValueOf(annotations, api::kAnnotationReservationNode)};
  }
  return {.any = api::IsInReservationMode(shape.labels())};
}

bool Neighbours::Conflicts(const Asks& asks, std::span<const Offer* const> offers) const {
  return std::ranges::any_of(offers, [&](const Offer* offer) {
    return (offer->terms.policy == model::AllocatePolicy::kDefault) != asks.has_default_policy;
  });
}

void Neighbours::Filter(const Asks& asks, RowRange rows, uint8_t* keep) const {
  if (!asks.any) return;
  const auto drop = [&](NodeRow row) {
    if (row >= rows.begin && row < rows.end) keep[row - rows.begin] = 0;
  };
  if (rows.size() == 1) {
    if (Conflicts(asks, offers_.On(rows.begin))) drop(rows.begin);
  } else {
    offers_.ForEachRow([&](NodeRow row, std::span<const Offer* const> offers) {
      if (Conflicts(asks, offers)) drop(row);
    });
  }
  if (asks.node.empty()) return;
  const auto wanted = nodes_.Find(asks.node);
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    if (row != wanted) drop(row);
  }
}

RowVerdict Neighbours::Check(const Asks& asks, NodeRow row) const {
  if (!asks.any) return {};
  if (!asks.node.empty() && nodes_.name(row) != asks.node) {
    return RowVerdict::Unresolvable(other_node_);
  }
  if (Conflicts(asks, offers_.On(row))) return RowVerdict::Unresolvable(other_policy_);
  return {};
}

}  // namespace koord::scheduler
