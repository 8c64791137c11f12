#pragma once
#include <cstddef>

#include "base/clock.h"
#include "kube/controller/plan.h"
#include "localcluster/controllers/common/pod_state.h"

namespace koord::localcluster {

// Pods of a node that does not exist any more cannot stop by themselves: they are marked as failed
// and removed at once.
void PlanOrphans(const PodList& pods, WallTime now, kube::Plan& plan);

// Of the pods that have ended, the oldest beyond `limit` are removed.
void PlanSurplusOfEnded(PodList ended, size_t limit, kube::Plan& plan);

}  // namespace koord::localcluster
