#pragma once
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "localcluster/controllers/nodelifecycle/attentive_clock.h"
#include "localcluster/controllers/nodelifecycle/node_health.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Notices nodes that have gone silent, marks them and their pods as not ready, and taints nodes for
// what is wrong with them.
//
// A node shows that it lives by renewing its Lease or by reporting a new status. 50 seconds without
// either (60 for one that has never reported) make it Unknown. The time counts from when this
// program saw the sign, so neither a restart nor the clocks of nodes make one look dead, and only
// while it could see signs at all: see AttentiveClock.
class NodeLifecycleController final : public ClusterController {
 public:
  explicit NodeLifecycleController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& name) override;
  void SawLife(const std::string& name);
  void ReviewZones(const kube::Node* before, const kube::Node* after);
  void CheckHeartbeat(const kube::Node& node, kube::Plan& plan);
  Evicting MayEvict(const kube::Node& node, kube::Plan& plan);
  void UpdateTaints(const kube::Node& node, kube::Plan& plan);
  void MarkPodsNotReady(const kube::Node& node, kube::Plan& plan);

  AttentiveClock attentive_;
  std::map<std::string, SteadyTime> last_sign_;  // by that clock
  EvictionPace pace_;
  std::map<std::string, std::set<std::string>> held_back_;  // nodes that wait for their zone
};

}  // namespace koord::localcluster
