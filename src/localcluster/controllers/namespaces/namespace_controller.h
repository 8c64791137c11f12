#pragma once
#include <memory>
#include <string>

#include "base/scope.h"
#include "kube/controller/work_queue.h"
#include "kube/discovery/resource_catalog.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Empties namespaces that are being deleted, and then lets them go.
//
// Everything of every kind in the namespace is deleted; what takes its time (pods that stop,
// objects with finalizers) is looked at again every second, and the namespace's conditions say what
// is left.
class NamespaceController {
 public:
  NamespaceController(ControllerContext& context, kube::ResourceCatalog& catalog);

  bool idle() const { return queue_.idle(); }

 private:
  class Purge;

  void Handle(const std::string& name, kube::WorkQueue::Finish done);

  ControllerContext& context_;
  kube::ResourceCatalog& catalog_;
  kube::WorkQueue queue_;
  Scope scope_;
};

// Gives every namespace its ServiceAccount `default`.
class ServiceAccountController final : public ClusterController {
 public:
  explicit ServiceAccountController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& name) override;
};

}  // namespace koord::localcluster
