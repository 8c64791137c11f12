#include "localcluster/controllers/volumes/volume_plan.h"

#include <string_view>
#include <utility>

#include "kube/objects/volume_claims.h"
#include "kube/resources.h"

namespace koord::localcluster {
namespace {

using kube::Json;
using kube::PersistentVolume;

constexpr std::string_view kAnnotationProvisionedBy = "pv.kubernetes.io/provisioned-by";

void SetPhase(const PersistentVolume& volume, std::string_view phase, kube::Plan& plan) {
  kube::PersistentVolumeStatus status = volume.status;
  status.phase = phase;
  plan.Add(PinnedStatusPatch(kube::kPersistentVolumes, volume.metadata, kube::Encode(volume.status),
                             kube::Encode(status)));
}

void DeleteVolume(const PersistentVolume& volume, kube::Plan& plan) {
  if (!IsBeingDeleted(volume.metadata)) plan.Add(Delete(kube::kPersistentVolumes, volume.metadata));
}

// What a person has written stays: their reservation is for whatever claim of that name comes.
void Free(const PersistentVolume& volume, kube::Plan& plan) {
  Json patch{{"spec", {{"claimRef", nullptr}}}};
  if (volume.metadata.annotations.contains(kube::kAnnotationBoundByController)) {
    kube::At(patch, {"metadata", "annotations", kube::kAnnotationBoundByController}) = nullptr;
  } else {
    patch = {{"spec", {{"claimRef", {{"uid", nullptr}, {"resourceVersion", nullptr}}}}}};
  }
  plan.Add(PinnedPatch(kube::kPersistentVolumes, volume.metadata, std::move(patch)));
}

void Reclaim(const PersistentVolume& volume, kube::Plan& plan) {
  SetPhase(volume, "Released", plan);
  if (volume.spec.reclaim_policy == "Delete") return DeleteVolume(volume, plan);
  if (volume.spec.reclaim_policy == "Recycle" && plan.writes.empty()) Free(volume, plan);
}

void FollowClaim(const PersistentVolume& volume, const kube::PersistentVolumeClaim& claim,
                 kube::Plan& plan) {
  if (claim.spec.volume_name.empty()) return;  // the claim is about to take it
  if (claim.spec.volume_name == volume.metadata.name) return SetPhase(volume, "Bound", plan);
  const bool made_for_it = volume.metadata.annotations.contains(kAnnotationProvisionedBy) &&
                           volume.spec.reclaim_policy == "Delete";
  if (made_for_it) return DeleteVolume(volume, plan);
  Free(volume, plan);
}

bool IsHeld(const PersistentVolume& volume) {
  return volume.spec.claim_ref && !volume.spec.claim_ref->uid.empty();
}

bool ClaimIsKnown(const VolumeInput& input) {
  return input.claim != nullptr && input.claim->metadata.uid == input.volume.spec.claim_ref->uid;
}

}  // namespace

bool NeedsToKnowTheClaim(const VolumeInput& input) {
  return IsHeld(input.volume) && !ClaimIsKnown(input) && !input.claim_gone;
}

void PlanVolume(const VolumeInput& input, kube::Plan& plan) {
  if (NeedsToKnowTheClaim(input)) return;
  if (!IsHeld(input.volume)) {
    SetPhase(input.volume, "Available", plan);
  } else if (ClaimIsKnown(input)) {
    FollowClaim(input.volume, *input.claim, plan);
  } else {
    Reclaim(input.volume, plan);
  }
}

}  // namespace koord::localcluster
