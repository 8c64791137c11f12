#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "scheduler/core/scheduler.h"

namespace koord::scheduler {

// Shows the scheduler the cluster: watches everything that placement depends on and passes it on,
// transformed.
class ClusterFeed {
 public:
  struct Transforms {
    std::function<Scheduler::PodPtr(const Scheduler::PodPtr&)> pod;
    std::function<Scheduler::NodePtr(const Scheduler::NodePtr&)> node;
  };

  // Copies of all pods and all nodes that the process keeps and starts anyway; null: keep our own.
  struct Lent {
    kube::Informer<kube::Pod>* pods = nullptr;
    kube::Informer<kube::Node>* nodes = nullptr;
  };

  ClusterFeed(kube::Client& client, Scheduler& scheduler, Transforms transforms, Lent lent,
              uint64_t seed);
  ~ClusterFeed();

  void Start();
  // Runs `callback` once everything was listed and passed on. A scheduler that decides earlier
  // would decide on half a cluster.
  void WhenSynced(std::function<void()> callback);
  bool synced() const;
  // A pod that has not ended, as it was passed on; null if there is none.
  Scheduler::PodPtr FindPod(const kube::ObjectKey& key) const;
  // Runs `callback` once every pod that had a node before this call is shown with it.
  void RefreshPods(std::function<void()> callback);
  void Stop();

 private:
  struct Watched {
    std::shared_ptr<void> informer;
    std::function<void()> start, stop;
  };

  template <class T>
  using Handler = typename kube::Informer<T>::Handler;

  template <class T>
  kube::Informer<T>& Watch(const kube::Resource& resource, Handler<T> handler,
                           kube::InformerOptions options = {});
  template <class T>
  void Follow(kube::Informer<T>& informer, Handler<T> handler);
  template <class T>
  void WatchInto(const kube::Resource& resource, ObjectCache<T>& cache,
                 std::optional<EventKind> event = {});
  void WatchPods(kube::Informer<kube::Pod>* lent);
  void WatchNodes(kube::Informer<kube::Node>* lent);
  void OnPod(const Scheduler::PodPtr& before, const Scheduler::PodPtr& after);
  void OnNode(const Scheduler::NodePtr& before, const Scheduler::NodePtr& after);
  void OnSynced();

  kube::Client& client_;
  Scheduler& scheduler_;
  const Transforms transforms_;
  const uint64_t seed_;
  std::vector<Watched> watched_;
  kube::Informer<kube::Pod>* pod_informer_ = nullptr;
  size_t unsynced_ = 0;
  std::vector<std::function<void()>> when_synced_;
  // As they were passed on, by uid and by name: what a transform gives need not be the same again.
  PodSet pods_;
  StringMap<Scheduler::NodePtr> nodes_;
  Scope scope_;
};

}  // namespace koord::scheduler
