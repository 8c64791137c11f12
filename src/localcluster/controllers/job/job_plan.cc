#include "localcluster/controllers/job/job_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/duration.h"
#include "kube/resources.h"
#include "localcluster/controllers/job/index_set.h"
#include "localcluster/controllers/job/job_pod.h"
#include "localcluster/controllers/job/job_tally.h"

namespace koord::localcluster {
namespace {

constexpr int32_t kMostAtOnce = 500;
constexpr int32_t kDefaultBackoffLimit = 6;
constexpr Duration kFirstPause = 10s;
constexpr Duration kLongestPause = 10min;

bool Says(const kube::JobStatus& status, std::string_view type) {
  return kube::IsConditionTrue(status.conditions, type);
}

class JobPlanner {
 public:
  JobPlanner(const JobInput& input, Random& random, kube::Plan& plan)
      : input_(input),
        job_(input.job),
        random_(random),
        plan_(plan),
        tally_(TallyOf(job_, input.pods)),
        status_(job_.status) {}

  void Decide() {
    if (IsFinished(job_) || kube::IsBeingDeleted(job_.metadata)) return WindUp();
    const bool suspended = job_.spec.suspend.value_or(false);
    MarkSuspended(suspended);
    if (!suspended && !status_.start_time) status_.start_time = input_.now;
    JudgeOutcome();
    const bool ending = Says(status_, "FailureTarget") || Says(status_, "SuccessCriteriaMet");
    if (ending || suspended) {
      for (const PodPtr& pod : tally_.active) Remove(*pod);
    } else {
      KeepRunning();
    }
    if (ending) Conclude();
    Report();
  }

 private:
  // Nothing runs any more, and nothing holds on to what is left.
  void WindUp() {
    for (const PodPtr& pod : input_.pods) {
      if (IsTracked(*pod)) plan_.Add(Untrack(*pod));
    }
    if (kube::IsBeingDeleted(job_.metadata)) return;
    for (const PodPtr& pod : tally_.active) Remove(*pod);
    if (!job_.spec.ttl_seconds_after_finished) return;
    const Duration left =
        FinishedAt() + std::chrono::seconds(*job_.spec.ttl_seconds_after_finished) - input_.now;
    if (left > Duration::zero()) return plan_.AgainWithin(left);
    kube::Write write = Delete(kube::kJobs, job_.metadata);
    write.options.propagation_policy = "Foreground";
    plan_.Add(std::move(write));
  }

  WallTime FinishedAt() const {
    for (const char* type : {"Complete", "Failed"}) {
      const kube::JobCondition* condition = kube::FindCondition(job_.status.conditions, type);
      if (condition != nullptr && condition->last_transition_time) {
        return *condition->last_transition_time;
      }
    }
    return input_.now;
  }

  void SetCondition(std::string_view type, std::string_view value, std::string_view reason,
                    std::string_view message) {
    kube::JobCondition condition;
    condition.type = type;
    condition.status = value;
    condition.reason = reason;
    condition.message = message;
    condition.last_probe_time = condition.last_transition_time = input_.now;
    std::erase_if(status_.conditions, [&](const auto& c) { return c.type == type; });
    status_.conditions.push_back(std::move(condition));
  }

  void MarkSuspended(bool suspended) {
    const bool was = Says(status_, "Suspended");
    if (suspended && !was) {
      SetCondition("Suspended", "True", "JobSuspended", "Job suspended");
      plan_.Tell(kube::kJobs, job_.metadata, "Suspended", "Job suspended");
    } else if (!suspended && was) {
      SetCondition("Suspended", "False", "JobResumed", "Job resumed");
      status_.start_time = input_.now;
      plan_.Tell(kube::kJobs, job_.metadata, "Resumed", "Job resumed");
    }
  }

  void Fail(std::string_view reason, std::string_view message) {
    SetCondition("FailureTarget", "True", reason, message);
    plan_.Warn(kube::kJobs, job_.metadata, reason, std::string(message));
  }

  bool RestartsInPlace() const {
    return kube::FindString(job_.spec.pod_template, {"spec", "restartPolicy"}) == "OnFailure";
  }

  bool HasCompleted() const {
    if (job_.spec.completions) return tally_.succeeded >= *job_.spec.completions;
    return tally_.succeeded > 0 && tally_.active.empty();
  }

  void JudgeOutcome() {
    if (Says(status_, "FailureTarget") || Says(status_, "SuccessCriteriaMet")) return;
    const int32_t limit = job_.spec.backoff_limit.value_or(kDefaultBackoffLimit);
    const bool over =
        tally_.failed > limit || (RestartsInPlace() && tally_.failed + tally_.restarts > limit);
    const auto deadline = Deadline();
    if (over) {
      Fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    } else if (deadline && *deadline <= input_.now) {
      Fail("DeadlineExceeded", "Job was active longer than specified deadline");
    } else if (HasCompleted()) {
      SetCondition("SuccessCriteriaMet", "True", "CompletionsReached",
                   "Reached expected number of succeeded pods");
    } else if (deadline) {
      plan_.AgainWithin(*deadline - input_.now);
    }
  }

  std::optional<WallTime> Deadline() const {
    if (!job_.spec.active_deadline_seconds || !status_.start_time) return std::nullopt;
    if (job_.spec.suspend.value_or(false)) return std::nullopt;
    return *status_.start_time + BoundedSeconds(*job_.spec.active_deadline_seconds);
  }

