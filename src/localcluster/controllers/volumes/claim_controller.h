#pragma once
#include <cstddef>
#include <string>

#include "base/known_problems.h"
#include "kube/objects/storage.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Gives claims their volumes, and makes volumes where the storage class says so: see PlanClaim.
class ClaimController final : public ClusterController {
 public:
  explicit ClaimController(ControllerContext& context);

 private:
  static constexpr size_t kMostClaims = 100'000;

  kube::Plan Decide(const std::string& key) override;
  void OnVolume(const kube::PersistentVolume& volume);
  void EnqueueUnbound();
  void TellOnce(const std::string& key, kube::Plan& plan);

  KnownProblems known_problems_{kMostClaims};  // why claims wait
};

}  // namespace koord::localcluster
