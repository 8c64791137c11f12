#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/pod.h"
#include "kube/objects/storage.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/cluster_objects.h"

// The claims of pods and the volumes behind them, as all plugins about volumes see them.
namespace koord::scheduler {

inline constexpr std::string_view kAnnotationSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kAnnotationBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kAnnotationBoundByController =
    "pv.kubernetes.io/bound-by-controller";

struct PodClaim {
  kube::ObjectKey key;
  bool ephemeral = false;  // named after the pod and its volume, made for this pod alone

  bool operator==(const PodClaim&) const = default;
};

// In the order of the pod's volumes.
std::vector<PodClaim> ClaimsOf(const kube::Pod& pod);

// Whether a claim was made for a pod of this name.
bool IsMadeFor(const kube::PersistentVolumeClaim& claim, const kube::Pod& pod);
// Whether it was made for this very pod, not for an earlier one of the same name.
bool IsMadeForExactly(const kube::PersistentVolumeClaim& claim, const kube::Pod& pod);
std::string NotMadeForText(const kube::ObjectKey& claim, const kube::Pod& pod);

// The claim and its volume agree on each other.
bool IsBound(const kube::PersistentVolumeClaim& claim);
// The volume of a bound claim; null if it is not bound or the volume does not exist.
const kube::PersistentVolume* VolumeOf(const kube::PersistentVolumeClaim& claim,
                                       const ClusterObjects& objects);

// The name of its storage class; "" if it has none.
std::string_view ClassOf(const kube::PersistentVolumeClaim& claim);
std::string_view ClassOf(const kube::PersistentVolume& volume);
// Whether the claim stays unbound until a pod that uses it has a node.
bool WaitsForPod(const kube::PersistentVolumeClaim& claim, const ClusterObjects& objects);

// The kinds of events that may cure what a plugin about volumes rejects.
bool MayFreeVolumes(EventKind kind);

}  // namespace koord::scheduler
