#include "localcluster/controllers/volumes/claim_plan.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "kube/objects/volume_claims.h"
#include "kube/resources.h"

namespace koord::localcluster {
namespace {

using kube::Json;
using kube::PersistentVolume;
using kube::PersistentVolumeClaim;

constexpr std::string_view kAnnotationProvisioner = "volume.kubernetes.io/storage-provisioner";
constexpr std::string_view kAnnotationProvisionerOld =
    "volume.beta.kubernetes.io/storage-provisioner";
constexpr std::string_view kVolumeDirectory = "/var/lib/koordinator/volumes/";

Json ReferenceTo(const PersistentVolumeClaim& claim) {
  return {{"apiVersion", kube::kPersistentVolumeClaims.api_version()},
          {"kind", kube::kPersistentVolumeClaims.kind},
          {"namespace", claim.metadata.ns},
          {"name", claim.metadata.name},
          {"uid", claim.metadata.uid},
          {"resourceVersion", claim.metadata.resource_version}};
}

// Why a volume that the claim asks for by name cannot be its; "" if it can.
std::string_view MismatchOf(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  if (!HasRoom(volume, claim)) return "requested PV is too small";
  if (ClassOf(volume) != ClassOf(claim)) return "storageClassName does not match";
  if (!SameMode(volume, claim)) return "incompatible volumeMode";
  if (!AllowsAccess(volume, claim)) return "incompatible accessMode";
  return "";
}

Json NewVolume(const PersistentVolumeClaim& claim, const kube::StorageClass& storage_class,
               const std::string& name) {
  PersistentVolume volume;
  volume.metadata.name = name;
  volume.metadata.annotations["pv.kubernetes.io/provisioned-by"] = storage_class.provisioner;
  volume.spec.capacity[std::string(kube::kStorage)] =
      AmountOf(claim.spec.resources.requests, kube::kStorage);
  volume.spec.access_modes = claim.spec.access_modes;
  volume.spec.reclaim_policy = storage_class.reclaim_policy;
  volume.spec.storage_class_name = storage_class.metadata.name;
  volume.spec.volume_mode = claim.spec.volume_mode;
  Json object = kube::Encode(volume);
  kube::At(object, {"spec", "claimRef"}) = ReferenceTo(claim);
  kube::At(object, {"spec", "hostPath"}) = {{"path", fmt::format("{}{}", kVolumeDirectory, name)},
                                            {"type", "DirectoryOrCreate"}};
  return object;
}

class ClaimPlanner {
 public:
  ClaimPlanner(const ClaimInput& input, kube::Plan& plan)
      : input_(input), claim_(input.claim), plan_(plan) {}

  void Run() {
    if (claim_.metadata.annotations.contains(kube::kAnnotationBindCompleted)) return KeepBound();
    if (IsBeingDeleted(claim_.metadata)) return;
    if (!claim_.spec.volume_name.empty()) return TakeNamed();
    if (const PersistentVolume* volume = FindVolume()) return Bind(*volume);
    MakeVolume();
  }

 private:
  bool WaitsForPod() const {
    return input_.storage_class != nullptr &&
           input_.storage_class->volume_binding_mode == "WaitForFirstConsumer";
  }
  bool HasNode() const {
    return !kube::ValueOf(claim_.metadata.annotations, kube::kAnnotationSelectedNode).empty();
  }

