#include "scheduler/binding/waiting_pods.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration.h"

namespace koord::scheduler {

namespace {

Verdict RejectedBy(std::string_view plugin, std::string reason) {
  Verdict verdict = Verdict::Unschedulable(std::move(reason));
  verdict.plugin = plugin;
  return verdict;
}

}  // namespace

void WaitingPods::Add(const Attempt& attempt, std::vector<Wait> waits, VerdictDone done) {
  auto pod = std::make_unique<Waiting>(loop_);
  pod->attempt = &attempt;
  pod->done = std::move(done);
  for (Wait& wait : waits) {
    wait.timeout = std::clamp(wait.timeout, Duration::zero(), kLongest);
    const SteadyTime deadline = loop_.clock().Steady() + wait.timeout;
    pod->plugins.push_back({std::move(wait), deadline});
  }
  const uint64_t id = next_id_++;
  Arm(id, *pod);
  by_uid_[attempt.pod->metadata.uid] = id;
  pods_[id] = std::move(pod);
}

bool WaitingPods::Allow(std::string_view uid, std::string_view plugin) {
  const auto at = FindWaiting(uid);
  if (at == pods_.end()) return false;
  Waiting& pod = *at->second;
  if (std::erase_if(pod.plugins, [&](const auto& until) { return until.wait.plugin == plugin; }) ==
      0) {
    return false;
  }
  if (pod.plugins.empty()) {
    Finish(at, Verdict::Success());
  } else {
    Arm(at->first, pod);
  }
  return true;
}

bool WaitingPods::Reject(std::string_view uid, std::string_view plugin, std::string reason,
                         PromiseAfter promise) {
  const auto at = FindWaiting(uid);
  if (at == pods_.end()) return false;
  Verdict verdict = RejectedBy(plugin, std::move(reason));
  verdict.promise = promise;
  Finish(at, std::move(verdict));
  return true;
}

const Attempt* WaitingPods::Find(std::string_view uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : pods_.find(found->second)->second->attempt;
}

std::vector<WaitingPods::Waits> WaitingPods::WaitsOf(std::string_view uid) const {
  std::vector<Waits> waits;
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return waits;
  for (const Waiting::Until& until : pods_.find(found->second)->second->plugins) {
    waits.push_back({until.wait.plugin, until.deadline - loop_.clock().Steady()});
  }
  return waits;
}

void WaitingPods::ForEach(const std::function<void(const Attempt&)>& visit) const {
  for (auto at = pods_.begin(); at != pods_.end();) {
    const uint64_t id = at->first;
    visit(*at->second->attempt);
    at = pods_.upper_bound(id);  // whoever was visited may be gone
  }
}

WaitingPods::Pods::iterator WaitingPods::FindWaiting(std::string_view uid) {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? pods_.end() : pods_.find(found->second);
}

void WaitingPods::Arm(uint64_t id, Waiting& pod) {
  const auto first =
      std::min_element(pod.plugins.begin(), pod.plugins.end(),
                       [](const auto& a, const auto& b) { return a.deadline < b.deadline; });
  const Duration left = first->deadline - loop_.clock().Steady();
  pod.timer.Set(std::max(left, Duration::zero()),
                [this, id, plugin = first->wait.plugin, timeout = first->wait.timeout] {
                  Finish(pods_.find(id),
                         RejectedBy(plugin, fmt::format("rejected due to timeout after waiting {} "
                                                        "at plugin {}",
                                                        FormatDuration(timeout), plugin)));
                });
}

void WaitingPods::Finish(Pods::iterator at, Verdict verdict) {
  VerdictDone done = std::move(at->second->done);
  by_uid_.erase(by_uid_.find(std::string_view(at->second->attempt->pod->metadata.uid)));
  pods_.erase(at);
  loop_.Post(scope_.Wrap([done = std::move(done), verdict = std::move(verdict)]() mutable {
    done(std::move(verdict));
  }));
}

}  // namespace koord::scheduler
