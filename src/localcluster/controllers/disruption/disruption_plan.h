#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "kube/controller/plan.h"
#include "kube/objects/policy.h"
#include "localcluster/controllers/common/pod_state.h"

namespace koord::localcluster {

// The workload behind a pod, as far as a budget needs it.
struct PodScale {
  std::string workload_uid;  // the topmost one that is scaled: the Deployment, not its ReplicaSet
  int32_t replicas = 0;
};

struct DisruptionInput {
  const kube::PodDisruptionBudget& budget;
  const PodList& pods;  // all that the budget's selector matches
  // The scale of the workload that controls a pod. None if nobody does; an error if what does
  // cannot be scaled.
  std::function<StatusOr<std::optional<PodScale>>(const kube::Pod&)> scale_of;
  WallTime now;
};

// Says how many of a budget's pods may be disrupted now.
//
// Healthy are pods that are ready, stay, and have not been promised to an eviction within the last
// two minutes. Wanted is minAvailable, or what maxUnavailable leaves; percentages are of the number
// of pods that the workloads behind them should have, and round up. When that number cannot be told
// no disruption is allowed.
void PlanDisruption(const DisruptionInput& input, kube::Plan& plan);

}  // namespace koord::localcluster