  void KeepBound() {
    const PersistentVolume* volume = input_.named.get();
    if (claim_.spec.volume_name.empty()) {
      return Lose(
          "ClaimLost",
          "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
    }
    if (volume == nullptr) {
      return Lose("ClaimLost",
                  "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    }
    if (volume->spec.claim_ref && !IsBoundTo(*volume, claim_)) {
      return Lose("ClaimMisbound",
                  "Two claims are bound to the same volume, this one is bound incorrectly");
    }
    Bind(*volume);
  }

  void TakeNamed() {
    const PersistentVolume* volume = input_.named.get();
    if (volume == nullptr) return;
    if (!volume->spec.claim_ref) {
      const std::string_view mismatch = MismatchOf(*volume, claim_);
      if (mismatch.empty()) return Bind(*volume);
      Warn("VolumeMismatch", fmt::format("Cannot bind to requested volume \"{}\": {}",
                                         volume->metadata.name, mismatch));
    } else if (IsBoundTo(*volume, claim_)) {
      Bind(*volume);
    } else {
      Warn("FailedBinding",
           fmt::format("volume \"{}\" already bound to a different claim.", volume->metadata.name));
    }
  }

  const PersistentVolume* FindVolume() const {
    for (const VolumePtr& each : input_.reserved) {
      const PersistentVolume& volume = *each;
      if (IsBoundTo(volume, claim_) && IsUsable(volume)) return &volume;
    }
    // Where the pod goes decides the volume, and who decides both writes it down as the reference.
    if (WaitsForPod()) return nullptr;
    const PersistentVolume* best = nullptr;
    const auto order = [](const PersistentVolume& volume) {
      return std::make_tuple(volume.spec.access_modes.size(),
                             AmountOf(volume.spec.capacity, kube::kStorage));
    };
    for (const VolumePtr& each : input_.unclaimed) {
      const PersistentVolume& volume = *each;
      if (volume.status.phase != "Available" || ClassOf(volume) != ClassOf(claim_) ||
          !IsUsable(volume) || !IsSelected(volume, claim_)) {
        continue;
      }
      if (best == nullptr || order(volume) < order(*best)) best = &volume;
    }
    return best;
  }

  bool IsUsable(const PersistentVolume& volume) const {
    return !IsBeingDeleted(volume.metadata) && HasRoom(volume, claim_) &&
           SameMode(volume, claim_) && AllowsAccess(volume, claim_);
  }

  void Bind(const PersistentVolume& volume) {
    const auto& reference = volume.spec.claim_ref;
    if (!reference || reference->uid.empty()) return ReferFrom(volume);
    if (claim_.spec.volume_name.empty() ||
        !claim_.metadata.annotations.contains(kube::kAnnotationBindCompleted)) {
      return ReferTo(volume);
    }
    kube::PersistentVolumeClaimStatus status = claim_.status;
    status.phase = "Bound";
    status.access_modes = volume.spec.access_modes;
    status.capacity = volume.spec.capacity;
    SetStatus(status);
  }

  void ReferFrom(const PersistentVolume& volume) {
    Json patch{{"spec", {{"claimRef", ReferenceTo(claim_)}}}};
    if (!volume.spec.claim_ref) {
      kube::At(patch, {"metadata", "annotations", kube::kAnnotationBoundByController}) = "yes";
    }
    plan_.Add(PinnedPatch(kube::kPersistentVolumes, volume.metadata, std::move(patch)));
  }

  void ReferTo(const PersistentVolume& volume) {
    Json patch{{"metadata", {{"annotations", {{kube::kAnnotationBindCompleted, "yes"}}}}}};
    if (claim_.spec.volume_name.empty()) {
      kube::At(patch, {"metadata", "annotations", kube::kAnnotationBoundByController}) = "yes";
      kube::At(patch, {"spec", "volumeName"}) = volume.metadata.name;
    }
    plan_.Add(PinnedPatch(kube::kPersistentVolumeClaims, claim_.metadata, std::move(patch)));
  }

  void MakeVolume() {
    const std::string class_name(ClassOf(claim_));
    if (class_name.empty()) return TakeDefaultClass();
    if (WaitsForPod() && !HasNode()) {
      return Tell("WaitForFirstConsumer",
                  "waiting for first consumer to be created before binding");
    }
    if (input_.storage_class == nullptr) {
      return Warn("ProvisioningFailed",
                  fmt::format("storageclass.storage.k8s.io \"{}\" not found", class_name));
    }
    const std::string& provisioner = input_.storage_class->provisioner;
    if (provisioner == kube::kNoProvisioner) {
      return Warn("ProvisioningFailed",
                  fmt::format("no volume plugin matched name: {}", provisioner));
    }
    if (claim_.spec.selector) {
      return Warn("ProvisioningFailed",
                  fmt::format("failed to provision volume with StorageClass \"{}\": claim Selector "
                              "is not supported",
                              class_name));
    }
    Provision(provisioner);
  }

  // A claim that did not say "no class" takes the default class also when that came later.
  void TakeDefaultClass() {
    if (claim_.spec.storage_class_name || input_.default_class.empty()) {
      return Tell("FailedBinding",
                  "no persistent volumes available for this claim and no storage class is set");
    }
    plan_.Add(PinnedPatch(kube::kPersistentVolumeClaims, claim_.metadata,
                          {{"spec", {{"storageClassName", input_.default_class}}}}));
  }

  void Provision(const std::string& provisioner) {
    if (kube::ValueOf(claim_.metadata.annotations, kAnnotationProvisioner) != provisioner) {
      plan_.Add(PinnedPatch(kube::kPersistentVolumeClaims, claim_.metadata,
                            {{"metadata",
                              {{"annotations",
                                {{kAnnotationProvisioner, provisioner},
                                 {kAnnotationProvisionerOld, provisioner}}}}}}));
    }
    const std::string name = "pvc-" + claim_.metadata.uid;
    plan_.Add(CreateUnlessThere(kube::kPersistentVolumes,
                                NewVolume(claim_, *input_.storage_class, name)));
    Tell("ProvisioningSucceeded", fmt::format("Successfully provisioned volume {}", name));
  }

  void Lose(std::string_view reason, std::string message) {
    kube::PersistentVolumeClaimStatus status;
    status.phase = "Lost";
    if (SetStatus(status)) Warn(reason, std::move(message));
  }

  bool SetStatus(const kube::PersistentVolumeClaimStatus& status) {
    if (status == claim_.status) return false;
    plan_.Add(PinnedStatusPatch(kube::kPersistentVolumeClaims, claim_.metadata,
                                kube::Encode(claim_.status), kube::Encode(status)));
    return true;
  }

  void Tell(std::string_view reason, std::string message) {
    plan_.Tell(kube::kPersistentVolumeClaims, claim_.metadata, reason, std::move(message));
  }
  void Warn(std::string_view reason, std::string message) {
    plan_.Warn(kube::kPersistentVolumeClaims, claim_.metadata, reason, std::move(message));
  }

  const ClaimInput& input_;
  const PersistentVolumeClaim& claim_;
  kube::Plan& plan_;
};

}  // namespace

void PlanClaim(const ClaimInput& input, kube::Plan& plan) { ClaimPlanner(input, plan).Run(); }

}  // namespace koord::localcluster
