#pragma once
#include "base/clock.h"
#include "kube/objects/workloads.h"
#include "localcluster/controllers/deployment/replica_math.h"

namespace koord::localcluster {

struct RolloutState {
  const kube::Deployment& deployment;
  const ReplicaSetList& sets;            // all that the deployment controls
  const kube::ReplicaSet* newest;        // the one with the deployment's template; null if none
  const std::string* created = nullptr;  // the name of a newest set that is just being made
  WallTime now;
};

// What `kubectl rollout status` and `kubectl get deployment` go by: how many replicas there are of
// what kind, whether enough of them are available, and whether the rollout gets on, is complete, or
// has made no progress for progressDeadlineSeconds.
kube::DeploymentStatus StatusOf(const RolloutState& state);

// Every replica is of the newest set, available, and the deployment has been looked at as it is.
bool IsComplete(const kube::Deployment& deployment, const kube::DeploymentStatus& status);

// When the rollout will have taken too long if nothing happens until then; none if it is not under
// way or has no deadline.
std::optional<WallTime> ProgressDeadline(const kube::Deployment& deployment,
                                         const kube::DeploymentStatus& status);

}  // namespace koord::localcluster
