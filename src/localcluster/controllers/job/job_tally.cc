#include "localcluster/controllers/job/job_tally.h"

#include <algorithm>
#include <limits>
#include <map>

#include "localcluster/controllers/job/index_set.h"
#include "localcluster/controllers/job/job_pod.h"

namespace koord::localcluster {
namespace {

bool HasSucceeded(const kube::Pod& pod) { return pod.status.phase == "Succeeded"; }

// A pod that is told to go will not succeed any more: its replacement need not wait.
bool HasFailed(const kube::Pod& pod) {
  return pod.status.phase == "Failed" || (kube::IsBeingDeleted(pod.metadata) && !HasSucceeded(pod));
}

WallTime EndOf(const kube::Pod& pod) {
  WallTime end = pod.metadata.deletion_timestamp.value_or(pod.metadata.creation_timestamp);
  for (const kube::ContainerStatus& status : pod.status.container_statuses) {
    if (status.state.terminated && status.state.terminated->finished_at) {
      end = std::max(end, *status.state.terminated->finished_at);
    }
  }
  return end;
}

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

class Tally {
 public:
  Tally(const kube::Job& job, const PodList& pods) : job_(job) {
    for (const PodPtr& pod : pods) by_uid_[pod->metadata.uid] = pod;
    if (job.status.uncounted_terminated_pods) known_ = *job.status.uncounted_terminated_pods;
    tally_.counted_succeeded = job.status.succeeded;
    tally_.counted_failed = job.status.failed;
    tally_.completed = ParseIndexes(job.status.completed_indexes, job.spec.completions.value_or(0));
  }

  JobTally Run() {
    persisted_ = tally_.completed;
    Settle(known_.succeeded, tally_.uncounted.succeeded, tally_.counted_succeeded);
    Settle(known_.failed, tally_.uncounted.failed, tally_.counted_failed);
    for (const auto& [uid, pod] : by_uid_) Look(pod);
    CountRecentFailures();
    if (IsIndexed(job_)) {
      tally_.counted_succeeded = static_cast<int32_t>(tally_.completed.size());
    }
    tally_.succeeded =
        tally_.counted_succeeded + static_cast<int32_t>(tally_.uncounted.succeeded.size());
    tally_.failed = tally_.counted_failed + static_cast<int32_t>(tally_.uncounted.failed.size());
    return std::move(tally_);
  }

 private:
  // Uncounted pods whose finalizer is gone move to the sum; the others stay and lose it.
  void Settle(const std::vector<std::string>& uids, std::vector<std::string>& uncounted,
              int32_t& sum) {
    for (const std::string& uid : uids) {
      const auto pod = by_uid_.find(uid);
      if (pod == by_uid_.end() || !IsTracked(*pod->second)) {
        ++sum;
      } else {
        uncounted.push_back(uid);
        tally_.to_untrack.push_back(pod->second);
      }
    }
  }

  void Look(const PodPtr& pod) {
    if (HasSucceeded(*pod)) {
      LookAtSuccess(pod);
    } else if (HasFailed(*pod)) {
      LookAtFailure(pod);
    } else {
      tally_.active.push_back(pod);
      tally_.ready += kube::IsReady(*pod);
      for (const auto& status : pod->status.container_statuses) {
        tally_.restarts += status.restart_count;
      }
    }
  }

  void LookAtFailure(const PodPtr& pod) {
    if (!kube::IsTerminal(*pod)) tally_.terminating.push_back(pod);
    if (!IsTracked(*pod) || Contains(known_.failed, pod->metadata.uid)) return;
    // Pods that go because the job is suspended have not failed.
    if (job_.spec.suspend.value_or(false) && kube::IsBeingDeleted(pod->metadata)) {
      tally_.to_untrack.push_back(pod);
    } else {
      tally_.uncounted.failed.push_back(pod->metadata.uid);
    }
  }

  void LookAtSuccess(const PodPtr& pod) {
    if (!IsTracked(*pod)) return;
    if (!IsIndexed(job_)) {
      if (!Contains(known_.succeeded, pod->metadata.uid)) {
        tally_.uncounted.succeeded.push_back(pod->metadata.uid);
      }
      return;
    }
    // An index is its own proof: once the status has it, the pod may go.
    const std::optional<int32_t> index = IndexOf(*pod);
    const bool valid = index && *index < job_.spec.completions.value_or(0);
    if (!valid || persisted_.contains(*index)) tally_.to_untrack.push_back(pod);
    if (valid) tally_.completed.insert(*index);
  }

  void CountRecentFailures() {
    WallTime last_success = WallTime::min();
    for (const auto& [uid, pod] : by_uid_) {
      if (HasSucceeded(*pod)) last_success = std::max(last_success, EndOf(*pod));
    }
    for (const auto& [uid, pod] : by_uid_) {
      if (pod->status.phase != "Failed" || EndOf(*pod) <= last_success) continue;
      ++tally_.recent_failures;
      tally_.last_failure = std::max(tally_.last_failure.value_or(WallTime::min()), EndOf(*pod));
    }
  }

  const kube::Job& job_;
  std::map<std::string, PodPtr> by_uid_;
  kube::UncountedTerminatedPods known_;
  std::set<int32_t> persisted_;
  JobTally tally_;
};

}  // namespace

JobTally TallyOf(const kube::Job& job, const PodList& pods) { return Tally(job, pods).Run(); }

}  // namespace koord::localcluster
