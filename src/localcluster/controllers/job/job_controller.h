#pragma once
#include <string>

#include "kube/objects/pod.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Runs Jobs, and lets go of pods whose job has vanished.
class JobController final : public ClusterController {
 public:
  explicit JobController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& key) override;
  void OnRefused(const std::string& key, const kube::Write& write, const Status& status) override;
  kube::Plan DecideJob(const std::string& key);
  kube::Plan DecideStray(const std::string& pod_key);
  bool IsStray(const kube::Pod& pod);
};

}  // namespace koord::localcluster
