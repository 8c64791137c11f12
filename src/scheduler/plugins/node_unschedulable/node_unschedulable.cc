#include "scheduler/plugins/node_unschedulable/node_unschedulable.h"

#include "base/hot.h"

namespace koord::scheduler {
namespace {

struct ToleratesState final : PluginState {
  bool tolerates = false;
};

bool ToleratesCordons(const kube::PodSpec& pod) {
  kube::Taint cordoned;
  cordoned.key = kube::kTaintNodeUnschedulable;
  cordoned.effect = kube::kNoSchedule;
  return kube::Tolerates(pod.tolerations, cordoned);
}

KOORD_HOT void DropCordoned(const uint8_t* unschedulable, size_t n, uint8_t* keep) {
  for (size_t i = 0; i < n; ++i) keep[i] &= unschedulable[i] ^ 1;
}

}  // namespace

std::unique_ptr<PluginState> NodeUnschedulable::Compile(const PodShape& shape) {
  auto state = std::make_unique<ToleratesState>();
  state->tolerates = ToleratesCordons(shape.spec());
  return state;
}

bool NodeUnschedulable::Tolerates(const PodQuery& query) const {
  return query.state<ToleratesState>(slot()).tolerates;
}

void NodeUnschedulable::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  if (Tolerates(query)) return;
  DropCordoned(query.nodes().unschedulable() + rows.begin, rows.size(), keep);
}

RowVerdict NodeUnschedulable::Check(const PodQuery& query, const RowView& row) {
  if (query.nodes().unschedulable()[row.row] == 0 || Tolerates(query)) return {};
  return RowVerdict::Unresolvable(reason_);
}

bool NodeUnschedulable::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  switch (event.kind) {
    case EventKind::kForced:
      return true;
    case EventKind::kNodeAdded:
      return event.node_after == nullptr || !event.node_after->spec.unschedulable;
    case EventKind::kNodeUpdated:
      return event.node_changes.unschedulable &&
             (event.node_after == nullptr || !event.node_after->spec.unschedulable);
    case EventKind::kPodUpdated:
      return ToleratesCordons(event.pod_after == nullptr ? rejected.spec : event.pod_after->spec);
    default:
      return false;
  }
}

}  // namespace koord::scheduler
