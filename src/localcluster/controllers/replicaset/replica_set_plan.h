#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "kube/controller/plan.h"
#include "kube/objects/workloads.h"
#include "kube/resource.h"
#include "localcluster/controllers/common/pod_state.h"

namespace koord::localcluster {

// Why pods could not be made or removed the last time.
struct ReplicaFailure {
  std::string reason;  // FailedCreate, FailedDelete
  std::string message;
};

struct ReplicaSetInput {
  const kube::Resource& resource;  // ReplicaSets or ReplicationControllers
  const kube::ReplicaSet& set;
  const PodList& pods;  // that the set controls
  // See SortForDeletion; asked only when pods have to go.
  std::function<std::map<std::string, int>()> neighbours;
  std::optional<ReplicaFailure> failure;
  WallTime now;
};

// Makes as many pods as are missing, removes as many as there are too many (those that
// SortForDeletion puts first), and reports how many there are. At most 500 pods at a time. Pods
// that have ended or are going do not count, and a set that is being deleted changes nothing.
void PlanReplicaSet(const ReplicaSetInput& input, Random& random, kube::Plan& plan);

}  // namespace koord::localcluster
