#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cluster/pod_set.h"
#include "scheduler/cycle/attempt_observer.h"
#include "scheduler/cycle/runtime.h"
#include "scheduler/nomination/nominations.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// How an attempt ended that did not bind the pod.
struct FailedAttempt {
  bool rejected = false;  // or an internal error
  std::string message = {};
  std::vector<AttemptFailure::RejectedBy> rejected_by = {};
  std::optional<std::string> nominated_node = "";  // nothing: leave it as it is
  std::optional<Unfit> unfit = {};                 // all pods of its shape would fail like it

  static FailedAttempt Error(std::string message) { return {false, std::move(message)}; }
  // In the words of the verdict.
  static FailedAttempt Of(const Verdict& verdict) {
    return {verdict.rejected(), verdict.Message()};
  }
  // The word of a plugin about the one node that was chosen.
  static FailedAttempt OnItsNode(const Verdict& verdict);
};

// What becomes of a pod whose attempt failed: it goes back to the queue with what it waits for, it
// is promised a node or loses its promise, and its owner is told.
class FailureHandler {
 public:
  struct Parts {
    SchedulingQueue& queue;
    Nominations& nominations;
    const PodSet& pending;
    AttemptObserver& observer;
  };
  // Nobody is told while `may_write` says no.
  FailureHandler(Parts parts, std::function<bool()> may_write)
      : parts_(parts), may_write_(std::move(may_write)) {}

  void Handle(Runtime& runtime, const Attempt& attempt, FailedAttempt failure);

 private:
  const Parts parts_;
  const std::function<bool()> may_write_;
};

}  // namespace koord::scheduler
