#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/pod.h"
#include "kube/objects/volume_claims.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/cluster_objects.h"

// The claims of pods and the volumes behind them, as all plugins about volumes see them.
namespace koord::scheduler {

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

// The volume of a bound claim; null if it is not bound or the volume does not exist.
const kube::PersistentVolume* VolumeOf(const kube::PersistentVolumeClaim& claim,
                                       const ClusterObjects& objects);

// Whether the claim stays unbound until a pod that uses it has a node.
bool WaitsForPod(const kube::PersistentVolumeClaim& claim, const ClusterObjects& objects);

// The kinds of events that may cure what a plugin about volumes rejects.
bool MayFreeVolumes(EventKind kind);

}  // namespace koord::scheduler
