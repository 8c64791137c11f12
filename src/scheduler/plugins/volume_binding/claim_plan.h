#pragma once
#include <string>
#include <vector>

#include "kube/objects/volume_claims.h"
#include "scheduler/framework/cluster_objects.h"
#include "scheduler/matching/node_matcher.h"
#include "scheduler/plugins/volume_binding/assumed_volumes.h"

namespace koord::scheduler {

// How a claim that waits for a pod's node could be satisfied, and where: by a volume that exists,
// the smallest that fits, or by a new one from the class's provisioner.
struct ClaimPlan {
  struct Candidate {
    std::string volume;
    NodeMatcher nodes;
  };
  enum class Outcome { kBind, kProvision, kConflict, kNoSpace };

  kube::ObjectKey claim;
  kube::Quantity request;
  std::string selected_node;          // not empty: is being provisioned for that node
  std::vector<Candidate> candidates;  // smallest first
  bool can_provision = false;
  NodeMatcher allowed;  // where the class may provision
  NodeMatcher roomy;    // where the driver has room

  // Clears keep where there is neither a volume nor a provisioner.
  void Narrow(const NodeTable& nodes, RowRange rows, uint8_t* keep);
  // The smallest candidate for a row that is not taken; null if there is none.
  const Candidate* Find(NodeRow row, const std::vector<std::string_view>& taken);
  Outcome Provision(NodeRow row);
};

ClaimPlan PlanFor(const kube::PersistentVolumeClaim& claim, const NodeTable& nodes,
                  const ClusterObjects& objects, const AssumedVolumes& assumed);

// Where a volume can be used; null: everywhere.
const kube::NodeSelector* NodesOf(const kube::PersistentVolume& volume);

}  // namespace koord::scheduler
