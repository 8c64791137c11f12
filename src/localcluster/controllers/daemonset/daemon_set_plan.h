#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "kube/controller/plan.h"
#include "kube/objects/node.h"
#include "kube/objects/workloads.h"
#include "localcluster/controllers/common/pod_state.h"
#include "localcluster/controllers/common/revisions.h"

namespace koord::localcluster {

using NodeList = std::vector<std::shared_ptr<const kube::Node>>;

struct DaemonSetInput {
  const kube::DaemonSet& set;
  const PodList& pods;            // that the set controls
  const RevisionList& revisions;  // likewise
  const NodeList& nodes;          // all, in order of their names
  std::function<bool(const std::string& name)> revision_is_taken;
  WallTime now;
};

// Keeps one pod on every node that the daemon is for.
//
// Pods that have ended are removed and made again, though not in a hurry: a node that refuses a pod
// gets the next one 10 seconds later. RollingUpdate replaces pods of earlier templates while at
// most maxUnavailable nodes are without an available one; with maxSurge the new pod starts beside
// the old one, which goes when the new one is available. OnDelete leaves replacing to the user.
void PlanDaemonSet(const DaemonSetInput& input, Random& random, kube::Plan& plan);

}  // namespace koord::localcluster
