#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kube/discovery/resource_catalog.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Empties namespaces that are being deleted, and then lets them go.
//
// Everything of every kind in the namespace is deleted; what takes its time (pods that stop,
// objects with finalizers) is looked at again every second, and the namespace's conditions say what
// is left.
class NamespaceController final : public ClusterController {
 public:
  NamespaceController(ControllerContext& context, kube::ResourceCatalog& catalog);

 private:
  class Look;
  // What a look at a namespace has found.
  struct Content {
    Status status;                                        // of the look itself
    std::vector<std::pair<kube::Resource, size_t>> left;  // how many there are of which kind
    kube::Json ns;  // the namespace as it is now, if nothing is left; null if it is gone
  };

  void Prepare(const std::string& name, std::function<void()> ready) override;
  kube::Plan Decide(const std::string& name) override;

  kube::ResourceCatalog& catalog_;
  std::map<std::string, Content> found_;  // between a look and what is decided about it
};

// Gives every namespace its ServiceAccount `default`.
class ServiceAccountController final : public ClusterController {
 public:
  explicit ServiceAccountController(ControllerContext& context);

 private:
  kube::Plan Decide(const std::string& name) override;
};

}  // namespace koord::localcluster
