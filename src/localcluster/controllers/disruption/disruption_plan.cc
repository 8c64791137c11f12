#include "localcluster/controllers/disruption/disruption_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kube/resources.h"
#include "localcluster/controllers/common/replica_limit.h"

namespace koord::localcluster {
namespace {

using kube::IntOrString;
using kube::PodDisruptionBudget;
using kube::PodDisruptionBudgetStatus;

// An eviction that was granted and has not happened by then will not happen.
constexpr Duration kPromiseLasts = 2min;

struct Need {
  int32_t expected = 0;
  int32_t desired = 0;
};

StatusOr<int32_t> SummedScale(const DisruptionInput& input) {
  std::map<std::string, int32_t> workloads;
  for (const PodPtr& pod : input.pods) {
    ASSIGN_OR_RETURN(const std::optional<PodScale> scale, input.scale_of(*pod));
    if (scale) workloads[scale->workload_uid] = scale->replicas;
  }
  int64_t sum = 0;
  for (const auto& [uid, replicas] : workloads) sum += replicas;
  return ToReplicas(sum);
}

StatusOr<Need> NeedOf(const DisruptionInput& input) {
  const auto& spec = input.budget.spec;
  Need need;
  if (spec.max_unavailable) {
    ASSIGN_OR_RETURN(need.expected, SummedScale(input));
    ASSIGN_OR_RETURN(const int64_t may_lack,
                     spec.max_unavailable->Scale(need.expected, IntOrString::Rounding::kCeil));
    need.desired = ToReplicas(std::max<int64_t>(need.expected - may_lack, 0));
  } else if (spec.min_available) {
    need.expected = static_cast<int32_t>(input.pods.size());
    if (!spec.min_available->is_int()) {
      ASSIGN_OR_RETURN(need.expected, SummedScale(input));
    }
    ASSIGN_OR_RETURN(const int64_t least,
                     spec.min_available->Scale(need.expected, IntOrString::Rounding::kCeil));
    need.desired = ToReplicas(least);
  }
  return need;
}

void SetAllowed(PodDisruptionBudgetStatus& status, const PodDisruptionBudget& budget,
                std::string_view reason, std::string_view message, WallTime now) {
  const kube::Condition* known = kube::FindCondition(status.conditions, "DisruptionAllowed");
  kube::Condition condition{.type = "DisruptionAllowed",
                            .status = status.disruptions_allowed > 0 ? "True" : "False",
                            .observed_generation = budget.metadata.generation,
                            .last_transition_time = now,
                            .reason = std::string(reason),
                            .message = std::string(message)};
  if (known != nullptr && known->status == condition.status) {
    condition.last_transition_time = known->last_transition_time;
  }
  std::erase_if(status.conditions, [](const auto& c) { return c.type == "DisruptionAllowed"; });
  status.conditions.push_back({std::move(condition)});
}

// Promises that are still open: the pod is there, stays, and the time is not over.
void KeepOpenPromises(const DisruptionInput& input, PodDisruptionBudgetStatus& status,
                      kube::Plan& plan) {
  std::map<std::string, WallTime, std::less<>> open;
  for (const PodPtr& pod : input.pods) {
    const auto promise = status.disrupted_pods.find(pod->metadata.name);
    if (promise == status.disrupted_pods.end() || kube::IsBeingDeleted(pod->metadata)) continue;
    const Duration left = promise->second + kPromiseLasts - input.now;
    if (left <= Duration::zero()) {
      plan.Warn(kube::kPods, pod->metadata, "NotDeleted",
                fmt::format("Pod was expected by PDB {}/{} to be deleted but it wasn't",
                            input.budget.metadata.ns, input.budget.metadata.name));
      continue;
    }
    open.insert(*promise);
    plan.AgainWithin(left);
  }
  status.disrupted_pods = std::move(open);
}

int32_t CountHealthy(const PodList& pods, const PodDisruptionBudgetStatus& status) {
  return static_cast<int32_t>(std::count_if(pods.begin(), pods.end(), [&](const PodPtr& pod) {
    return kube::IsReady(*pod) && !kube::IsBeingDeleted(pod->metadata) &&
           !status.disrupted_pods.contains(pod->metadata.name);
  }));
}

}  // namespace

void PlanDisruption(const DisruptionInput& input, kube::Plan& plan) {
  const PodDisruptionBudget& budget = input.budget;
  PodDisruptionBudgetStatus status = budget.status;
  KeepOpenPromises(input, status, plan);
  status.observed_generation = budget.metadata.generation;
  const StatusOr<Need> need = NeedOf(input);
  if (need.ok()) {
    status.current_healthy = CountHealthy(input.pods, status);
    status.expected_pods = need->expected;
    status.desired_healthy = need->desired;
    status.disruptions_allowed =
        need->expected == 0 ? 0 : std::max(status.current_healthy - need->desired, 0);
    SetAllowed(status, budget,
               status.disruptions_allowed > 0 ? "SufficientPods" : "InsufficientPods", "",
               input.now);
  } else {
    status.disruptions_allowed = 0;
    SetAllowed(status, budget, "SyncFailed", Message(need.status()), input.now);
  }
  // Pinned, because evictions write promises into the same status.
  plan.Add(PinnedStatusPatch(kube::kPodDisruptionBudgets, budget.metadata,
                             kube::Encode(budget.status), kube::Encode(status)));
}

}  // namespace koord::localcluster
