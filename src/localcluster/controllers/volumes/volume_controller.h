#pragma once
#include <map>
#include <set>
#include <string>

#include "base/scope.h"
#include "kube/objects/storage.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Keeps the phase of volumes and reclaims those whose claims are gone: see PlanVolume.
//
// A volume may refer to a claim that this controller has not been shown yet. Since a volume that is
// deleted by mistake does not come back, the API server is asked before a claim counts as gone.
class VolumeController final : public ClusterController {
 public:
  explicit VolumeController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& key) override;
  void OnClaim(const kube::PersistentVolumeClaim& claim);
  void FindOut(const std::string& key, const kube::ObjectReference& claim);

  std::map<std::string, std::string> gone_;  // volume to uid of the claim that it was held for
  std::set<std::string> asking_;             // volumes
  Scope scope_;
};

}  // namespace koord::localcluster
