#include "localcluster/controllers/deployment/deployment_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "localcluster/controllers/common/replica_limit.h"

namespace koord::localcluster {
namespace {

using kube::DeploymentCondition;
using kube::DeploymentStatus;

constexpr std::string_view kNewSetAvailable = "NewReplicaSetAvailable";
constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";

bool HasDeadline(const kube::Deployment& deployment) {
  const auto& seconds = deployment.spec.progress_deadline_seconds;
  return seconds && *seconds != std::numeric_limits<int32_t>::max();
}

// Replaces the condition of that type. Its transition time moves with its status only, and an
// unchanged condition stays as it is to the letter.
void SetCondition(DeploymentStatus& status, std::string_view type, std::string_view value,
                  std::string_view reason, std::string message, WallTime now) {
  const auto known = std::find_if(status.conditions.begin(), status.conditions.end(),
                                  [&](const auto& c) { return c.type == type; });
  DeploymentCondition condition;
  condition.type = type;
  condition.status = value;
  condition.reason = reason;
  condition.message = std::move(message);
  condition.last_update_time = condition.last_transition_time = now;
  if (known == status.conditions.end()) {
    status.conditions.push_back(std::move(condition));
    return;
  }
  if (known->status == value) condition.last_transition_time = known->last_transition_time;
  *known = std::move(condition);
}

void RemoveCondition(DeploymentStatus& status, std::string_view type) {
  std::erase_if(status.conditions, [&](const auto& c) { return c.type == type; });
}

bool Says(const DeploymentStatus& status, std::string_view type, std::string_view value,
          std::string_view reason) {
  const DeploymentCondition* condition = kube::FindCondition(status.conditions, type);
  return condition != nullptr && condition->status == value && condition->reason == reason;
}

void CountReplicas(const RolloutState& state, DeploymentStatus& status) {
  status.replicas = status.ready_replicas = status.available_replicas = 0;
  for (const ReplicaSetPtr& set : state.sets) {
    status.replicas += set->status.replicas;
    status.ready_replicas += set->status.ready_replicas;
    status.available_replicas += set->status.available_replicas;
  }
  status.updated_replicas = state.newest != nullptr ? state.newest->status.replicas : 0;
  const int64_t unavailable = TotalWanted(state.sets) - status.available_replicas;
  status.unavailable_replicas = ToReplicas(std::max<int64_t>(unavailable, 0));
}

void SetAvailable(const RolloutState& state, DeploymentStatus& status) {
  const int32_t least = WantedBy(state.deployment) - LimitsOf(state.deployment).max_unavailable;
  const bool enough = status.available_replicas >= least;
  const std::string_view value = enough ? "True" : "False";
  const std::string_view reason =
      enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable";
  if (Says(status, "Available", value, reason)) return;
  SetCondition(status, "Available", value, reason,
               enough ? "Deployment has minimum availability."
                      : "Deployment does not have minimum availability.",
               state.now);
}

bool HasProgressed(const DeploymentStatus& before, const DeploymentStatus& after) {
  const int32_t old_before = before.replicas - before.updated_replicas;
  const int32_t old_after = after.replicas - after.updated_replicas;
  return after.updated_replicas > before.updated_replicas || old_after < old_before ||
         after.ready_replicas > before.ready_replicas ||
         after.available_replicas > before.available_replicas;
}

void SetPaused(const RolloutState& state, DeploymentStatus& status) {
  const DeploymentCondition* known = kube::FindCondition(status.conditions, "Progressing");
  if (known != nullptr && known->reason == kTimedOut) return;
  const bool was_paused = known != nullptr && known->reason == "DeploymentPaused";
  if (state.deployment.spec.paused && !was_paused) {
    SetCondition(status, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused",
                 state.now);
  } else if (!state.deployment.spec.paused && was_paused) {
    SetCondition(status, "Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed",
                 state.now);
  }
}

void SetProgressing(const RolloutState& state, DeploymentStatus& status) {
  if (!HasDeadline(state.deployment)) return RemoveCondition(status, "Progressing");
  if (state.created != nullptr) {
    return SetCondition(status, "Progressing", "True", "NewReplicaSetCreated",
                        fmt::format("Created new replica set \"{}\"", *state.created), state.now);
  }
  SetPaused(state, status);
  if (state.deployment.spec.paused || state.newest == nullptr) return;

  const std::string& name = state.newest->metadata.name;
  const DeploymentCondition* known = kube::FindCondition(status.conditions, "Progressing");
  const bool was_complete = known != nullptr && known->reason == kNewSetAvailable;
  if (was_complete && status.replicas == status.updated_replicas) return;
  if (IsComplete(state.deployment, status)) {
    SetCondition(status, "Progressing", "True", kNewSetAvailable,
                 fmt::format("ReplicaSet \"{}\" has successfully progressed.", name), state.now);
  } else if (HasProgressed(state.deployment.status, status)) {
    SetCondition(status, "Progressing", "True", "ReplicaSetUpdated",
                 fmt::format("ReplicaSet \"{}\" is progressing.", name), state.now);
  } else if (known == nullptr) {
    SetCondition(status, "Progressing", "True", "FoundNewReplicaSet",
                 fmt::format("Found new replica set \"{}\"", name), state.now);
  } else if (const auto deadline = ProgressDeadline(state.deployment, status);
             deadline && *deadline <= state.now) {
    SetCondition(status, "Progressing", "False", kTimedOut,
                 fmt::format("ReplicaSet \"{}\" has timed out progressing.", name), state.now);
  }
}

// What keeps the newest set (or else any) from making pods.
void SetReplicaFailure(const RolloutState& state, DeploymentStatus& status) {
  const kube::Condition* failure = nullptr;
  for (const ReplicaSetPtr& set : state.sets) {
    const kube::Condition* own = kube::FindCondition(set->status.conditions, "ReplicaFailure");
    if (own != nullptr && (failure == nullptr || set.get() == state.newest)) failure = own;
  }
  if (failure == nullptr) return RemoveCondition(status, "ReplicaFailure");
  const DeploymentCondition* known = kube::FindCondition(status.conditions, "ReplicaFailure");
  if (known != nullptr && known->message == failure->message) return;
  SetCondition(status, "ReplicaFailure", failure->status, failure->reason, failure->message,
               state.now);
}

}  // namespace

DeploymentStatus StatusOf(const RolloutState& state) {
  DeploymentStatus status = state.deployment.status;
  status.observed_generation = state.deployment.metadata.generation;
  CountReplicas(state, status);
  SetAvailable(state, status);
  SetProgressing(state, status);
  SetReplicaFailure(state, status);
  return status;
}

bool IsComplete(const kube::Deployment& deployment, const DeploymentStatus& status) {
  const int32_t wanted = WantedBy(deployment);
  return status.updated_replicas == wanted && status.replicas == wanted &&
         status.available_replicas == wanted &&
         status.observed_generation >= deployment.metadata.generation;
}

std::optional<WallTime> ProgressDeadline(const kube::Deployment& deployment,
                                         const DeploymentStatus& status) {
  if (!HasDeadline(deployment) || deployment.spec.paused) return std::nullopt;
  const DeploymentCondition* known = kube::FindCondition(status.conditions, "Progressing");
  if (known == nullptr || !known->last_update_time) return std::nullopt;
  if (known->reason == kNewSetAvailable || known->reason == kTimedOut) return std::nullopt;
  return *known->last_update_time +
         std::chrono::seconds(*deployment.spec.progress_deadline_seconds);
}

}  // namespace koord::localcluster
