#pragma once
#include <string>
#include <string_view>

#include "kube/client/client.h"
#include "kube/controller/indexes.h"
#include "kube/controller/informer_set.h"
#include "kube/objects/cron_job.h"
#include "kube/objects/job.h"
#include "kube/objects/lease.h"
#include "kube/objects/metadata_only.h"
#include "kube/objects/namespace.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/policy.h"
#include "kube/objects/storage.h"
#include "kube/objects/workloads.h"
#include "kube/resources.h"
#include "localcluster/informers/replication_controller.h"

namespace koord::localcluster {

// The copies of the cluster's objects that the parts of a local cluster share.
//
// Pods are indexed by node; pods and workloads by namespace; and what workloads and CronJobs
// control by owner.
class ClusterInformers final : public kube::InformerSet {
 public:
  ClusterInformers(kube::Client& client, uint64_t seed);

  // Claims by the volume that they name, "" for none; volumes by the claim that they are held for,
  // or as UnclaimedOf their storage class.
  static constexpr const char* kByVolume = "volume";
  static constexpr const char* kByClaim = "claim";
  static std::string UnclaimedOf(std::string_view storage_class) {
    return "unclaimed " + std::string(storage_class);
  }

  kube::Informer<kube::Pod>& pods;
  kube::Informer<kube::Node>& nodes;
  kube::Informer<kube::Lease>& leases;
  kube::Informer<kube::Namespace>& namespaces;
  kube::Informer<kube::ReplicaSet>& replica_sets;
  kube::Informer<ReplicationControllerAsSet>& replication_controllers;
  kube::Informer<kube::Deployment>& deployments;
  kube::Informer<kube::StatefulSet>& stateful_sets;
  kube::Informer<kube::DaemonSet>& daemon_sets;
  kube::Informer<kube::ControllerRevision>& controller_revisions;
  kube::Informer<kube::Job>& jobs;
  kube::Informer<kube::CronJob>& cron_jobs;
  kube::Informer<kube::PodDisruptionBudget>& disruption_budgets;
  kube::Informer<kube::MetadataOnly>& service_accounts;
  kube::Informer<kube::PersistentVolume>& volumes;
  kube::Informer<kube::PersistentVolumeClaim>& volume_claims;
  kube::Informer<kube::StorageClass>& storage_classes;
};

}  // namespace koord::localcluster
