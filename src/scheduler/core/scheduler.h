#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/scope.h"
#include "base/string_map.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "scheduler/binding/binding_cycle.h"
#include "scheduler/core/pod_set.h"
#include "scheduler/binding/pod_patcher.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/core/attempt_observer.h"
#include "scheduler/core/runtime.h"
#include "scheduler/extender/extenders.h"
#include "scheduler/framework/cluster_objects.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/plugin_lineup.h"
#include "scheduler/pipeline/node_order.h"
#include "scheduler/pipeline/nominated_rows.h"
#include "scheduler/pipeline/pipeline.h"
#include "scheduler/queue/nominator.h"
#include "scheduler/queue/scheduling_queue.h"
#include "scheduler/queue/waiting_pods.h"

namespace koord::scheduler {

// Places pods, one after the other, and binds them.
//
// It is told what the cluster looks like (SetPod, SetNode, objects()) and tells the API server what
// it has decided. Everything happens on one loop, in short turns, so that what arrives in between
// is seen soon. Nothing is decided before Start and after Stop; bindings that are under way at Stop
// are finished.
class Scheduler {
 public:
  struct Options {
    uint64_t seed = 1;  // of ties and jitter
    QueueOptions queue = {};
    struct Profile {
      std::string name;  // schedulerName
      std::unique_ptr<kube::EventRecorder> recorder;
      // Makes its plugins; the context is theirs for good.
      std::function<StatusOr<PluginLineup>(const PluginContext&)> make;
    };
    std::vector<Profile> profiles;
    AttemptObserver* observer = nullptr;  // metrics, monitor, debug logs; outlives the scheduler
    // Asked before anything is written: only a leader may.
    std::function<bool()> may_write = [] { return true; };
    // Asked about nodes after the filters, and to bind; null: nobody.
    std::unique_ptr<Extenders> extenders = nullptr;
    // A pod that names a scheduler in its spec and is no longer ours is not bound.
    bool check_owner_before_binding = true;
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
  // Something changed that may help pods that wait.
  void OnEvent(const ClusterEvent& event) { queue_->OnEvent(event); }

  void Start();
  void Stop();
  // Runs `done` once no binding is under way. Pods that wait for a permit are not waited for.
  void WhenDrained(Task done);
  bool running() const { return running_; }
  // Nobody can be tried now and nothing is being bound.
  bool idle() const;

  const Ledger& ledger() const { return ledger_; }
  const SchedulingQueue& queue() const { return *queue_; }
  const Reasons& reasons() const { return reasons_; }
  size_t waiting() const { return waiting_.size(); }  // for a permit
  const WaitingPods& waiting_pods() const { return waiting_; }
  size_t binding() const { return binding_.size() - waiting_.size(); }
  const Clock& clock() const { return loop_.clock(); }
  size_t pending() const { return pending_.size(); }
  // Every pod without node, in no order.
  void ForEachPending(const std::function<void(const kube::Pod&)>& visit) const;
  // The plugins at work, a line-up a profile.
  std::vector<const PluginLineup*> lineups() const;

  // For people who ask about a pod that is not placed yet, or why it went where it is. Nothing is
  // changed by looking.
  Pipeline* PipelineFor(const kube::Pod& pod);
  const ShapePtr ShapeOf(const PodPtr& pod) { return ledger_.shapes().Of(pod); }
  std::string NominatedNodeOf(std::string_view uid) const {
    return std::string(nominator_.NodeOf(uid));
  }

 private:
  Scheduler(EventLoop& loop, kube::Client& client, Options options);
  Status MakeRuntimes();