  // The verdict becomes final when the last pod has come to its end and is counted.
  void Conclude() {
    const bool counted = tally_.uncounted.succeeded.empty() && tally_.uncounted.failed.empty();
    if (!tally_.active.empty() || !tally_.terminating.empty() || !counted) return;
    if (const auto* failure = kube::FindCondition(status_.conditions, "FailureTarget")) {
      const kube::JobCondition why = *failure;
      SetCondition("Failed", "True", why.reason, why.message);
      return;
    }
    SetCondition("Complete", "True", "CompletionsReached",
                 "Reached expected number of succeeded pods");
    status_.completion_time = input_.now;
    plan_.Tell(kube::kJobs, job_.metadata, "Completed", "Job completed");
  }

  int32_t WantedActive() const {
    const int32_t parallelism = std::max(job_.spec.parallelism.value_or(1), 0);
    const auto active = static_cast<int32_t>(tally_.active.size());
    if (!job_.spec.completions) return tally_.succeeded > 0 ? active : parallelism;
    return std::min(parallelism, std::max(*job_.spec.completions - tally_.succeeded, 0));
  }

  void KeepRunning() {
    const int32_t wanted = WantedActive();
    auto active = static_cast<int32_t>(tally_.active.size());
    if (job_.spec.pod_replacement_policy == "Failed") {
      active += static_cast<int32_t>(tally_.terminating.size());
    }
    if (active > wanted) return RemoveSurplus(active - wanted);
    if (active == wanted) return;
    if (const Duration pause = Pause(); pause > Duration::zero()) return plan_.AgainWithin(pause);
    const int32_t count = std::min(wanted - active, kMostAtOnce);
    if (!IsIndexed(job_)) {
      for (int32_t i = 0; i < count; ++i) Make(std::nullopt);
    } else {
      MakeMissingIndexes(count);
    }
  }

  Duration Pause() const {
    if (tally_.recent_failures == 0 || !tally_.last_failure) return Duration::zero();
    const int doublings = std::min(tally_.recent_failures - 1, 10);
    const Duration pause = std::min(kFirstPause * (1 << doublings), kLongestPause);
    return *tally_.last_failure + pause - input_.now;
  }

  void MakeMissingIndexes(int32_t count) {
    std::set<int32_t> taken = tally_.completed;
    for (const PodPtr& pod : tally_.active) {
      if (const auto index = IndexOf(*pod)) taken.insert(*index);
    }
    const int32_t end = job_.spec.completions.value_or(0);
    for (int32_t index = 0; index < end && count > 0; ++index) {
      if (taken.contains(index)) continue;
      Make(index);
      --count;
    }
  }

  void Make(std::optional<int32_t> index) {
    kube::Write write = Create(kube::kPods, JobPod(job_, index, random_));
    plan_.Tell(kube::kJobs, job_.metadata, "SuccessfulCreate", "Created pod: " + write.key.name);
    plan_.Add(std::move(write));
  }

  void Remove(const kube::Pod& pod) {
    plan_.Tell(kube::kJobs, job_.metadata, "SuccessfulDelete", "Deleted pod: " + pod.metadata.name);
    plan_.Add(Delete(kube::kPods, pod.metadata));
  }

  // Those that have got least far go first.
  void RemoveSurplus(int32_t count) {
    PodList pods = tally_.active;
    std::sort(pods.begin(), pods.end(), [](const PodPtr& a, const PodPtr& b) {
      const auto rank = [](const kube::Pod& pod) {
        return std::tuple(kube::IsAssigned(pod), kube::IsReady(pod),
                          -pod.metadata.creation_timestamp.time_since_epoch().count(),
                          std::string_view(pod.metadata.name));
      };
      return rank(*a) < rank(*b);
    });
    for (int32_t i = 0; i < std::min<int32_t>(count, static_cast<int32_t>(pods.size())); ++i) {
      Remove(*pods[static_cast<size_t>(i)]);
    }
  }

  void Report() {
    status_.active = static_cast<int32_t>(tally_.active.size());
    status_.ready = tally_.ready;
    status_.terminating = static_cast<int32_t>(tally_.terminating.size());
    status_.succeeded = tally_.counted_succeeded;
    status_.failed = tally_.counted_failed;
    status_.completed_indexes = FormatIndexes(tally_.completed);
    status_.uncounted_terminated_pods = tally_.uncounted;
    // Pinned: counting twice from an old copy would be counting wrong.
    const auto patch = PinnedStatusPatch(kube::kJobs, job_.metadata, kube::Encode(job_.status),
                                         kube::Encode(status_));
    plan_.Add(patch);
    for (const PodPtr& pod : tally_.to_untrack) plan_.Add(Untrack(*pod));
  }

  const JobInput& input_;
  const kube::Job& job_;
  Random& random_;
  kube::Plan& plan_;
  const JobTally tally_;
  kube::JobStatus status_;
};

}  // namespace

bool IsFinished(const kube::Job& job) {
  return Says(job.status, "Complete") || Says(job.status, "Failed");
}

void PlanJob(const JobInput& input, Random& random, kube::Plan& plan) {
  JobPlanner(input, random, plan).Decide();
}

}  // namespace koord::localcluster
