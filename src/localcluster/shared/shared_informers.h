#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "kube/objects/job.h"
#include "kube/objects/lease.h"
#include "kube/objects/namespace.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/policy.h"
#include "kube/objects/storage.h"
#include "kube/objects/workloads.h"
#include "kube/resources.h"
#include "localcluster/shared/metadata_only.h"
#include "localcluster/shared/replication_controller.h"

namespace koord::localcluster {

// The copies of the cluster's objects that the parts of a local cluster share: each object is
// received and decoded once, however many look at it.
class SharedInformers {
 public:
  using MetaPtr = std::shared_ptr<const kube::ObjectMeta>;

  // One of the informers below, whatever its type: only what all objects have in common.
  struct Source {
    kube::Resource resource;
    std::function<MetaPtr(const kube::ObjectKey&)> find;
    std::function<void(std::function<void(const MetaPtr& before, const MetaPtr& after)>)> watch;
    std::function<bool()> synced;
    std::function<void()> start;
    std::function<void()> stop;
  };

  SharedInformers(kube::Client& client, uint64_t seed);

  void Start();
  void Stop();
  bool synced() const { return synced_; }
  // Runs `callback` once all first lists are there; at once if they are.
  void WhenSynced(std::function<void()> callback);

  std::span<const Source> sources() const { return sources_; }
  const Source* Find(const kube::Resource& resource) const;

  // Pods are indexed by the node they are on; pods and workloads by namespace; and what workloads
  // control by owner: the UID of the controller, or OrphansOf the namespace where there is none.
  static constexpr const char* kByNode = "node";
  static constexpr const char* kByNamespace = "namespace";
  static constexpr const char* kByOwner = "owner";
  static std::string OrphansOf(const std::string& ns) { return "orphans/" + ns; }
  // Claims by the volume that they name, "" for none; volumes by the claim that they are held for,
  // or as UnclaimedOf their storage class.
  static constexpr const char* kByVolume = "volume";
  static constexpr const char* kByClaim = "claim";
  static std::string UnclaimedOf(std::string_view storage_class) {
    return "unclaimed " + std::string(storage_class);
  }

  kube::Informer<kube::Pod> pods;
  kube::Informer<kube::Node> nodes;
  kube::Informer<kube::Lease> leases;
  kube::Informer<kube::Namespace> namespaces;
  kube::Informer<kube::ReplicaSet> replica_sets;
  kube::Informer<ReplicationControllerAsSet> replication_controllers;
  kube::Informer<kube::Deployment> deployments;
  kube::Informer<kube::StatefulSet> stateful_sets;
  kube::Informer<kube::DaemonSet> daemon_sets;
  kube::Informer<kube::ControllerRevision> controller_revisions;
  kube::Informer<kube::Job> jobs;
  kube::Informer<kube::PodDisruptionBudget> disruption_budgets;
  kube::Informer<MetadataOnly> service_accounts;
  kube::Informer<kube::PersistentVolume> volumes;
  kube::Informer<kube::PersistentVolumeClaim> volume_claims;
  kube::Informer<kube::StorageClass> storage_classes;

 private:
  template <class T>
  void AddSource(kube::Resource resource, kube::Informer<T>& informer);
  void CheckSynced();

  std::vector<Source> sources_;
  std::vector<std::function<void()>> when_synced_;
  bool synced_ = false;
};

}  // namespace koord::localcluster
