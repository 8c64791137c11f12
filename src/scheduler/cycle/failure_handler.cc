#include "scheduler/cycle/failure_handler.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"

namespace koord::scheduler {

FailedAttempt FailedAttempt::OnItsNode(const Verdict& verdict) {
  if (!verdict.rejected()) return Of(verdict);
  return {.rejected = true,
          .message = fmt::format("0/1 nodes are available: 1 {}.", verdict.Message()),
          .rejected_by = {{verdict.plugin, verdict.code == Code::kPending}}};
}

void FailureHandler::Handle(Runtime& runtime, const Attempt& attempt, FailedAttempt failure) {
  const std::string& uid = attempt.pod->metadata.uid;
  LOG_V(2, failure.rejected ? "Unable to schedule pod; waiting" : "Error scheduling pod; retrying",
        {"pod", KeyOf(attempt.pod->metadata).ToString()}, {"err", failure.message});
  parts_.observer.OnFinished(
      attempt, failure.rejected ? AttemptResult::kUnschedulable : AttemptResult::kError);
  parts_.queue.Return(uid,
                      {std::move(failure.rejected_by), failure.message, std::move(failure.unfit)});
  const auto pod = parts_.pending.find(uid);
  if (pod == parts_.pending.end()) return;  // it is gone, or has a node
  const std::shared_ptr<const kube::Pod> current = *pod;
  if (current->spec.scheduler_name != attempt.profile) return;  // it is another's by now
  if (failure.nominated_node) parts_.nominations.Nominate(current, *failure.nominated_node);
  if (!may_write_()) return;
  runtime.reporter().Failed(*current, {.rejected = failure.rejected,
                                       .message = std::move(failure.message),
                                       .nominated_node = std::move(failure.nominated_node)});
}

}  // namespace koord::scheduler
