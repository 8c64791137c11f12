#pragma once
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "base/string_map.h"
#include "scheduler/binding/waiting_pods.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/pod_set.h"
#include "scheduler/cycle/failure_handler.h"
#include "scheduler/cycle/point_timer.h"
#include "scheduler/cycle/runtime.h"
#include "scheduler/nomination/nominations.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// Pods that were given a node, until they are bound: reserved for, charged, permitted and bound; or
// everything is given back and they are tried again.
class AssumedPods {
 public:
  struct Parts {
    Ledger& ledger;
    SchedulingQueue& queue;
    Nominations& nominations;
    WaitingPods& waiting;
    const PodSet& pending;
    FailureHandler& failures;
    PointTimer timer;
  };
  // `settled` is called whenever one of them was bound or failed to be.
  AssumedPods(Parts parts, std::function<void()> settled)
      : parts_(parts), settled_(std::move(settled)) {}

  void Place(Runtime& runtime, std::shared_ptr<Attempt> attempt, NodeRow row);

  // The pod is gone. Whether it has given its room back: one that is being bound does so when the
  // API server has answered, unless it was seen on its node before.
  bool OnGone(std::string_view uid);

  bool empty() const { return uids_.empty(); }
  // Those that do not wait for a permit.
  size_t binding() const { return uids_.size() - parts_.waiting.size(); }
  // Runs `done` once none is being bound.
  void WhenDrained(Task done);

 private:
  Verdict Reserve(Runtime& runtime, Attempt& attempt) const;
  // On success `waits` has those whose word the pod must wait for.
  Verdict Permit(Runtime& runtime, Attempt& attempt, std::vector<WaitingPods::Wait>& waits) const;
  void Wait(Runtime& runtime, std::shared_ptr<Attempt> attempt,
            std::vector<WaitingPods::Wait> waits);
  void Bind(Runtime& runtime, const std::shared_ptr<Attempt>& attempt);
  void OnAnswered(Runtime& runtime, Attempt& attempt, const Verdict& verdict);
  void OnBound(Runtime& runtime, Attempt& attempt);
  void OnNotBound(Runtime& runtime, Attempt& attempt, const Verdict& verdict);
  // A pod that was deleted while it was being bound, and never seen on its node.
  void GiveBackIfGone(const std::shared_ptr<const kube::Pod>& pod);
  void TellDrained();

  const Parts parts_;
  const std::function<void()> settled_;
  StringSet uids_;
  std::vector<Task> when_drained_;
  Scope scope_;
};

}  // namespace koord::scheduler
