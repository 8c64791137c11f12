#include "localcluster/controllers/deployment/deployment_controller.h"

#include <algorithm>

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/deployment/deployment_plan.h"

namespace koord::localcluster {

DeploymentController::DeploymentController(ControllerContext& context)
    : ClusterController("deployment-controller", context) {
  Watch(informers().deployments, [this](const auto& before, const auto& after) {
    Enqueue(KeyText((after ? after : before)->metadata));
  });
  Watch(informers().replica_sets, [this](const auto& before, const auto& after) {
    ForOwners(before, after, kube::kDeployments, informers().deployments,
              [this](const std::string& key) { Enqueue(key); });
  });
  // Recreate waits for the last old pod to end.
  Watch(informers().pods, [this](const auto& before, const auto& after) {
    if (before == nullptr || (after != nullptr && !kube::IsTerminal(*after))) return;
    const auto set_key = ControllerKey(before->metadata, kube::kReplicaSets);
    if (!set_key) return;
    const auto set = informers().replica_sets.Get(kube::ParseKey(*set_key));
    if (set == nullptr) return;
    if (const auto key = ControllerKey(set->metadata, kube::kDeployments)) Enqueue(*key);
  });
}

kube::Plan DeploymentController::Decide(const std::string& key) {
  kube::Plan plan;
  const auto deployment = informers().deployments.Get(kube::ParseKey(key));
  if (deployment == nullptr) return plan;
  const ReplicaSetList sets =
      ClaimAll(informers().replica_sets, kube::kReplicaSets,
               {kube::kDeployments, deployment->metadata}, deployment->spec.selector, plan);
  // What has just been adopted is acted on when it is ours.
  if (!plan.writes.empty()) return plan;
  PlanDeployment(
      {.deployment = *deployment,
       .sets = sets,
       .old_pods_run = !IsRolling(*deployment) && PodsRun(sets, FindNewest(*deployment, sets)),
       .is_taken =
           [&](const std::string& name) {
             return informers().replica_sets.Get({deployment->metadata.ns, name}) != nullptr;
           },
       .now = Now()},
      plan);
  return plan;
}

bool DeploymentController::PodsRun(const ReplicaSetList& sets, const ReplicaSetPtr& except) {
  return std::any_of(sets.begin(), sets.end(), [&](const ReplicaSetPtr& set) {
    if (set == except) return false;
    const auto pods = informers().pods.ByIndex(kube::kByOwner, set->metadata.uid);
    return std::any_of(pods.begin(), pods.end(),
                       [](const auto& pod) { return !kube::IsTerminal(*pod); });
  });
}

}  // namespace koord::localcluster
