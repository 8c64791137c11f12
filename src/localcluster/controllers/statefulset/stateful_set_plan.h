#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/controller/plan.h"
#include "kube/objects/workloads.h"
#include "localcluster/controllers/common/pod_state.h"
#include "localcluster/controllers/common/revisions.h"

namespace koord::localcluster {

struct StatefulSetInput {
  const kube::StatefulSet& set;
  const PodList& pods;            // that the set controls
  const RevisionList& revisions;  // likewise
  std::function<bool(const std::string& name)> revision_is_taken;
  std::function<bool(const std::string& name)> has_claim;  // in the set's namespace
  WallTime now;
};

// Gives pods names that last: web-0, web-1, ... Each comes with its own volume claims; a pod that
// has not started gets those that are missing.
//
// OrderedReady makes them one after the other, each when all before it are available, and removes
// them in the reverse order; Parallel does not wait. A new template reaches them from the highest
// number down to the partition, one unavailable pod (or maxUnavailable) at a time. A pod that is
// lost in the middle of that comes back with the template that its number is due.
void PlanStatefulSet(const StatefulSetInput& input, kube::Plan& plan);

// The number of a pod's name; none if it is not one of the set's.
std::optional<int32_t> OrdinalOf(std::string_view set_name, std::string_view pod_name);

}  // namespace koord::localcluster
