#include "localcluster/shared/shared_informers.h"

#include <algorithm>
#include <utility>

#include "kube/objects/volume_claims.h"

namespace koord::localcluster {
namespace {

kube::InformerOptions Seeded(uint64_t seed) { return {.seed = seed}; }

template <class T>
void IndexByOwner(kube::Informer<T>& informer) {
  informer.AddIndex(SharedInformers::kByOwner, [](const T& object) {
    const kube::OwnerReference* owner = kube::ControllerOf(object.metadata);
    return std::vector<std::string>{
        owner != nullptr ? owner->uid : SharedInformers::OrphansOf(object.metadata.ns)};
  });
}

template <class T>
void IndexByNamespace(kube::Informer<T>& informer) {
  informer.AddIndex(SharedInformers::kByNamespace,
                    [](const T& object) { return std::vector<std::string>{object.metadata.ns}; });
}

}  // namespace

SharedInformers::SharedInformers(kube::Client& client, uint64_t seed)
    : pods(client, kube::kPods, Seeded(seed)),
      nodes(client, kube::kNodes, Seeded(seed + 1)),
      leases(client, kube::kLeases, Seeded(seed + 2)),
      namespaces(client, kube::kNamespaces, Seeded(seed + 3)),
      replica_sets(client, kube::kReplicaSets, Seeded(seed + 4)),
      replication_controllers(client, kube::kReplicationControllers, Seeded(seed + 5)),
      deployments(client, kube::kDeployments, Seeded(seed + 6)),
      stateful_sets(client, kube::kStatefulSets, Seeded(seed + 7)),
      daemon_sets(client, kube::kDaemonSets, Seeded(seed + 8)),
      controller_revisions(client, kube::kControllerRevisions, Seeded(seed + 9)),
      jobs(client, kube::kJobs, Seeded(seed + 10)),
      disruption_budgets(client, kube::kPodDisruptionBudgets, Seeded(seed + 11)),
      service_accounts(client, kube::kServiceAccounts, Seeded(seed + 12)),
      volumes(client, kube::kPersistentVolumes, Seeded(seed + 13)),
      volume_claims(client, kube::kPersistentVolumeClaims, Seeded(seed + 14)),
      storage_classes(client, kube::kStorageClasses, Seeded(seed + 15)) {
  pods.AddIndex(kByNode, [](const kube::Pod& pod) {
    if (!kube::IsAssigned(pod)) return std::vector<std::string>{};
    return std::vector<std::string>{pod.spec.node_name};
  });
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
  volumes.AddIndex(kByClaim, [](const kube::PersistentVolume& volume) {
    const auto& reference = volume.spec.claim_ref;
    return std::vector<std::string>{reference
                                        ? kube::ObjectKey{reference->ns, reference->name}.ToString()
                                        : UnclaimedOf(ClassOf(volume))};
  });
  volume_claims.AddIndex(kByVolume, [](const kube::PersistentVolumeClaim& claim) {
    return std::vector<std::string>{claim.spec.volume_name};
  });

  AddSource(kube::kPods, pods);
  AddSource(kube::kNodes, nodes);
  AddSource(kube::kLeases, leases);
  AddSource(kube::kNamespaces, namespaces);
  AddSource(kube::kReplicaSets, replica_sets);
  AddSource(kube::kReplicationControllers, replication_controllers);
  AddSource(kube::kDeployments, deployments);
  AddSource(kube::kStatefulSets, stateful_sets);
  AddSource(kube::kDaemonSets, daemon_sets);
  AddSource(kube::kControllerRevisions, controller_revisions);
  AddSource(kube::kJobs, jobs);
  AddSource(kube::kPodDisruptionBudgets, disruption_budgets);
  AddSource(kube::kServiceAccounts, service_accounts);
  AddSource(kube::kPersistentVolumes, volumes);
  AddSource(kube::kPersistentVolumeClaims, volume_claims);
  AddSource(kube::kStorageClasses, storage_classes);
}

template <class T>
void SharedInformers::AddSource(kube::Resource resource, kube::Informer<T>& informer) {
  const auto meta = [](const std::shared_ptr<const T>& object) -> MetaPtr {
    if (object == nullptr) return nullptr;
    return {object, &object->metadata};
  };
  sources_.push_back(
      {.resource = std::move(resource),
       .find = [&informer, meta](const kube::ObjectKey& key) { return meta(informer.Get(key)); },
       .watch =
           [&informer, meta](auto handler) {
             informer.AddHandler(
                 [meta, handler = std::move(handler)](const auto& before, const auto& after) {
                   handler(meta(before), meta(after));
                 });
           },
       .synced = [&informer] { return informer.synced(); },
       .start = [&informer] { informer.Start(); },
       .stop = [&informer] { informer.Stop(); }});
  informer.WhenSynced([this] { CheckSynced(); });
}

void SharedInformers::Start() {
  for (const Source& source : sources_) source.start();
}

void SharedInformers::Stop() {
  for (const Source& source : sources_) source.stop();
}

void SharedInformers::WhenSynced(std::function<void()> callback) {
  if (synced_) return callback();
  when_synced_.push_back(std::move(callback));
}

void SharedInformers::CheckSynced() {
  synced_ = synced_ || std::all_of(sources_.begin(), sources_.end(),
                                   [](const Source& source) { return source.synced(); });
  if (!synced_) return;
  for (auto& callback : std::exchange(when_synced_, {})) callback();
}

const SharedInformers::Source* SharedInformers::Find(const kube::Resource& resource) const {
  for (const Source& source : sources_) {
    if (source.resource == resource) return &source;
  }
  return nullptr;
}

}  // namespace koord::localcluster
