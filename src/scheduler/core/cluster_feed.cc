#include "scheduler/core/cluster_feed.h"

#include <algorithm>

#include "api/resources.h"
#include "kube/resources.h"

namespace koord::scheduler {

ClusterFeed::ClusterFeed(kube::Client& client, Scheduler& scheduler, Transforms transforms,
                         uint64_t seed)
    : client_(client), scheduler_(scheduler), transforms_(std::move(transforms)), seed_(seed) {
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
  WatchInto(api::kNodeMetrics, objects.node_metrics, EventKind::kNodeMetricChanged);
  unsynced_ = watched_.size();
}

ClusterFeed::~ClusterFeed() = default;

template <class T, class Handler>
std::shared_ptr<kube::Informer<T>> ClusterFeed::Watch(const kube::Resource& resource,
                                                      Handler handler,
                                                      kube::InformerOptions options) {
  options.seed = seed_ + watched_.size();
  auto informer = std::make_shared<kube::Informer<T>>(client_, resource, std::move(options));
  informer->AddHandler(std::move(handler));
  informer->WhenSynced(scope_.Wrap([this] { OnSynced(); }));
  watched_.push_back({.informer = informer,
                      .start = [raw = informer.get()] { raw->Start(); },
                      .stop = [raw = informer.get()] { raw->Stop(); },
                      .synced = [raw = informer.get()] { return raw->synced(); }});
  return informer;
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

void ClusterFeed::WatchPods() {
  using Ptr = Scheduler::PodPtr;
  // A pod that has ended holds nothing: to the scheduler it is gone.
  const auto pass_on = [this](const Ptr& before, const Ptr& after) {
    const std::string& uid = (after != nullptr ? after : before)->metadata.uid;
    if (after == nullptr) {
      const auto known = pods_.find(uid);
      if (known == pods_.end()) return;
      const Ptr last = std::move(known->second);
      pods_.erase(known);
      scheduler_.OnPod(last, nullptr);
      return;
    }
    Ptr& slot = pods_[uid];
    const Ptr last = std::exchange(slot, transforms_.pod(after));
    scheduler_.OnPod(last, slot);
  };
  pod_informer_ = Watch<kube::Pod>(
      kube::kPods, pass_on, {.field_selector = "status.phase!=Succeeded,status.phase!=Failed"});
}

Scheduler::PodPtr ClusterFeed::FindPod(const kube::ObjectKey& key) const {
  const auto pod = pod_informer_->Get(key);
  if (pod == nullptr) return nullptr;
  const auto known = pods_.find(pod->metadata.uid);
  return known == pods_.end() ? nullptr : known->second;
}

void ClusterFeed::WatchNodes() {
  using Ptr = Scheduler::NodePtr;
  Watch<kube::Node>(kube::kNodes, [this](const Ptr& before, const Ptr& after) {
    if (after == nullptr) {
      const auto known = nodes_.find(before->metadata.name);
      if (known == nodes_.end()) return;
      const Ptr last = std::move(known->second);
      nodes_.erase(known);
      scheduler_.OnNode(last, nullptr);
      return;
    }
    Ptr& slot = nodes_[after->metadata.name];
    const Ptr last = std::exchange(slot, transforms_.node(after));
    scheduler_.OnNode(last, slot);
  });
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
