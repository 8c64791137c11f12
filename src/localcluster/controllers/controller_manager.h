#pragma once
#include <memory>
#include <vector>

#include "kube/discovery/resource_catalog.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// All controllers of a local cluster. They share the context's informers, which must be started
// after this has been made, and act only on what changes: nothing polls.
class ControllerManager {
 public:
  ControllerManager(ControllerContext& context, uint64_t seed);

  void Start() { catalog_.Start(); }
  // Knows the kinds of the cluster.
  bool ready() const { return catalog_.known(); }
  // Besides, has nothing under way.
  bool idle() const;

 private:
  kube::ResourceCatalog catalog_;
  std::vector<std::unique_ptr<kube::Controller>> controllers_;
};

}  // namespace koord::localcluster
