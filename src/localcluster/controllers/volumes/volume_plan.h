#pragma once
#include <memory>

#include "kube/controller/plan.h"
#include "kube/objects/storage.h"

namespace koord::localcluster {

using ClaimPtr = std::shared_ptr<const kube::PersistentVolumeClaim>;

struct VolumeInput {
  const kube::PersistentVolume& volume;
  ClaimPtr claim;           // of the name that claimRef says; null if none is known
  bool claim_gone = false;  // the very claim that claimRef refers to certainly exists no more
};

// Says what a volume is good for, and gets rid of it when it is not needed any more.
//
// A volume that belongs to nobody is Available, one whose claim has accepted it Bound, one whose
// claim is gone Released. What happens to a released one is its reclaim policy: it is deleted, made
// available again (Recycle), or kept as it is. A volume whose claim has taken another one is free
// again, or deleted if it was made for that claim.
void PlanVolume(const VolumeInput& input, kube::Plan& plan);

// Whether it must be found out if the claim still exists before anything can be decided.
bool NeedsToKnowTheClaim(const VolumeInput& input);

}  // namespace koord::localcluster
