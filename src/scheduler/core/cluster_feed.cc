#include "scheduler/core/cluster_feed.h"

#include "api/resources.h"
#include "kube/resources.h"
#include "scheduler/gangs/gang_book.h"

namespace koord::scheduler {
namespace {

// Pods that have ended hold nothing. But how far a PodGroup has come they have a part in.
std::string PodsNeededBy(Scheduler& scheduler) {
  if (scheduler.objects().pod_groups.needed()) return "";
  return "status.phase!=Succeeded,status.phase!=Failed";
}

}  // namespace

ClusterFeed::ClusterFeed(kube::Client& client, Scheduler& scheduler, Transforms transforms,
                         kube::InformerSet::Options informers)
    : scheduler_(scheduler),
      transforms_(std::move(transforms)),
      informers_(client, informers),
      optional_(client, informers),
      node_informer_(informers_.Use<kube::Node>(kube::kNodes)),
      pod_informer_(informers_.Use<kube::Pod>(kube::kPods,
                                              {.field_selector = PodsNeededBy(scheduler)},
                                              kube::InformerSet::Lent::kOrAll)) {
  ClusterObjects& objects = scheduler.objects();
  WatchNodes();
  WatchPods();
  WatchInto(kube::kNamespaces, objects.namespaces, EventKind::kNamespaceChanged);
  WatchInto(kube::kServices, objects.services, EventKind::kServiceChanged);
  WatchInto(kube::kReplicationControllers, objects.replication_controllers);
  WatchInto(kube::kReplicaSets, objects.replica_sets);
  WatchInto(kube::kStatefulSets, objects.stateful_sets);
  WatchInto(kube::kPodDisruptionBudgets, objects.disruption_budgets);
  WatchInto(kube::kPersistentVolumes, objects.persistent_volumes, EventKind::kVolumeChanged);
  WatchInto(kube::kPersistentVolumeClaims, objects.persistent_volume_claims,
            EventKind::kVolumeChanged);
  WatchInto(kube::kStorageClasses, objects.storage_classes, EventKind::kVolumeChanged);
  WatchInto(kube::kCsiNodes, objects.csi_nodes, EventKind::kVolumeChanged);
  WatchInto(kube::kCsiDrivers, objects.csi_drivers, EventKind::kVolumeChanged);
  WatchInto(kube::kCsiStorageCapacities, objects.csi_storage_capacities, EventKind::kVolumeChanged);
  WatchInto(kube::kVolumeAttachments, objects.volume_attachments, EventKind::kVolumeChanged);
  WatchNodeMetrics(objects.node_metrics);
  WatchReservations();
  WatchNodeTopologies(objects.node_topologies);
  WatchPodGroups(objects.pod_groups);
}

void ClusterFeed::Start() {
  informers_.Start();
  optional_.Start();
}

void ClusterFeed::Stop() {
  informers_.Stop();
  optional_.Stop();
}

void ClusterFeed::WhenSynced(std::function<void()> callback) {
  informers_.WhenSynced(
      scope_.Wrap([this, callback = std::move(callback)] { optional_.WhenKnown(callback); }));
}

namespace {

template <class T>
void Keep(ObjectCache<T>& cache, const std::shared_ptr<const T>& before,
          const std::shared_ptr<const T>& after) {
  if (after != nullptr) {
    cache.Set(after);
  } else {
    cache.Remove(KeyOf(before->metadata));
  }
}

}  // namespace

void ClusterFeed::WatchNodeMetrics(ObjectCache<api::NodeMetric>& cache) {
  if (!cache.needed()) return;
  using Ptr = std::shared_ptr<const api::NodeMetric>;
  optional_.Watch<api::NodeMetric>(api::kNodeMetrics,
                                   scope_.Wrap([this, &cache](const Ptr& before, const Ptr& after) {
                                     Keep(cache, before, after);
                                     scheduler_.OnEvent({.kind = EventKind::kNodeMetricChanged});
                                   }));
}

void ClusterFeed::WatchReservations() {
  if (!scheduler_.objects().reservations.needed()) return;
  reservations_ = std::make_unique<ReservationFeed>(scheduler_);
  optional_.Watch<api::Reservation>(api::kReservations,
                                    scope_.Wrap([this](const auto& before, const auto& after) {
                                      reservations_->OnReservation(before, after);
                                    }));
}

void ClusterFeed::WatchNodeTopologies(ObjectCache<api::NodeResourceTopology>& cache) {
  if (!cache.needed()) return;
  using Ptr = std::shared_ptr<const api::NodeResourceTopology>;
  optional_.Watch<api::NodeResourceTopology>(
      api::kNodeResourceTopologies,
      scope_.Wrap([this, &cache](const Ptr& before, const Ptr& after) {
        Keep(cache, before, after);
        scheduler_.OnEvent({.kind = EventKind::kNodeTopologyChanged});
      }));
}

void ClusterFeed::WatchPodGroups(ObjectCache<api::PodGroup>& cache) {
  if (!cache.needed()) return;
  using Ptr = std::shared_ptr<const api::PodGroup>;
  optional_.Watch<api::PodGroup>(api::kPodGroups,
                                 scope_.Wrap([this, &cache](const Ptr& before, const Ptr& after) {
                                   Keep(cache, before, after);
                                   scheduler_.OnEvent({.kind = EventKind::kPodGroupChanged});
                                 }));
}

template <class T>
void ClusterFeed::WatchInto(const kube::Resource& resource, ObjectCache<T>& cache,
                            std::optional<EventKind> event) {
  using Ptr = std::shared_ptr<const T>;
  const auto on_object = [this, &cache, event](const Ptr& before, const Ptr& after) {
    Keep(cache, before, after);
    if (event) scheduler_.OnEvent({.kind = *event});
  };
  informers_.Use<T>(resource).AddHandler(scope_.Wrap(on_object));
}

void ClusterFeed::WatchPods() {
  pod_informer_.AddHandler(
      scope_.Wrap([this](const auto& before, const auto& after) { OnPod(before, after); }));
}

void ClusterFeed::OnPod(const Scheduler::PodPtr& before, const Scheduler::PodPtr& after) {
  const std::string& uid = (after != nullptr ? after : before)->metadata.uid;
  NoteEnded(before, after);
  // A pod that has ended holds nothing: to the scheduler it is gone.
  if (after == nullptr || IsTerminal(*after)) {
    const auto known = pods_.find(uid);
    if (known == pods_.end()) return;
    const Scheduler::PodPtr last = *known;
    pods_.erase(known);
    return scheduler_.OnPod(last, nullptr);
  }
  const Scheduler::PodPtr transformed = transforms_.pod(after);
  scheduler_.OnPod(Put(pods_, transformed), transformed);
}

void ClusterFeed::NoteEnded(const Scheduler::PodPtr& before, const Scheduler::PodPtr& after) const {
  GangBook* const gangs = scheduler_.books().gangs.get();
  if (gangs == nullptr) return;
  const bool is_other =
      before != nullptr && after != nullptr && before->metadata.uid != after->metadata.uid;
  if (before != nullptr && IsTerminal(*before) && (after == nullptr || is_other)) {
    gangs->RemoveEnded(*before);
  }
  if (after != nullptr && IsTerminal(*after)) gangs->SetEnded(*after);
}

Scheduler::PodPtr ClusterFeed::FindPod(const kube::ObjectKey& key) const {
  const auto pod = pod_informer_.Get(key);
  if (pod == nullptr) return nullptr;
  const auto known = pods_.find(pod->metadata.uid);
  return known == pods_.end() ? nullptr : *known;
}

void ClusterFeed::WatchNodes() {
  node_informer_.AddHandler(
      scope_.Wrap([this](const auto& before, const auto& after) { OnNode(before, after); }));
}

void ClusterFeed::OnNode(const Scheduler::NodePtr& before, const Scheduler::NodePtr& after) {
  if (after == nullptr) {
    const auto known = nodes_.find(before->metadata.name);
    if (known == nodes_.end()) return;
    const Scheduler::NodePtr last = std::move(known->second);
    nodes_.erase(known);
    return scheduler_.OnNode(last, nullptr);
  }
  Scheduler::NodePtr& slot = nodes_[after->metadata.name];
  const Scheduler::NodePtr last = std::exchange(slot, transforms_.node(after));
  scheduler_.OnNode(last, slot);
}

void ClusterFeed::RefreshPods(std::function<void()> callback) {
  pod_informer_.Relist(scope_.Wrap(std::move(callback)));
}

}  // namespace koord::scheduler
