#pragma once
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/string_map.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// When a pod has to leave a node with these taints: `since` or earlier if it does not tolerate one
// of the NoExecute taints, at the end of the shortest time for which it tolerates them otherwise.
// That time begins when the taint was added or, if it does not say, at `since`. None if the pod may
// stay.
std::optional<WallTime> LeaveAt(std::span<const kube::Taint> taints,
                                std::span<const kube::Toleration> tolerations, WallTime since);

// Removes pods from nodes whose NoExecute taints they do not tolerate (any more).
class TaintEvictionController final : public ClusterController {
 public:
  explicit TaintEvictionController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& key) override;
  void EnqueuePodsOf(const std::string& node);
  std::optional<WallTime> LeaveAtOf(const std::string& key, const kube::Pod* pod);

  StringMap<WallTime> since_;  // when pods that have to leave some day were first found
};

}  // namespace koord::localcluster
