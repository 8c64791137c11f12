#pragma once
#include <functional>
#include <memory>
#include <string>

#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/pod_set.h"
#include "scheduler/cycle/assumed_pods.h"
#include "scheduler/cycle/failure_handler.h"
#include "scheduler/cycle/point_timer.h"
#include "scheduler/cycle/post_filter_cycle.h"
#include "scheduler/cycle/runtime.h"
#include "scheduler/extender/extender_dialogue.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// One attempt to place a pod that has come out of the queue: a decision, with the extenders' say
// where they have one; then the pod is handed on with its node, without one, or as failed.
class SchedulingCycle {
 public:
  struct Parts {
    Ledger& ledger;
    SchedulingQueue& queue;
    const PodSet& pending;
    ExtenderDialogue& extenders;
    AssumedPods& assumed;
    PostFilterCycle& post_filter;
    FailureHandler& failures;
    PointTimer timer;
  };
  struct Conditions {
    std::function<bool()> running;    // nothing is decided otherwise
    std::function<bool()> may_write;  // nobody is told anything otherwise
  };
  SchedulingCycle(Parts parts, Conditions conditions)
      : parts_(parts), conditions_(std::move(conditions)) {}

  // `runtime`: the pod's profile; null if it has none any more.
  void Run(Runtime* runtime, const QueuedPod& queued);

 private:
  void Skip(Runtime* runtime, const kube::Pod& pod);
  // Whoever asks for what nothing acts on yet must not find out from what happens.
  void TellUnsupported(Runtime& runtime, const kube::Pod& pod) const;
  // Nobody else is tried before the extenders have answered; then the pod is decided about with
  // what the cluster looks like by then.
  void AskExtenders(Runtime& runtime, const std::shared_ptr<Attempt>& attempt);
  void OnAnswered(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                  const StatusOr<Extenders::Answer>& answer);
  void OnDecided(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                 const Decision& decision, const Extenders::Answer* said = nullptr);

  const Parts parts_;
  const Conditions conditions_;
};

}  // namespace koord::scheduler
