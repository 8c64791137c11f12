#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/controller/informer_set.h"
#include "scheduler/core/optional_kinds.h"
#include "scheduler/core/reservation_feed.h"
#include "scheduler/core/scheduler.h"

namespace koord::scheduler {

// Shows the scheduler the cluster: watches everything that placement depends on and passes it on,
// transformed. Kinds that only some plugins need are watched if one of them has said so.
class ClusterFeed {
 public:
  struct Transforms {
    std::function<Scheduler::PodPtr(const Scheduler::PodPtr&)> pod;
    std::function<Scheduler::NodePtr(const Scheduler::NodePtr&)> node;
  };

  // `informers.lender` has copies that the process keeps anyway; null: all are our own.
  ClusterFeed(kube::Client& client, Scheduler& scheduler, Transforms transforms,
              kube::InformerSet::Options informers);

  void Start();
  // Runs `callback` once everything was listed and passed on. A scheduler that decides earlier
  // would decide on half a cluster.
  void WhenSynced(std::function<void()> callback);
  bool synced() const { return informers_.synced() && optional_.known(); }
  // What is needed and is not there, a sentence each.
  std::vector<std::string> absences() const { return optional_.absences(); }
  // A pod that has not ended, as it was passed on; null if there is none.
  Scheduler::PodPtr FindPod(const kube::ObjectKey& key) const;
  // Runs `callback` once every pod that had a node before this call is shown with it.
  void RefreshPods(std::function<void()> callback);
  void Stop();

 private:
  template <class T>
  void WatchInto(const kube::Resource& resource, ObjectCache<T>& cache,
                 std::optional<EventKind> event = {});
  void WatchNodeMetrics(ObjectCache<api::NodeMetric>& cache);
  void WatchReservations();
  void WatchNodeTopologies(ObjectCache<api::NodeResourceTopology>& cache);
  void WatchPodGroups(ObjectCache<api::PodGroup>& cache);
  void WatchNodes();
  void WatchPods();
  void OnPod(const Scheduler::PodPtr& before, const Scheduler::PodPtr& after);
  void NoteEnded(const Scheduler::PodPtr& before, const Scheduler::PodPtr& after) const;
  void OnNode(const Scheduler::NodePtr& before, const Scheduler::NodePtr& after);

  Scheduler& scheduler_;
  const Transforms transforms_;
  kube::InformerSet informers_;
  OptionalKinds optional_;
  std::unique_ptr<ReservationFeed> reservations_;  // if somebody needs them
  kube::Informer<kube::Node>& node_informer_;
  kube::Informer<kube::Pod>& pod_informer_;
  // As they were passed on, by uid and by name: what a transform gives need not be the same again.
  PodSet pods_;
  StringMap<Scheduler::NodePtr> nodes_;
  Scope scope_;
};

}  // namespace koord::scheduler
