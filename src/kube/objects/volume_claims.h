#pragma once
#include <string_view>

#include "kube/objects/storage.h"

// How claims and volumes stand to each other, as everybody who brings them together sees it.
namespace koord::kube {

inline constexpr std::string_view kStorage = "storage";
inline constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

inline constexpr std::string_view kAnnotationSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kAnnotationBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kAnnotationBoundByController =
    "pv.kubernetes.io/bound-by-controller";

// The name of its storage class; "" if it has none.
std::string_view ClassOf(const PersistentVolumeClaim& claim);
std::string_view ClassOf(const PersistentVolume& volume);

// The claim and its volume agree on each other, as far as the claim is concerned.
bool IsBound(const PersistentVolumeClaim& claim);
// Whether the volume is the claim's, as far as the volume is concerned: one that names the claim
// without its uid is reserved for whatever claim of that name comes.
bool IsBoundTo(const PersistentVolume& volume, const PersistentVolumeClaim& claim);

// What a volume must offer to be of use to the claim.
bool HasRoom(const PersistentVolume& volume, const PersistentVolumeClaim& claim);
bool SameMode(const PersistentVolume& volume, const PersistentVolumeClaim& claim);
bool AllowsAccess(const PersistentVolume& volume, const PersistentVolumeClaim& claim);
bool IsSelected(const PersistentVolume& volume, const PersistentVolumeClaim& claim);

}  // namespace koord::kube
