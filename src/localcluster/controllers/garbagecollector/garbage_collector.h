#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "kube/discovery/resource_catalog.h"
#include "kube/informer/informer.h"
#include "kube/objects/metadata_only.h"
#include "localcluster/controllers/garbagecollector/ownership_graph.h"
#include "localcluster/informers/cluster_controller.h"

namespace koord::localcluster {

// Deletes what its owners have left behind, and sees foreground and orphaning deletions through.
//
// Watches every kind there is, custom ones as they come. Nothing is deleted because an owner is not
// in sight: unless its deletion was seen, the server is asked first.
class GarbageCollector final : public ClusterController {
 public:
  GarbageCollector(ControllerContext& context, kube::ResourceCatalog& catalog);
  ~GarbageCollector() override;

 private:
  using Monitor = kube::Informer<kube::MetadataOnly>;

  kube::Plan Decide(const std::string& uid) override;
  void FollowCatalog();
  void WatchKind(const kube::Resource& resource);
  void OnObject(const kube::Resource& resource, const kube::InformerSet::MetaPtr& before,
                const kube::InformerSet::MetaPtr& after);
  bool synced() const;
  void StartWhenSynced();
  void FindOut(const kube::OwnerReference& owner, const std::string& ns);

  kube::ResourceCatalog& catalog_;
  OwnershipGraph graph_;
  std::map<kube::Resource, std::unique_ptr<Monitor>> monitors_;
  std::set<kube::Resource> shared_;
  std::set<std::string> asking_;  // UIDs of owners
  bool started_ = false;
  Scope scope_;
};

}  // namespace koord::localcluster
