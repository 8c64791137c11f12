#pragma once
#include <string>

#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Runs CronJobs: see PlanCronJob.
class CronJobController final : public ClusterController {
 public:
  explicit CronJobController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& key) override;
  void OnRefused(const std::string& key, const kube::Write& write, const Status& status) override;
};

}  // namespace koord::localcluster
