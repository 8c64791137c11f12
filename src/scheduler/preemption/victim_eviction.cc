#include "scheduler/preemption/victim_eviction.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

constexpr Duration kPauseAfterError = 1s;

bool IsSeenLeaving(const kube::Pod& pod) {
  const kube::PodCondition* condition = FindCondition(pod.status.conditions, "DisruptionTarget");
  return IsBeingDeleted(pod.metadata) && condition != nullptr && condition->status == "True" &&
         condition->reason == "PreemptionByScheduler";
}

}  // namespace

bool VictimEviction::IsLeaving(const PodInfo& pod) const {
  const bool unseen = told_.contains(pod.uid()) && !IsBeingDeleted(pod.pod->metadata);
  return unseen || IsSeenLeaving(*pod.pod);
}

void VictimEviction::Evict(const Attempt& attempt, NodeRow row,
                           const std::vector<const PodInfo*>& evicted) {
  const std::string node = context_.nodes().name(row);
  for (const auto& pod : context_.handle->NominatedTo(node)) {
    if (pod->spec.priority.value_or(0) < attempt.shape->priority) {
      context_.handle->ClearNomination(*pod);
    }
  }
  std::vector<std::shared_ptr<const kube::Pod>> victims;
  for (const PodInfo* victim : evicted) victims.push_back(victim->pod);
  if (std::ranges::all_of(victims, [](const auto& pod) { return IsBeingDeleted(pod->metadata); })) {
    // Nobody is told anything, so there is nothing to wait for but their end.
    return context_.handle->Preempt(attempt, node, std::move(victims), [](bool) {});
  }
  const std::string uid = attempt.pod->metadata.uid;
  evicting_for_.insert(uid);
  std::vector<std::string> told = ToBeTold(victims);
  context_.handle->Preempt(
      attempt, node, std::move(victims),
      [this, uid, told = std::move(told), key = KeyOf(attempt.pod->metadata)](bool all_leave) {
        if (all_leave) {
          RememberTold(told);
          return End(uid, key);
        }
        context_.loop.Schedule(kPauseAfterError, scope_.Wrap([this, uid, key] { End(uid, key); }));
      });
}

std::vector<std::string> VictimEviction::ToBeTold(
    const std::vector<std::shared_ptr<const kube::Pod>>& victims) const {
  StringSet waiting;
  context_.handle->ForEachWaiting(
      [&](const Attempt& attempt) { waiting.insert(attempt.pod->metadata.uid); });
  std::vector<std::string> told;
  for (const auto& victim : victims) {
    const kube::ObjectMeta& meta = victim->metadata;
    if (!IsBeingDeleted(meta) && !waiting.contains(meta.uid)) told.push_back(meta.uid);
  }
  return told;
}

void VictimEviction::End(const std::string& uid, const kube::ObjectKey& key) {
  evicting_for_.erase(uid);
  context_.handle->Activate({key});
}

void VictimEviction::RememberTold(const std::vector<std::string>& victims) {
  absl::erase_if(told_,
                 [&](const std::string& uid) { return context_.ledger.Find(uid) == nullptr; });
  told_.insert(victims.begin(), victims.end());
}

}  // namespace koord::scheduler
