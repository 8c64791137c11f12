#include "scheduler/cycle/assumed_pods.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"
#include "scheduler/binding/reserve_permit.h"

namespace koord::scheduler {
namespace {

// Nothing leaves the promise as it is.
std::optional<std::string> PromisedAfter(const Verdict& verdict, const Attempt& attempt) {
  switch (verdict.promise) {
    case PromiseAfter::kNothing:
      break;
    case PromiseAfter::kAsBefore:
      if (attempt.promised.empty()) return std::nullopt;
      return attempt.promised;
    case PromiseAfter::kItsNode:
      return attempt.node;
  }
  return "";
}

// A word about the one node that was chosen, or about the pod.
enum class About : uint8_t { kItsNode, kThePod };

FailedAttempt FailureOf(const Attempt& attempt, const Verdict& verdict, About about) {
  FailedAttempt failure =
      about == About::kItsNode ? FailedAttempt::OnItsNode(verdict) : FailedAttempt::Of(verdict);
  failure.nominated_node = PromisedAfter(verdict, attempt);
  return failure;
}

}  // namespace

void AssumedPods::Place(Runtime& runtime, std::shared_ptr<Attempt> attempt, NodeRow row) {
  const kube::Pod& pod = *attempt->pod;
  attempt->row = row;
  attempt->node = parts_.ledger.nodes().name(row);
  attempt->promised = parts_.nominations.Take(pod.metadata.uid);
  const bool was_promised = !attempt->promised.empty();
  const auto fail = [&](FailedAttempt failure) {
    if (was_promised && failure.nominated_node != attempt->promised) {
      parts_.nominations.TellFreed(pod);
    }
    parts_.failures.Handle(runtime, *attempt, std::move(failure));
  };
  if (const Verdict verdict = Reserve(runtime, *attempt); !verdict.ok()) {
    RunUnreserve(runtime.plugins(), *attempt);
    return fail(FailureOf(*attempt, verdict, About::kItsNode));
  }
  const auto assumed =
      parts_.ledger.Assume(attempt->pod, attempt->shape, row, std::move(attempt->held));
  if (!assumed.ok()) {
    RunUnreserve(runtime.plugins(), *attempt);
    return fail(FailedAttempt::Error(std::string(Message(assumed.status()))));
  }
  std::vector<WaitingPods::Wait> waits;
  if (const Verdict verdict = Permit(runtime, *attempt, waits); !verdict.ok()) {
    RunUnreserve(runtime.plugins(), *attempt);
    parts_.ledger.Forget(pod.metadata.uid);
    return fail(FailureOf(*attempt, verdict, About::kItsNode));
  }
  if (was_promised && attempt->promised != attempt->node) parts_.nominations.TellFreed(pod);
  uids_.insert(pod.metadata.uid);
  if (waits.empty()) return Bind(runtime, attempt);
  Wait(runtime, std::move(attempt), std::move(waits));
}

Verdict AssumedPods::Reserve(Runtime& runtime, Attempt& attempt) const {
  Verdict verdict = RunReserve(runtime.plugins(), attempt);
  parts_.timer.End(CyclePoint::kReserve, attempt, verdict.code);
  return verdict;
}

Verdict AssumedPods::Permit(Runtime& runtime, Attempt& attempt,
                            std::vector<WaitingPods::Wait>& waits) const {
  Verdict verdict = RunPermit(runtime.plugins(), attempt, waits);
  parts_.timer.End(CyclePoint::kPermit, attempt, waits.empty() ? verdict.code : Code::kWait);
  return verdict;
}

void AssumedPods::Wait(Runtime& runtime, std::shared_ptr<Attempt> attempt,
                       std::vector<WaitingPods::Wait> waits) {
  const Attempt& waiting = *attempt;
  parts_.timer.observer().OnWaiting(waiting);
  const SteadyTime began = attempt->point_started;
  parts_.waiting.Add(
      waiting, std::move(waits),
      scope_.Wrap([this, &runtime, began, attempt = std::move(attempt)](const Verdict& verdict) {
        parts_.timer.Restart(*attempt);
        parts_.timer.observer().OnWaited(*attempt, verdict, attempt->point_started - began);
        if (verdict.ok()) return Bind(runtime, attempt);
        OnAnswered(runtime, *attempt, verdict);
      }));
}

void AssumedPods::Bind(Runtime& runtime, const std::shared_ptr<Attempt>& attempt) {
  runtime.binding().Run(attempt, scope_.Wrap([this, &runtime, attempt](const Verdict& verdict) {
    OnAnswered(runtime, *attempt, verdict);
  }));
}

void AssumedPods::OnAnswered(Runtime& runtime, Attempt& attempt, const Verdict& verdict) {
  uids_.erase(attempt.pod->metadata.uid);
  settled_();
  if (verdict.ok()) {
    OnBound(runtime, attempt);
  } else {
    OnNotBound(runtime, attempt, verdict);
  }
  TellDrained();
}

void AssumedPods::OnBound(Runtime& runtime, Attempt& attempt) {
  const kube::Pod& pod = *attempt.pod;
  parts_.queue.Done(pod.metadata.uid);
  GiveBackIfGone(attempt.pod);
  LOG_V(2, "Successfully bound pod to node", {"pod", KeyOf(pod.metadata).ToString()},
        {"node", attempt.node});
  runtime.reporter().Bound(pod, attempt.node);
  parts_.timer.observer().OnBound(attempt);
  parts_.timer.observer().OnFinished(attempt, AttemptResult::kScheduled);
  parts_.timer.Restart(attempt);
  for (PostBindPlugin* plugin : runtime.plugins().post_bind) plugin->PostBind(attempt);
  parts_.timer.End(CyclePoint::kPostBind, attempt, Code::kSuccess);
}

void AssumedPods::OnNotBound(Runtime& runtime, Attempt& attempt, const Verdict& verdict) {
  const std::string& uid = attempt.pod->metadata.uid;
  const auto& permits = runtime.plugins().permit;
  const auto found = std::ranges::find_if(
      permits, [&](const PermitPlugin* plugin) { return plugin->name() == verdict.plugin; });
  const PermitPlugin* const refused = found == permits.end() ? nullptr : *found;
  // Events that came meanwhile were judged by what the pod held: then it is news to everybody.
  const bool has_heard = parts_.queue.HasHeardSince(uid);
  const bool is_news = refused == nullptr || has_heard || !refused->HasSentBackAtOnce(*attempt.pod);
  RunUnreserve(runtime.plugins(), attempt);
  // A binding whose answer was lost may have happened: what the watch has shown stays.
  if (parts_.ledger.Forget(uid) && is_news) {
    WakeFilter filter{.except_uid = verdict.rejected() ? uid : "", .max_priority = {}};
    if (refused != nullptr && !has_heard) {
      filter.is_no_news_to = [refused, pod = attempt.pod](const kube::Pod& other) {
        return refused->AreOne(*pod, other);
      };
    }
    parts_.queue.OnEvent({.kind = EventKind::kAssignedPodRemoved, .pod_before = attempt.pod},
                         filter);
  }
  parts_.failures.Handle(
      runtime, attempt,
      FailureOf(attempt, verdict, refused != nullptr ? About::kItsNode : About::kThePod));
}

void AssumedPods::GiveBackIfGone(const std::shared_ptr<const kube::Pod>& pod) {
  const std::string& uid = pod->metadata.uid;
  if (parts_.pending.contains(uid) || !parts_.ledger.Forget(uid)) return;
  parts_.queue.OnEvent({.kind = EventKind::kAssignedPodRemoved, .pod_before = pod});
}

bool AssumedPods::OnGone(std::string_view uid) {
  // One that waits for its permit need not wait any more. One that was bound may never have been
  // seen on its node.
  parts_.waiting.Reject(uid, "", "pod is deleted");
  const PodInfo* known = parts_.ledger.Find(uid);
  const bool seen = known != nullptr && !known->assumed;
  return (seen || !uids_.contains(uid)) && parts_.ledger.RemovePod(uid);
}

void AssumedPods::WhenDrained(Task done) {
  when_drained_.push_back(std::move(done));
  TellDrained();
}

void AssumedPods::TellDrained() {
  if (binding() != 0) return;
  for (Task& done : std::exchange(when_drained_, {})) done();
}

}  // namespace koord::scheduler
