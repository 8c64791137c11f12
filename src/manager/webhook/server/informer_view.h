#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/informer/informer.h"
#include "manager/informers/manager_informers.h"
#include "manager/quota/quota_evaluator.h"
#include "manager/webhook/review/cluster_view.h"

namespace koord::manager::webhook {

// The cluster as watches show it.
class InformerView final : public ClusterView {
 public:
  struct Inputs {
    kube::Client& client;
    ManagerInformers& informers;  // shared with the controllers
  };
  struct Options {
    kube::ObjectKey slo_config;
    std::optional<kube::ObjectKey> enhanced_config;  // absent: not looked at
    QuotaRules quota_rules;
    uint64_t seed = 1;
  };

  InformerView(const Inputs& inputs, Options options);

  // Watches what is not shared.
  void Start() { informers_.Start(); }
  void Stop() { informers_.Stop(); }
  // All is known, also what is shared.
  bool synced() const { return informers_.synced(); }
  void WhenSynced(std::function<void()> callback) { informers_.WhenSynced(std::move(callback)); }

  // Runs `then` when the namespace is known, or cannot be: a pod may come on the heels of its
  // namespace, before the watch has told of that.
  void KnowNamespace(const std::string& ns, std::function<void()> then);
  std::vector<QuotaEvaluator::QuotaPtr> QuotasNamed(std::string_view name) const;

  const ProfileSet& profiles() const override { return profiles_; }
  StatusOr<const kube::Labels*> NamespaceLabels(std::string_view ns) const override;
  bool IsNamespaceBeingDeleted(std::string_view ns) const override;
  std::shared_ptr<const kube::PriorityClass> FindPriorityClass(
      std::string_view name) const override;
  std::shared_ptr<const kube::Pod> FindPod(const kube::ObjectKey& key) const override;
  QuotaTopology& quotas() override { return quotas_; }
  const QuotaTopology& quotas() const override { return quotas_; }
  std::vector<kube::ObjectKey> PodsOfQuota(std::string_view quota) const override;
  bool HasPods(std::string_view ns) const override;
  std::vector<std::shared_ptr<const api::ElasticQuotaProfile>> QuotaProfilesOfTree(
      std::string_view tree_id) const override;
  std::vector<std::shared_ptr<const kube::Node>> Nodes() const override;
  std::shared_ptr<const kube::ConfigMap> SloConfig() const override;
  std::shared_ptr<const kube::ConfigMap> EnhancedValidatorConfig() const override;

 private:
  void FollowProfiles();
  void FollowQuotas();
  void AddIndexes();

  kube::Client& client_;
  const Options options_;
  // Not all that the manager watches: webhooks must work where, say, no topologies are defined.
  kube::InformerSet informers_;
  kube::Informer<kube::Node>& nodes_;
  kube::Informer<kube::Pod>& pods_;
  kube::Informer<kube::ConfigMap>& config_maps_;
  kube::Informer<api::ClusterColocationProfile>& profile_objects_;
  kube::Informer<kube::Namespace>& namespaces_;
  kube::Informer<api::ElasticQuota>& quota_objects_;
  kube::Informer<api::ElasticQuotaProfile>& quota_profiles_;
  kube::Informer<kube::PriorityClass>& priority_classes_;
  kube::Informer<kube::ConfigMap>* enhanced_configs_ = nullptr;  // null: not looked at
  ProfileSet profiles_;
  QuotaTopology quotas_;
  // Asked for one by one because the watch was behind.
  std::map<std::string, kube::Labels, std::less<>> asked_namespaces_;
  Scope scope_;
};

}  // namespace koord::manager::webhook
