#include "scheduler/core/cluster_feed.h"

#include <algorithm>

#include "api/resources.h"
#include "kube/resources.h"

namespace koord::scheduler {

ClusterFeed::ClusterFeed(kube::Client& client, Scheduler& scheduler, Transforms transforms,
                         Lent lent, uint64_t seed)
    : client_(client), scheduler_(scheduler), transforms_(std::move(transforms)), seed_(seed) {
  ClusterObjects& objects = scheduler.objects();
  WatchNodes(lent.nodes);
  WatchPods(lent.pods);
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
  WatchInto(api::kNodeMetrics, objects.node_metrics, EventKind::kNodeMetricChanged);
}

ClusterFeed::~ClusterFeed() = default;

template <class T>
kube::Informer<T>& ClusterFeed::Watch(const kube::Resource& resource, Handler<T> handler,
                                      kube::InformerOptions options) {
  options.seed = seed_ + watched_.size();
  auto informer = std::make_shared<kube::Informer<T>>(client_, resource, std::move(options));
  watched_.push_back({.informer = informer,
                      .start = [raw = informer.get()] { raw->Start(); },
                      .stop = [raw = informer.get()] { raw->Stop(); }});
  Follow<T>(*informer, std::move(handler));
  return *informer;
}

template <class T>
void ClusterFeed::Follow(kube::Informer<T>& informer, Handler<T> handler) {
  ++unsynced_;
  informer.AddHandler(scope_.Wrap(std::move(handler)));
  informer.WhenSynced(scope_.Wrap([this] { OnSynced(); }));
}

template <class T>
void ClusterFeed::WatchInto(const kube::Resource& resource, ObjectCache<T>& cache,
                            std::optional<EventKind> event) {
  using Ptr = std::shared_ptr<const T>;
  Watch<T>(resource, [this, &cache, event](const Ptr& before, const Ptr& after) {
    if (after != nullptr) {
      cache.Set(after);
    } else {
      cache.Remove(KeyOf(before->metadata));
    }
    if (event) scheduler_.OnEvent({.kind = *event});
  });
}

void ClusterFeed::WatchPods(kube::Informer<kube::Pod>* lent) {
  const auto on_pod = [this](const auto& before, const auto& after) { OnPod(before, after); };
  pod_informer_ = lent;
  if (lent != nullptr) return Follow<kube::Pod>(*lent, on_pod);
  pod_informer_ = &Watch<kube::Pod>(
      kube::kPods, on_pod, {.field_selector = "status.phase!=Succeeded,status.phase!=Failed"});
}

void ClusterFeed::OnPod(const Scheduler::PodPtr& before, const Scheduler::PodPtr& after) {
  const std::string& uid = (after != nullptr ? after : before)->metadata.uid;
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

Scheduler::PodPtr ClusterFeed::FindPod(const kube::ObjectKey& key) const {
  const auto pod = pod_informer_->Get(key);
  if (pod == nullptr) return nullptr;
  const auto known = pods_.find(pod->metadata.uid);
  return known == pods_.end() ? nullptr : *known;
}

void ClusterFeed::WatchNodes(kube::Informer<kube::Node>* lent) {
  const auto on_node = [this](const auto& before, const auto& after) { OnNode(before, after); };
  if (lent != nullptr) return Follow<kube::Node>(*lent, on_node);
  Watch<kube::Node>(kube::kNodes, on_node);
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

void ClusterFeed::Start() {
  for (const Watched& each : watched_) each.start();
}

void ClusterFeed::Stop() {
  for (const Watched& each : watched_) each.stop();
}

bool ClusterFeed::synced() const { return unsynced_ == 0; }

void ClusterFeed::WhenSynced(std::function<void()> callback) {
  if (synced()) return callback();
  when_synced_.push_back(std::move(callback));
}

void ClusterFeed::RefreshPods(std::function<void()> callback) {
  pod_informer_->Relist(scope_.Wrap(std::move(callback)));
}

void ClusterFeed::OnSynced() {
  if (--unsynced_ != 0) return;
  for (const auto& callback : std::exchange(when_synced_, {})) callback();
}

}  // namespace koord::scheduler
