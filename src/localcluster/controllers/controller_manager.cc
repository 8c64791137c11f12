#include "localcluster/controllers/controller_manager.h"

#include <algorithm>

#include "localcluster/controllers/cronjob/cron_job_controller.h"
#include "localcluster/controllers/daemonset/daemon_set_controller.h"
#include "localcluster/controllers/deployment/deployment_controller.h"
#include "localcluster/controllers/disruption/disruption_controller.h"
#include "localcluster/controllers/garbagecollector/garbage_collector.h"
#include "localcluster/controllers/job/job_controller.h"
#include "localcluster/controllers/namespaces/namespace_controller.h"
#include "localcluster/controllers/nodelifecycle/node_lifecycle_controller.h"
#include "localcluster/controllers/nodelifecycle/taint_eviction.h"
#include "localcluster/controllers/podgc/pod_gc_controller.h"
#include "localcluster/controllers/replicaset/replica_set_controller.h"
#include "localcluster/controllers/statefulset/stateful_set_controller.h"
#include "localcluster/controllers/volumes/claim_controller.h"
#include "localcluster/controllers/volumes/volume_controller.h"

namespace koord::localcluster {

ControllerManager::ControllerManager(ControllerContext& context, uint64_t seed)
    : catalog_(context.client, seed) {
  controllers_.push_back(ReplicaSetController::ForReplicaSets(context));
  controllers_.push_back(ReplicaSetController::ForReplicationControllers(context));
  controllers_.push_back(std::make_unique<DeploymentController>(context));
  controllers_.push_back(std::make_unique<StatefulSetController>(context));
  controllers_.push_back(std::make_unique<DaemonSetController>(context));
  controllers_.push_back(std::make_unique<JobController>(context));
  controllers_.push_back(std::make_unique<CronJobController>(context));
  controllers_.push_back(std::make_unique<DisruptionController>(context));
  controllers_.push_back(std::make_unique<NamespaceController>(context, catalog_));
  controllers_.push_back(std::make_unique<ServiceAccountController>(context));
  controllers_.push_back(std::make_unique<PodGcController>(context));
  controllers_.push_back(std::make_unique<NodeLifecycleController>(context));
  controllers_.push_back(std::make_unique<TaintEvictionController>(context));
  controllers_.push_back(std::make_unique<ClaimController>(context));
  controllers_.push_back(std::make_unique<VolumeController>(context));
  controllers_.push_back(std::make_unique<GarbageCollector>(context, catalog_));
}

bool ControllerManager::idle() const {
  return catalog_.known() && std::ranges::all_of(controllers_, [](const auto& controller) {
           return controller->idle();
         });
}

}  // namespace koord::localcluster
