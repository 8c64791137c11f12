#pragma once
#include <map>
#include <string>

#include "kube/objects/storage.h"
#include "localcluster/shared/controller.h"

namespace koord::localcluster {

// Gives claims their volumes, and makes volumes where the storage class says so: see PlanClaim.
class ClaimController final : public Controller {
 public:
  explicit ClaimController(ControllerContext& context);

 private:
  Plan Decide(const std::string& key) override;
  void OnVolume(const kube::PersistentVolume& volume);
  void EnqueueUnbound();
  void TellOnce(const std::string& key, Plan& plan);

  std::map<std::string, std::string> told_;  // why a claim waits
};

}  // namespace koord::localcluster
