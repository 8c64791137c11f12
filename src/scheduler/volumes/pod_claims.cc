#include "scheduler/volumes/pod_claims.h"

#include <fmt/format.h>

namespace koord::scheduler {
namespace {

const kube::OwnerReference* OwningPod(const kube::PersistentVolumeClaim& claim) {
  const kube::OwnerReference* owner = ControllerOf(claim.metadata);
  return owner != nullptr && owner->kind == "Pod" ? owner : nullptr;
}

}  // namespace

std::vector<PodClaim> ClaimsOf(const kube::Pod& pod) {
  std::vector<PodClaim> claims;
  const kube::ObjectMeta& meta = pod.metadata;
  for (const kube::Volume& volume : pod.spec.volumes) {
    if (volume.persistent_volume_claim) {
      claims.push_back({{meta.ns, volume.persistent_volume_claim->claim_name}});
    } else if (volume.ephemeral) {
      claims.push_back({{meta.ns, fmt::format("{}-{}", meta.name, volume.name)}, true});
    }
  }
  return claims;
}

bool IsMadeFor(const kube::PersistentVolumeClaim& claim, const kube::Pod& pod) {
  const kube::OwnerReference* owner = OwningPod(claim);
  return owner != nullptr && owner->name == pod.metadata.name;
}

bool IsMadeForExactly(const kube::PersistentVolumeClaim& claim, const kube::Pod& pod) {
  return IsMadeFor(claim, pod) && OwningPod(claim)->uid == pod.metadata.uid;
}

std::string NotMadeForText(const kube::ObjectKey& claim, const kube::Pod& pod) {
  return fmt::format("PVC {} was not created for pod {} (pod is not owner)", claim.ToString(),
                     KeyOf(pod.metadata).ToString());
}

const kube::PersistentVolume* VolumeOf(const kube::PersistentVolumeClaim& claim,
                                       const ClusterObjects& objects) {
  return IsBound(claim) ? objects.persistent_volumes.Find(claim.spec.volume_name) : nullptr;
}

bool WaitsForPod(const kube::PersistentVolumeClaim& claim, const ClusterObjects& objects) {
  const kube::StorageClass* storage_class = objects.storage_classes.Find(ClassOf(claim));
  return storage_class != nullptr && storage_class->volume_binding_mode == "WaitForFirstConsumer";
}

bool MayFreeVolumes(EventKind kind) {
  switch (kind) {
    case EventKind::kVolumeChanged:
    case EventKind::kAssignedPodRemoved:
    case EventKind::kNodeAdded:
    case EventKind::kNodeUpdated:
    case EventKind::kPodUpdated:
      return true;
    default:
      return false;
  }
}

}  // namespace koord::scheduler
