#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "localcluster/controllers/replicaset/replica_set_plan.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Keeps as many pods as each ReplicaSet asks for; the same for ReplicationControllers, which differ
// in name only.
class ReplicaSetController final : public ClusterController {
 public:
  static std::unique_ptr<kube::Controller> ForReplicaSets(ControllerContext& context);
  static std::unique_ptr<kube::Controller> ForReplicationControllers(ControllerContext& context);

 private:
  using Find = std::function<std::shared_ptr<const kube::ReplicaSet>(const kube::ObjectKey&)>;

  template <class T>
  ReplicaSetController(std::string name, ControllerContext& context, const kube::Resource& resource,
                       kube::Informer<T>& sets);

  kube::Plan Decide(const std::string& key) override;
  void OnRefused(const std::string& key, const kube::Write& write, const Status& status) override;
  void OnDone(const std::string& key) override { failures_.erase(key); }

  std::map<std::string, int> NeighboursOf(const kube::ReplicaSet& set);

  const kube::Resource& resource_;
  const Find find_;
  std::map<std::string, ReplicaFailure> failures_;
};

}  // namespace koord::localcluster
