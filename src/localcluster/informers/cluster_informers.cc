#include "localcluster/informers/cluster_informers.h"

#include <vector>

#include "kube/objects/volume_claims.h"

namespace koord::localcluster {

ClusterInformers::ClusterInformers(kube::Client& client, uint64_t seed)
    : InformerSet(client, {.seed = seed}),
      pods(Use<kube::Pod>(kube::kPods)),
      nodes(Use<kube::Node>(kube::kNodes)),
      leases(Use<kube::Lease>(kube::kLeases)),
      namespaces(Use<kube::Namespace>(kube::kNamespaces)),
      replica_sets(Use<kube::ReplicaSet>(kube::kReplicaSets)),
      replication_controllers(Use<ReplicationControllerAsSet>(kube::kReplicationControllers)),
      deployments(Use<kube::Deployment>(kube::kDeployments)),
      stateful_sets(Use<kube::StatefulSet>(kube::kStatefulSets)),
      daemon_sets(Use<kube::DaemonSet>(kube::kDaemonSets)),
      controller_revisions(Use<kube::ControllerRevision>(kube::kControllerRevisions)),
      jobs(Use<kube::Job>(kube::kJobs)),
      cron_jobs(Use<kube::CronJob>(kube::kCronJobs)),
      disruption_budgets(Use<kube::PodDisruptionBudget>(kube::kPodDisruptionBudgets)),
      service_accounts(Use<kube::MetadataOnly>(kube::kServiceAccounts)),
      volumes(Use<kube::PersistentVolume>(kube::kPersistentVolumes)),
      volume_claims(Use<kube::PersistentVolumeClaim>(kube::kPersistentVolumeClaims)),
      storage_classes(Use<kube::StorageClass>(kube::kStorageClasses)) {
  IndexByNode(pods);
  IndexByNamespace(pods);
  IndexByNamespace(replica_sets);
  IndexByNamespace(replication_controllers);
  IndexByNamespace(deployments);
  IndexByNamespace(stateful_sets);
  IndexByNamespace(daemon_sets);
  IndexByNamespace(jobs);
  IndexByNamespace(disruption_budgets);
  IndexByOwner(pods);
  IndexByOwner(replica_sets);
  IndexByOwner(controller_revisions);
  IndexByOwner(jobs);
  volumes.AddIndex(kByClaim, [](const kube::PersistentVolume& volume) {
    const auto& reference = volume.spec.claim_ref;
    return std::vector<std::string>{reference
                                        ? kube::ObjectKey{reference->ns, reference->name}.ToString()
                                        : UnclaimedOf(ClassOf(volume))};
  });
  volume_claims.AddIndex(kByVolume, [](const kube::PersistentVolumeClaim& claim) {
    return std::vector<std::string>{claim.spec.volume_name};
  });
}

}  // namespace koord::localcluster
