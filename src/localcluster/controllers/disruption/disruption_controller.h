#pragma once
#include <optional>
#include <string>

#include "localcluster/controllers/disruption/disruption_plan.h"
#include "localcluster/shared/controller.h"

namespace koord::localcluster {

// Keeps the status of PodDisruptionBudgets, by which evictions are granted.
class DisruptionController final : public Controller {
 public:
  explicit DisruptionController(ControllerContext& context);

 private:
  Plan Decide(const std::string& key) override;
  void EnqueueMatching(const kube::Pod& pod);
  StatusOr<std::optional<PodScale>> ScaleOf(const kube::Pod& pod);
};

}  // namespace koord::localcluster
