#pragma once
#include <map>
#include <string>

#include "localcluster/shared/controller.h"
#include "localcluster/controllers/replicaset/replica_set_plan.h"

namespace koord::localcluster {

// Keeps as many pods as each ReplicaSet asks for.
class ReplicaSetController final : public Controller {
 public:
  explicit ReplicaSetController(ControllerContext& context);

 private:
  Plan Decide(const std::string& key) override;
  void OnRefused(const std::string& key, const Write& write, const Status& status) override;
  void OnDone(const std::string& key) override { failures_.erase(key); }

  std::map<std::string, int> NeighboursOf(const kube::ReplicaSet& set);

  std::map<std::string, ReplicaFailure> failures_;
};

}  // namespace koord::localcluster
