#pragma once
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "localcluster/controllers/nodelifecycle/node_health.h"
#include "localcluster/shared/controller.h"

namespace koord::localcluster {

// Notices nodes that have gone silent, marks them and their pods as not ready, and taints nodes for
// what is wrong with them.
//
// A node shows that it lives by renewing its Lease or by reporting a new status. 50 seconds without
// either (60 for one that has never reported) make it Unknown. The time counts from when this
// program saw the sign, so neither a restart nor the clocks of nodes make one look dead.
class NodeLifecycleController final : public Controller {
 public:
  explicit NodeLifecycleController(ControllerContext& context);

 private:
  Plan Decide(const std::string& name) override;
  void SawLife(const std::string& name);
  // Once for all that changed since the last decision.
  void ReviewZones();
  void CheckHeartbeat(const kube::Node& node, Plan& plan);
  Evicting MayEvict(const kube::Node& node, Plan& plan);
  void UpdateTaints(const kube::Node& node, Plan& plan);
  void MarkPodsNotReady(const kube::Node& node, Plan& plan);

  std::map<std::string, SteadyTime> last_sign_;
  EvictionPace pace_;
  bool zones_changed_ = false;
  std::set<std::string> held_back_;  // nodes that wait for their zone to recover
};

}  // namespace koord::localcluster
