#include "scheduler/framework/cluster_event.h"

namespace koord::scheduler {

std::string_view ToString(EventKind kind) {
  switch (kind) {
    case EventKind::kNodeAdded:
      return "NodeAdd";
    case EventKind::kNodeUpdated:
      return "NodeUpdate";
    case EventKind::kNodeRemoved:
      return "NodeDelete";
    case EventKind::kAssignedPodAdded:
      return "AssignedPodAdd";
    case EventKind::kAssignedPodUpdated:
      return "AssignedPodUpdate";
    case EventKind::kAssignedPodRemoved:
      return "AssignedPodDelete";
    case EventKind::kPodUpdated:
      return "PodUpdate";
    case EventKind::kNamespaceChanged:
      return "NamespaceUpdate";
    case EventKind::kServiceChanged:
      return "ServiceUpdate";
    case EventKind::kVolumeChanged:
      return "PersistentVolumeUpdate";
    case EventKind::kNodeMetricChanged:
      return "NodeMetricUpdate";
    case EventKind::kReservationChanged:
      return "ReservationUpdate";
    case EventKind::kPodGroupChanged:
      return "PodGroupUpdate";
    case EventKind::kElasticQuotaChanged:
      return "ElasticQuotaUpdate";
    case EventKind::kDeviceChanged:
      return "DeviceUpdate";
    case EventKind::kNodeTopologyChanged:
      return "NodeResourceTopologyUpdate";
    case EventKind::kForced:
      return "ForceActivate";
  }
  return "Unknown";
}

}  // namespace koord::scheduler
