#pragma once
#include <string>

#include "localcluster/controllers/deployment/replica_math.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Carries out the rollouts of Deployments.
class DeploymentController final : public ClusterController {
 public:
  explicit DeploymentController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& key) override;
  bool PodsRun(const ReplicaSetList& sets, const ReplicaSetPtr& except);
};

}  // namespace koord::localcluster
