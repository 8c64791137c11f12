#pragma once
#include <string>

#include "kube/objects/pod.h"
#include "localcluster/shared/controller.h"

namespace koord::localcluster {

// Runs Jobs, and lets go of pods whose job has vanished.
class JobController final : public Controller {
 public:
  explicit JobController(ControllerContext& context);

 private:
  Plan Decide(const std::string& key) override;
  Plan DecideJob(const std::string& key);
  Plan DecideStray(const std::string& pod_key);
  bool IsStray(const kube::Pod& pod);
};

}  // namespace koord::localcluster
