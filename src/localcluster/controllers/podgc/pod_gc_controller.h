#pragma once
#include <map>
#include <string>

#include "base/clock.h"
#include "kube/objects/pod.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Removes pods that nobody else will: those whose node has been gone for 40 seconds, and ended ones
// beyond the 12,500 that are kept for people to look at.
class PodGcController final : public ClusterController {
 public:
  explicit PodGcController(ControllerContext& context, size_t ended_limit = 12'500);

 private:
  kube::Plan Decide(const std::string& key) override;
  kube::Plan DecideNode(const std::string& node);
  kube::Plan DecideEnded();

  const size_t ended_limit_;
  std::map<std::string, SteadyTime> missing_since_;  // nodes
};

}  // namespace koord::localcluster
