#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/elastic_quota.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "kube/objects/namespace.h"
#include "manager/quota/quota_evaluator.h"
#include "manager/webhook/review/cluster_view.h"

namespace koord::manager::webhook {

// The cluster as watches show it.
class InformerView final : public ClusterView {
 public:
  // Shared with the controllers; not started yet, since indexes are added here.
  struct Inputs {
    kube::Client& client;
    kube::Informer<kube::Node>& nodes;
    kube::Informer<kube::Pod>& pods;
    kube::Informer<kube::ConfigMap>& slo_configs;
  };
  struct Options {
    kube::ObjectKey slo_config;
    std::optional<kube::ObjectKey> enhanced_config;  // absent: not looked at
    QuotaRules quota_rules;
    uint64_t seed = 1;
  };

  InformerView(const Inputs& inputs, Options options);

  // Starts all but those that are shared.
  void Start();
  void Stop();
  // All, also those that are shared, have their first lists.
  bool synced() const;
  void WhenSynced(std::function<void()> callback);

  // Runs `then` when the namespace is known, or cannot be: a pod may come on the heels of its
  // namespace, before the watch has told of that.
  void KnowNamespace(const std::string& ns, std::function<void()> then);
  std::vector<QuotaEvaluator::QuotaPtr> QuotasNamed(std::string_view name) const;

  kube::Informer<api::ClusterColocationProfile>& profile_informer() { return profile_informer_; }
  kube::Informer<kube::Namespace>& namespace_informer() { return namespaces_; }
  kube::Informer<api::ElasticQuota>& quota_informer() { return quota_informer_; }
  kube::Informer<api::ElasticQuotaProfile>& quota_profile_informer() { return quota_profiles_; }

  const ProfileSet& profiles() const override { return profiles_; }
  StatusOr<const kube::Labels*> NamespaceLabels(std::string_view ns) const override;
  std::shared_ptr<const kube::PriorityClass> FindPriorityClass(
      std::string_view name) const override;
  std::shared_ptr<const kube::Pod> FindPod(const kube::ObjectKey& key) const override;
  QuotaTopology& quotas() override { return quotas_; }
  const QuotaTopology& quotas() const override { return quotas_; }
  std::vector<std::string> PodsOfQuota(std::string_view quota) const override;
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

  Inputs inputs_;
  const Options options_;
  ProfileSet profiles_;
  QuotaTopology quotas_;
  kube::Informer<api::ClusterColocationProfile> profile_informer_;
  kube::Informer<kube::Namespace> namespaces_;
  kube::Informer<kube::PriorityClass> priority_classes_;
  kube::Informer<api::ElasticQuota> quota_informer_;
  kube::Informer<api::ElasticQuotaProfile> quota_profiles_;
  std::unique_ptr<kube::Informer<kube::ConfigMap>> enhanced_configs_;
  // Asked for one by one because the watch was behind.
  std::map<std::string, kube::Labels, std::less<>> asked_namespaces_;
  Scope scope_;
};

}  // namespace koord::manager::webhook
