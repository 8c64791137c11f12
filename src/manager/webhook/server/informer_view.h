#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "manager/cluster/manager_informers.h"
#include "manager/quota/quota_evaluator.h"
#include "manager/webhook/review/cluster_view.h"

namespace koord::manager::webhook {

// The cluster as watches show it.
class InformerView final : public ClusterView {
 public:
  struct Inputs {
    kube::Client& client;
    // Shared with the controllers: all there are, and not started yet, since indexes are added
    // here.
    ManagerInformers& informers;
  };
  struct Options {
    kube::ObjectKey slo_config;
    std::optional<kube::ObjectKey> enhanced_config;  // absent: not looked at
    QuotaRules quota_rules;
    uint64_t seed = 1;
  };

  InformerView(const Inputs& inputs, Options options);

  // Watches what is not shared.
  void Start();
  void Stop();
  // All is known, also what is shared.
  bool synced() const;
  void WhenSynced(std::function<void()> callback);

  // Runs `then` when the namespace is known, or cannot be: a pod may come on the heels of its
  // namespace, before the watch has told of that.
  void KnowNamespace(const std::string& ns, std::function<void()> then);
  std::vector<QuotaEvaluator::QuotaPtr> QuotasNamed(std::string_view name) const;

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

  ManagerInformers& informers() const { return inputs_.informers; }
  template <class Visit>
  void ForEach(Visit visit) const;

  const Inputs inputs_;
  const Options options_;
  ProfileSet profiles_;
  QuotaTopology quotas_;
  std::unique_ptr<kube::Informer<kube::ConfigMap>> enhanced_configs_;
  // Asked for one by one because the watch was behind.
  std::map<std::string, kube::Labels, std::less<>> asked_namespaces_;
  Scope scope_;
};

}  // namespace koord::manager::webhook
