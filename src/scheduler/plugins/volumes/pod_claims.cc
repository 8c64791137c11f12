#include "scheduler/plugins/volumes/pod_claims.h"

#include <fmt/format.h>

namespace koord::scheduler {
namespace {

// Where the class stood before it became a field; it still counts first.
constexpr std::string_view kAnnotationStorageClass = "volume.beta.kubernetes.io/storage-class";

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

bool IsBound(const kube::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() &&
         (claim.status.phase == "Bound" ||
          claim.metadata.annotations.contains(kAnnotationBindCompleted));
}

const kube::PersistentVolume* VolumeOf(const kube::PersistentVolumeClaim& claim,
                                       const ClusterObjects& objects) {
  return IsBound(claim) ? objects.persistent_volumes.Find(claim.spec.volume_name) : nullptr;
}

std::string_view ClassOf(const kube::PersistentVolumeClaim& claim) {
  if (const auto* said = kube::FindValue(claim.metadata.annotations, kAnnotationStorageClass)) {
    return *said;
  }
  return claim.spec.storage_class_name ? std::string_view(*claim.spec.storage_class_name) : "";
}

std::string_view ClassOf(const kube::PersistentVolume& volume) {
  if (const auto* said = kube::FindValue(volume.metadata.annotations, kAnnotationStorageClass)) {
    return *said;
  }
  return volume.spec.storage_class_name;
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
