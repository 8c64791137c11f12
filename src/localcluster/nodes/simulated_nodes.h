#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/scope.h"
#include "localcluster/informers/cluster_controller.h"
#include "localcluster/nodes/machines.h"
#include "localcluster/nodes/node_agents.h"
#include "localcluster/nodes/node_heartbeats.h"
#include "localcluster/nodes/node_registrar.h"
#include "localcluster/nodes/node_shape.h"
#include "localcluster/nodes/pod_runner.h"

namespace koord::localcluster {

struct SimulatedNodesOptions {
  std::vector<PlannedNode> nodes;
  // Also runs the pods of Nodes that others have made.
  bool adopt = false;
  // Also makes the NodeMetrics that koordlet reports into, where no koord-manager does.
  bool make_node_metrics = true;
  PodRunner::Times times;
  uint64_t seed = 1;
  // Outlives the nodes. Null: nothing runs on them but their kubelets.
  NodeAgents* agents = nullptr;
};

// Machines that exist only as API objects: their Nodes, Leases, NodeResourceTopologies and Devices,
// and the pods they run. Nodes of an earlier run that are no longer planned are removed.
class SimulatedNodes {
 public:
  // `reports` carries heart-beats only, and may be the context's own client.
  SimulatedNodes(ControllerContext& context, kube::Client& reports, SimulatedNodesOptions options);

  void Start();
  // All planned nodes have been registered and Ready; what happens to them later is another matter.
  bool ready() { return ready_ = ready_ || registrar_.complete(); }
  // Nothing but heart-beats is under way: no pod is about to start or stop.
  bool idle() const { return registrar_.idle() && runner_.settled(); }

  // Pulls the plug: the node falls silent and its pods stand still, until Recover.
  void Fail(const std::string& node);
  void Recover(const std::string& node);

 private:
  void OnNode(const kube::Node& node);
  void RemoveUnplanned();
  void Begin(const std::string& node);

  ControllerContext& context_;
  const bool adopt_;
  NodeAgents* const agents_;
  Machines machines_;
  NodeRegistrar registrar_;
  PodRunner runner_;
  NodeHeartbeats heartbeats_;
  bool ready_ = false;
  Scope scope_;
};

}  // namespace koord::localcluster
