#include "kube/objects/volume_claims.h"

#include <algorithm>

#include "kube/selectors.h"

namespace koord::kube {
namespace {

// Where the class stood before it became a field; it still counts first.
constexpr std::string_view kAnnotationStorageClass = "volume.beta.kubernetes.io/storage-class";

std::string_view ModeOf(const std::string& text) {
  return text.empty() ? "Filesystem" : std::string_view(text);
}

}  // namespace

std::string_view ClassOf(const PersistentVolumeClaim& claim) {
  if (const auto* said = FindValue(claim.metadata.annotations, kAnnotationStorageClass)) {
    return *said;
  }
  return claim.spec.storage_class_name ? std::string_view(*claim.spec.storage_class_name) : "";
}

std::string_view ClassOf(const PersistentVolume& volume) {
  if (const auto* said = FindValue(volume.metadata.annotations, kAnnotationStorageClass)) {
    return *said;
  }
  return volume.spec.storage_class_name;
}

bool IsBound(const PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() &&
         (claim.status.phase == "Bound" ||
          claim.metadata.annotations.contains(kAnnotationBindCompleted));
}

bool IsBoundTo(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  const auto& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name &&
         reference->ns == claim.metadata.ns &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

bool HasRoom(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return AmountOf(volume.spec.capacity, kStorage) >=
         AmountOf(claim.spec.resources.requests, kStorage);
}

bool SameMode(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return ModeOf(volume.spec.volume_mode) == ModeOf(claim.spec.volume_mode);
}

bool AllowsAccess(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return std::ranges::all_of(claim.spec.access_modes, [&](const std::string& mode) {
    return std::ranges::find(volume.spec.access_modes, mode) != volume.spec.access_modes.end();
  });
}

bool IsSelected(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  if (!claim.spec.selector) return true;
  const auto selector = LabelMatcher::From(*claim.spec.selector);
  return selector.ok() && selector->Matches(volume.metadata.labels);
}

}  // namespace koord::kube
