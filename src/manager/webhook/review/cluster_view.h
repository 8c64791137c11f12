#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/elastic_quota_profile.h"
#include "base/status.h"
#include "kube/objects/config.h"
#include "kube/objects/meta.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/priority_class.h"
#include "manager/profile/profile.h"
#include "manager/quota/quota_topology.h"

namespace koord::manager::webhook {

// All that handlers know of the cluster besides the request. Asking never waits.
class ClusterView {
 public:
  virtual ~ClusterView() = default;

  virtual const ProfileSet& profiles() const = 0;
  // The error is for the user.
  virtual StatusOr<const kube::Labels*> NamespaceLabels(std::string_view ns) const = 0;
  virtual bool IsNamespaceBeingDeleted(std::string_view ns) const = 0;
  // Null if there is none; likewise below.
  virtual std::shared_ptr<const kube::PriorityClass> FindPriorityClass(
      std::string_view name) const = 0;
  virtual std::shared_ptr<const kube::Pod> FindPod(const kube::ObjectKey& key) const = 0;

  virtual QuotaTopology& quotas() = 0;
  virtual const QuotaTopology& quotas() const = 0;
  // Pods by the label that names their quota.
  virtual std::vector<kube::ObjectKey> PodsOfQuota(std::string_view quota) const = 0;
  virtual bool HasPods(std::string_view ns) const = 0;
  // In the order of their names.
  virtual std::vector<std::shared_ptr<const api::ElasticQuotaProfile>> QuotaProfilesOfTree(
      std::string_view tree_id) const = 0;

  virtual std::vector<std::shared_ptr<const kube::Node>> Nodes() const = 0;
  // slo-controller-config.
  virtual std::shared_ptr<const kube::ConfigMap> SloConfig() const = 0;
  // pod-enhanced-validator-config.
  virtual std::shared_ptr<const kube::ConfigMap> EnhancedValidatorConfig() const = 0;
};

}  // namespace koord::manager::webhook
