#pragma once
#include <map>
#include <set>
#include <string>

#include "localcluster/informers/cluster_controller.h"
#include "localcluster/nodes/machines.h"
#include "localcluster/nodes/pod_lifecycle.h"

namespace koord::localcluster {

// The kubelets of all simulated machines: starts the pods that are assigned to them, lets them end,
// restarts and stops them.
class PodRunner final : public ClusterController {
 public:
  struct Times {
    Duration start = std::chrono::milliseconds(500);  // from assignment to running
    Duration stop = std::chrono::seconds(1);          // at most, from the request to the end
  };

  PodRunner(ControllerContext& context, Machines& machines, Times times);

  // Looks at every pod of a node again: it has become one of ours, or works again.
  void Revisit(const std::string& node);
  // No pod is about to start or stop.
  bool settled() const { return idle() && moving_.empty(); }

 private:
  kube::Plan Decide(const std::string& key) override;
  void OnRefused(const std::string& key, const kube::Write& write, const Status& status) override;

  void OnPod(const kube::Pod& pod);
  void Forget(const kube::Pod& pod);
  kube::Plan DecideStart(const std::string& key, const kube::Pod& pod, Machine& machine);
  kube::Plan Carry(const kube::Pod& pod, PodStep step);

  Machines& machines_;
  const Times times_;
  std::map<std::string, SteadyTime> assigned_;  // when pods that wait to start were first seen
  std::set<std::string> moving_;                // keys of pods that start or stop
};

}  // namespace koord::localcluster
