#include "scheduler/cycle/scheduling_cycle.h"

#include <string_view>
#include <utility>
#include <vector>

#include "api/unsupported.h"
#include "base/strings.h"

namespace koord::scheduler {

void SchedulingCycle::Run(Runtime* runtime, const QueuedPod& queued) {
  const kube::Pod& pod = *queued.pod;
  const std::string& uid = pod.metadata.uid;
  parts_.timer.observer().OnPopped(queued);
  if (runtime == nullptr || parts_.ledger.Find(uid) != nullptr || IsBeingDeleted(pod.metadata)) {
    return Skip(runtime, pod);
  }
  runtime->set_current(uid);
  if (queued.attempts == 1) TellUnsupported(*runtime, pod);
  auto attempt = std::make_shared<Attempt>(Attempt{.pod = queued.pod,
                                                   .shape = parts_.ledger.shapes().Of(queued.pod),
                                                   .profile = runtime->name(),
                                                   .attempts = queued.attempts,
                                                   .first_attempt = queued.first_attempt,
                                                   .queued = queued.timestamp,
                                                   .started = parts_.timer.clock().Steady()});
  parts_.timer.observer().OnStarted(*attempt);
  runtime->pipeline().BeginCycle(parts_.timer.clock().Now());
  if (parts_.extenders.AreInterestedIn(pod)) return AskExtenders(*runtime, attempt);
  OnDecided(*runtime, attempt, runtime->pipeline().Decide(pod, attempt->shape));
}

void SchedulingCycle::Skip(Runtime* runtime, const kube::Pod& pod) {
  parts_.timer.observer().OnSkipped(pod);
  if (runtime != nullptr && IsBeingDeleted(pod.metadata)) runtime->reporter().SkippedDeleting(pod);
  parts_.queue.Drop(pod.metadata.uid);
}

void SchedulingCycle::TellUnsupported(Runtime& runtime, const kube::Pod& pod) const {
  std::vector<std::string_view> at_work;
  for (const auto& plugin : runtime.plugins().plugins) at_work.push_back(plugin->name());
  const std::vector<std::string> unsupported = api::UnsupportedRequestsOf(pod, at_work);
  if (unsupported.empty() || !conditions_.may_write()) return;
  runtime.reporter().NotSupported(pod, Join(unsupported, "; "));
}

void SchedulingCycle::AskExtenders(Runtime& runtime, const std::shared_ptr<Attempt>& attempt) {
  Pipeline& pipeline = runtime.pipeline();
  const std::vector<NodeRow> rows = pipeline.Candidates(*attempt->pod, attempt->shape);
  if (rows.empty()) {
    return OnDecided(runtime, attempt, pipeline.Decide(*attempt->pod, attempt->shape));
  }
  parts_.extenders.Ask(attempt->pod, rows,
                       [this, &runtime, attempt](const StatusOr<Extenders::Answer>& answer) {
                         OnAnswered(runtime, attempt, answer);
                       });
}

void SchedulingCycle::OnAnswered(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                                 const StatusOr<Extenders::Answer>& answer) {
  const auto fail = [&](FailedAttempt failure) {
    parts_.failures.Handle(runtime, *attempt, std::move(failure));
  };
  if (!answer.ok()) return fail(FailedAttempt::Error(std::string(Message(answer.status()))));
  if (!conditions_.running()) {
    return fail({.message = "the scheduler was stopped", .nominated_node = std::nullopt});
  }
  if (!parts_.pending.contains(attempt->pod->metadata.uid)) {
    return fail(FailedAttempt::Error("the pod is gone"));
  }
  const ExtenderDialogue::Choice choice = parts_.extenders.ChoiceOf(*answer);
  Pipeline& pipeline = runtime.pipeline();
  pipeline.BeginCycle(parts_.timer.clock().Now());
  const Decision decision =
      pipeline.DecideWithin(*attempt->pod, attempt->shape, choice.rows, choice.bonus);
  OnDecided(runtime, attempt, decision, &*answer);
}

void SchedulingCycle::OnDecided(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                                const Decision& decision, const Extenders::Answer* said) {
  const SteadyTime decided = parts_.timer.clock().Steady();
  const Duration took = decided - attempt->started;
  AttemptObserver& observer = parts_.timer.observer();
  observer.OnPoint(CyclePoint::kFilter, *attempt, decision.verdict.code, took);
  observer.OnDecided(*attempt, runtime.pipeline(), decision, parts_.timer.clock().Now(), took);
  attempt->point_started = decided;
  if (decision.placed()) return parts_.assumed.Place(runtime, attempt, decision.row);
  if (!decision.verdict.rejected() || decision.no_nodes) {
    return parts_.failures.Handle(runtime, *attempt, FailedAttempt::Of(decision.verdict));
  }
  parts_.post_filter.Run(runtime, attempt, said);
}

}  // namespace koord::scheduler
