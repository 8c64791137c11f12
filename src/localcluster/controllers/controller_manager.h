#pragma once
#include <memory>
#include <vector>

#include "localcluster/controllers/garbagecollector/garbage_collector.h"
#include "localcluster/controllers/namespaces/namespace_controller.h"
#include "localcluster/shared/controller.h"
#include "localcluster/shared/resource_catalog.h"

namespace koord::localcluster {

// All controllers of a local cluster. They share the context's informers, which must be started
// after this has been made, and act only on what changes: nothing polls.
class ControllerManager {
 public:
  ControllerManager(ControllerContext& context, uint64_t seed);

  void Start() { catalog_.Start(); }
  // Knows the kinds of the cluster and has nothing under way.
  bool idle() const;

 private:
  ResourceCatalog catalog_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  NamespaceController namespaces_;
};

}  // namespace koord::localcluster
