#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "kube/client/client.h"
#include "scheduler/binding/binding_guard.h"
#include "scheduler/binding/waiting_pods.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/pending_pods.h"
#include "scheduler/core/next_pods.h"
#include "scheduler/core/profiles.h"
#include "scheduler/core/turns.h"
#include "scheduler/cycle/assumed_pods.h"
#include "scheduler/cycle/attempt_observer.h"
#include "scheduler/cycle/failure_handler.h"
#include "scheduler/cycle/post_filter_cycle.h"
#include "scheduler/cycle/scheduling_cycle.h"
#include "scheduler/extender/extender_dialogue.h"
#include "scheduler/framework/cluster_objects.h"
#include "scheduler/framework/leader_parts.h"
#include "scheduler/framework/plugin_lineup.h"
#include "scheduler/nomination/nominations.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// Places pods, one after the other, and binds them.
//
// It is told what the cluster looks like (OnPod, OnNode, objects()) and tells the API server what
// it has decided. Everything happens on one loop, in short turns, so that what arrives in between
// is seen soon. Nothing is decided before Start and after Stop; bindings that are under way at Stop
// are finished.
//
// What it does is done by its parts: this is how they are joined, and who of them hears what of the
// cluster.
class Scheduler {
 public:
  struct Options {
    uint64_t seed = 1;  // of ties and jitter
    QueueOptions queue = {};
    using Profile = ProfileOptions;
    std::vector<Profile> profiles;
    AttemptObserver* observer = nullptr;  // metrics, monitor, debug logs; outlives the scheduler
    // Asked before anything is written: only a leader may.
    std::function<bool()> may_write = [] { return true; };
    // Asked about nodes after the filters, and to bind; null: nobody.
    std::unique_ptr<Extenders> extenders = nullptr;
    // A pod that names a scheduler in its spec and is no longer ours is not bound.
    bool check_owner_before_binding = true;
    metrics::Registry* metrics = nullptr;  // where plugins count; null: nowhere
    const FeatureGates* gates = nullptr;   // for plugins; outlives the scheduler
  };

  static StatusOr<std::unique_ptr<Scheduler>> Make(EventLoop& loop, kube::Client& client,
                                                   Options options);
  ~Scheduler();

  // What the API server shows. `before` is what was told of the object last, null for a new one;
  // `after` is null for one that is gone. Objects must have been transformed.
  using PodPtr = std::shared_ptr<const kube::Pod>;
  using NodePtr = std::shared_ptr<const kube::Node>;
  void OnPod(const PodPtr& before, const PodPtr& after);
  void OnNode(const NodePtr& before, const NodePtr& after);
  ClusterObjects& objects() { return objects_; }
  const ClusterObjects& objects() const { return objects_; }
  // Something changed that may help pods that wait.
  void OnEvent(const ClusterEvent& event) { queue_->OnEvent(event); }

  // Places pods, and lets controllers run that plugins have brought along; until Stop.
  void Start();
  void Stop();
  // Runs `done` once no binding is under way and no controller is being stopped. Pods that wait for
  // a permit are not waited for.
  void WhenDrained(Task done);
  bool running() const { return turns_.running(); }
  // Nobody can be tried now and nothing is being bound.
  bool idle() const;

  const Ledger& ledger() const { return ledger_; }
  const Books& books() const { return books_; }
  const SchedulingQueue& queue() const { return *queue_; }
  const Reasons& reasons() const { return reasons_; }
  size_t waiting() const { return waiting_.size(); }  // for a permit
  const WaitingPods& waiting_pods() const { return waiting_; }
  size_t binding() const { return assumed_->binding(); }
  const Clock& clock() const { return loop_.clock(); }
  size_t pending() const { return pending_.size(); }
  // Every pod without node, in no order.
  void ForEachPending(const std::function<void(const kube::Pod&)>& visit) const;
  // The plugins at work, a line-up a profile.
  std::vector<const PluginLineup*> lineups() const { return profiles_.lineups(); }

  // For people who ask about a pod that is not placed yet, or why it went where it is. Nothing is
  // changed by looking.
  Pipeline* PipelineFor(const kube::Pod& pod);
  const ShapePtr ShapeOf(const PodPtr& pod) { return ledger_.shapes().Of(pod); }
  std::string NominatedNodeOf(std::string_view uid) const {
    return std::string(nominations_.NodeOf(uid));
  }

 private:
  Scheduler(EventLoop& loop, kube::Client& client, AttemptObserver* observer,
            std::unique_ptr<Extenders> extenders, const Options& options);
  // The parts that stand on the queue.
  void MakeParts(const std::function<bool()>& may_write);
  // Whether a pod was tried.
  bool TryNext();

  void OnAssigned(const PodPtr& before, const PodPtr& after);
  void OnUnassigned(const PodPtr& before, const PodPtr& after);
  void OnGone(const PodPtr& before);

  EventLoop& loop_;
  AttemptObserver nobody_;  // where nobody observes
  const PointTimer timer_;
  Reasons reasons_;
  Ledger ledger_;
  ClusterObjects objects_;
  Books books_{ledger_, objects_.node_topologies, objects_.devices};
  PendingPods pending_;
  LeaderParts leader_parts_;
  Nominations nominations_;
  WaitingPods waiting_;
  const BindingGuard guard_;
  ExtenderDialogue extenders_;
  Profiles profiles_;
  std::unique_ptr<SchedulingQueue> queue_;
  std::unique_ptr<NextPods> next_;
  std::unique_ptr<FailureHandler> failures_;
  std::unique_ptr<PostFilterCycle> post_filter_;
  std::unique_ptr<AssumedPods> assumed_;
  std::unique_ptr<SchedulingCycle> cycle_;
  bool api_is_behind_ = false;  // turns rest until it has answered
  Turns turns_;
};

}  // namespace koord::scheduler
