#pragma once
#include <memory>
#include <string_view>

#include "api/reservation.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "scheduler/cluster/node_table.h"

namespace koord::scheduler {

// Something changed in the cluster that may let a rejected pod fit.
enum class EventKind : uint8_t {
  kNodeAdded,
  kNodeUpdated,  // `node_changes` says what
  kNodeRemoved,
  kAssignedPodAdded,    // a pod was bound, or seen on a node for the first time
  kAssignedPodUpdated,  // its labels, resources or deletion changed
  kAssignedPodRemoved,  // also: an assumed pod was taken back, a nominated one went away
  kPodUpdated,          // the rejected pod itself
  kNamespaceChanged,
  kServiceChanged,
  kVolumeChanged,  // claims, volumes, classes, CSI objects
  kNodeMetricChanged,
  kReservationChanged,
  kPodGroupChanged,
  kElasticQuotaChanged,
  kDeviceChanged,
  kNodeTopologyChanged,
  kForced,  // the periodic flush, a plugin's explicit wake-up: cures everything
};
inline constexpr size_t kEventKinds = static_cast<size_t>(EventKind::kForced) + 1;
std::string_view ToString(EventKind kind);  // as the metric queue_incoming_pods_total says it

struct ClusterEvent {
  EventKind kind = EventKind::kForced;
  std::shared_ptr<const kube::Node> node_before, node_after;  // node events
  NodeChanges node_changes = {};
  std::shared_ptr<const kube::Pod> pod_before, pod_after;                         // pod events
  std::shared_ptr<const api::Reservation> reservation_before, reservation_after;  // of reservations
};

}  // namespace koord::scheduler
