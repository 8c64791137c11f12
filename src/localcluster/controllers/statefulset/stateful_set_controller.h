#pragma once
#include <string>

#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Keeps the pods of StatefulSets.
class StatefulSetController final : public ClusterController {
 public:
  explicit StatefulSetController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& key) override;
  void OnRefused(const std::string& key, const kube::Write& write, const Status& status) override;
};

}  // namespace koord::localcluster
