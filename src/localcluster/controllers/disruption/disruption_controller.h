#pragma once
#include <optional>
#include <string>

#include "localcluster/controllers/disruption/disruption_plan.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Keeps the status of PodDisruptionBudgets, by which evictions are granted.
class DisruptionController final : public ClusterController {
 public:
  explicit DisruptionController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& key) override;
  void EnqueueMatching(const kube::Pod& pod);
  StatusOr<std::optional<PodScale>> ScaleOf(const kube::Pod& pod);
};

}  // namespace koord::localcluster
