#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kube/controller/plan.h"
#include "kube/objects/storage.h"

namespace koord::localcluster {

using VolumePtr = std::shared_ptr<const kube::PersistentVolume>;
using VolumeList = std::vector<VolumePtr>;
using StorageClassPtr = std::shared_ptr<const kube::StorageClass>;

struct ClaimInput {
  const kube::PersistentVolumeClaim& claim;
  VolumePtr named;                // by spec.volumeName; null if there is none of that name
  VolumeList reserved;            // whose claimRef names the claim
  VolumeList unclaimed;           // without claimRef, of the claim's class
  StorageClassPtr storage_class;  // null if it does not exist
  std::string default_class;      // its name, if there is one
};

// Brings a claim together with a volume.
//
// A claim that names its volume gets that one or waits for it. Another one gets the volume that was
// reserved for it. If there is none and the class does not wait for a pod, it gets the available
// volume that fits best: with the fewest access modes beyond those asked for, then the smallest.
// Otherwise its class makes one, for a class that waits for a pod only once the pod has a node.
//
// Binding goes in steps, each in a plan of its own that rests on having seen the one before: the
// volume refers to the claim, the claim to the volume, the claim's status says so. The first step
// is where two claims compete: it fails if the volume has changed meanwhile. A claim that was bound
// and whose volume has vanished is lost.
void PlanClaim(const ClaimInput& input, kube::Plan& plan);

}  // namespace koord::localcluster