  AttemptObserver& observer() const { return *options_.observer; }
  // The time since the attempt's last point, and from now on the next one's.
  void EndPoint(CyclePoint point, Attempt& attempt, Code code);
  void TellDrained();
  void Wake();
  void RunTurn();
  size_t Writing() const;  // pods that the API server has not answered about
  void TryPod(const QueuedPod& queued);
  // Nobody else is tried before the extenders have answered; then the pod is decided about with
  // what the cluster looks like by then.
  void AskExtenders(Runtime& runtime, std::shared_ptr<Attempt> attempt);
  void OnAnswered(Runtime& runtime, std::shared_ptr<Attempt> attempt,
                  StatusOr<Extenders::Answer> answer);
  void OnDecided(Runtime& runtime, std::shared_ptr<Attempt> attempt, const Decision& decision,
                 const Extenders::Answer* extenders = nullptr);
  void Place(Runtime& runtime, std::shared_ptr<Attempt> attempt, NodeRow row);
  Verdict Reserve(Runtime& runtime, Attempt& attempt);
  Verdict Permit(Runtime& runtime, Attempt& attempt, std::vector<WaitingPods::Wait>& waits);
  void Wait(Runtime& runtime, std::shared_ptr<Attempt> attempt,
            std::vector<WaitingPods::Wait> waits);
  void Unreserve(Runtime& runtime, Attempt& attempt);
  void Bind(Runtime& runtime, std::shared_ptr<Attempt> attempt);
  void OnBound(Runtime& runtime, const std::shared_ptr<Attempt>& attempt, const Verdict& verdict);
  // A pod that was deleted while it was being bound, and never seen on its node.
  void GiveBackIfGone(const PodPtr& pod);
  Verdict StillWanted(const Attempt& attempt) const;

  // What extenders have agreed to that a plugin evicts.
  struct Agreed {
    PostFilterPlugin* plugin;
    StatusOr<std::vector<EvictionPlan>> plans;
  };
  // A pod that fits nowhere; Fail is for those that failed in any other way.
  void OnUnfit(Runtime& runtime, std::shared_ptr<Attempt> attempt, const Decision& decision,
               const Extenders::Answer* extenders, const Agreed* agreed = nullptr);
  // False if there is nothing to ask: nobody has a say, or nobody would be evicted. Otherwise
  // OnUnfit is called again with what they say.
  bool AskToEvict(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                  const Decision& decision, const Extenders::Answer* extenders,
                  const Diagnosis& diagnosis);
  PostFilterResult RunPostFilter(PostFilterPlugin& plugin, Runtime& runtime, Attempt& attempt,
                                 const Diagnosis& diagnosis, const Agreed* agreed);
  // Rows of the diagnosis with what extenders have refused.
  std::vector<RowDiagnosis> WithRefused(std::span<const RowDiagnosis> rows,
                                        const Extenders::Answer& extenders);
  struct Failure {
    Verdict verdict;
    std::string message;
    std::vector<AttemptFailure::RejectedBy> rejected_by = {};
    std::optional<std::string> nominated_node = "";  // nothing: leave it as it is
  };
  void Fail(Runtime& runtime, const Attempt& attempt, Failure failure);

  void OnAssigned(const PodPtr& before, const PodPtr& after);
  void OnUnassigned(const PodPtr& before, const PodPtr& after);
  void OnGone(const PodPtr& before);
  // After a promise of this pod moved or ended: those who may fit where it was.
  void WakeAfterPromise(const kube::Pod& pod);
  Runtime* RuntimeOf(const kube::Pod& pod) const;

  EventLoop& loop_;
  kube::Client& client_;
  AttemptObserver nobody_;  // where nobody observes
  Options options_;
  PodPatcher patcher_;
  Random random_;
  Reasons reasons_;
  Ledger ledger_;
  ClusterObjects objects_;
  Nominator nominator_;
  NominatedRows nominated_;  // the same, as the pipelines see it
  NodeOrder order_;
  WaitingPods waiting_;
  Runtime::Shared shared_;
  std::vector<std::unique_ptr<Runtime>> runtimes_;
  StringMap<Runtime*> by_name_;
  std::unique_ptr<SchedulingQueue> queue_;
  PodSet pending_;             // pods without node, as last shown
  StringSet binding_;          // uids of pods with a node that are not bound yet
  std::vector<Task> when_drained_;
  bool running_ = false;
  bool turn_posted_ = false;
  bool asking_ = false;  // extenders, about a pod that is out of the queue
  bool api_is_behind_ = false;  // turns rest until it has answered
  Scope scope_;
};

}  // namespace koord::scheduler
