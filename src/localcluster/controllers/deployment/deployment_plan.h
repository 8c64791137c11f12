#pragma once
#include <functional>
#include <string>

#include "base/clock.h"
#include "kube/controller/plan.h"
#include "kube/objects/workloads.h"
#include "localcluster/controllers/deployment/replica_math.h"

namespace koord::localcluster {

struct DeploymentInput {
  const kube::Deployment& deployment;
  const ReplicaSetList& sets;  // that the deployment controls, in key order
  bool old_pods_run = false;   // pods of sets other than the newest have not ended yet
  // Whether some other ReplicaSet has that name.
  std::function<bool(const std::string& name)> is_taken;
  WallTime now;
};

// Brings a deployment's pods to its template through ReplicaSets, one set a revision.
//
// The set with the deployment's own template is the newest; it grows while the others shrink,
// within the limits of the strategy (RollingUpdate), or after they are gone (Recreate). Going back
// to an earlier template revives its set under a new revision number. A paused deployment only
// scales. When a rollout is complete, sets beyond revisionHistoryLimit are removed.
void PlanDeployment(const DeploymentInput& input, kube::Plan& plan);

// The set with the deployment's template, the oldest if there are several; null if none.
ReplicaSetPtr FindNewest(const kube::Deployment& deployment, const ReplicaSetList& sets);

}  // namespace koord::localcluster
