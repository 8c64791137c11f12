#include "manager/webhook/server/informer_view.h"

#include <utility>

#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/resources.h"

namespace koord::manager::webhook {
namespace {

constexpr char kByQuota[] = "webhook-quota";
constexpr char kByNamespace[] = "webhook-namespace";
constexpr char kByTree[] = "webhook-tree";
constexpr char kByName[] = "webhook-name";

std::vector<std::string> LabelValue(const kube::ObjectMeta& meta, std::string_view key) {
  const std::string_view value = kube::ValueOf(meta.labels, key);
  return value.empty() ? std::vector<std::string>() : std::vector{std::string(value)};
}

}  // namespace

InformerView::InformerView(const Inputs& inputs, Options options)
    : inputs_(inputs),
      options_(std::move(options)),
      quotas_(inputs.client.loop().clock(), options_.quota_rules),
      profile_informer_(inputs.client, api::kClusterColocationProfiles, {.seed = options_.seed}),
      namespaces_(inputs.client, kube::kNamespaces, {.seed = options_.seed}),
      priority_classes_(inputs.client, kube::kPriorityClasses, {.seed = options_.seed}),
      quota_informer_(inputs.client, api::kElasticQuotas, {.seed = options_.seed}),
      quota_profiles_(inputs.client, api::kElasticQuotaProfiles, {.seed = options_.seed}) {
  if (options_.enhanced_config) {
    enhanced_configs_ = std::make_unique<kube::Informer<kube::ConfigMap>>(
        inputs.client, kube::kConfigMaps,
        kube::InformerOptions{.ns = options_.enhanced_config->ns,
                              .field_selector = "metadata.name=" + options_.enhanced_config->name,
                              .seed = options_.seed});
  }
  AddIndexes();
  FollowProfiles();
  FollowQuotas();
  namespaces_.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    const auto& any = after != nullptr ? after : before;
    asked_namespaces_.erase(any->metadata.name);
  }));
}

void InformerView::AddIndexes() {
  inputs_.pods.AddIndex(kByQuota, [](const kube::Pod& pod) {
    return LabelValue(pod.metadata, api::kLabelQuotaName);
  });
  inputs_.pods.AddIndex(kByNamespace,
                        [](const kube::Pod& pod) { return std::vector{pod.metadata.ns}; });
  quota_profiles_.AddIndex(kByTree, [](const api::ElasticQuotaProfile& profile) {
    return LabelValue(profile.metadata, api::kLabelQuotaTreeId);
  });
  quota_informer_.AddIndex(
      kByName, [](const api::ElasticQuota& quota) { return std::vector{quota.metadata.name}; });
}

void InformerView::FollowProfiles() {
  profile_informer_.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    after != nullptr ? profiles_.Set(after) : profiles_.Remove(before->metadata.name);
  }));
}

void InformerView::FollowQuotas() {
  quota_informer_.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    after != nullptr ? quotas_.Set(*after) : quotas_.Remove(before->metadata.name);
  }));
}

void InformerView::Start() {
  profile_informer_.Start();
  namespaces_.Start();
  priority_classes_.Start();
  quota_informer_.Start();
  quota_profiles_.Start();
  if (enhanced_configs_) enhanced_configs_->Start();
}

void InformerView::Stop() {
  profile_informer_.Stop();
  namespaces_.Stop();
  priority_classes_.Stop();
  quota_informer_.Stop();
  quota_profiles_.Stop();
  if (enhanced_configs_) enhanced_configs_->Stop();
}

bool InformerView::synced() const {
  return profile_informer_.synced() && namespaces_.synced() && priority_classes_.synced() &&
         quota_informer_.synced() && quota_profiles_.synced() &&
         (!enhanced_configs_ || enhanced_configs_->synced()) && inputs_.nodes.synced() &&
         inputs_.pods.synced() && inputs_.slo_configs.synced();
}

void InformerView::WhenSynced(std::function<void()> callback) {
  auto left = std::make_shared<int>(enhanced_configs_ ? 9 : 8);
  const auto one_less = scope_.Wrap([left, callback = std::move(callback)] {
    if (--*left == 0) callback();
  });
  profile_informer_.WhenSynced(one_less);
  namespaces_.WhenSynced(one_less);
  priority_classes_.WhenSynced(one_less);
  quota_informer_.WhenSynced(one_less);
  quota_profiles_.WhenSynced(one_less);
  if (enhanced_configs_) enhanced_configs_->WhenSynced(one_less);
  inputs_.nodes.WhenSynced(one_less);
  inputs_.pods.WhenSynced(one_less);
  inputs_.slo_configs.WhenSynced(one_less);
}

void InformerView::KnowNamespace(const std::string& ns, std::function<void()> then) {
  if (ns.empty() || NamespaceLabels(ns).ok()) return then();
  inputs_.client.Get(kube::kNamespaces, {"", ns},
                     scope_.Wrap([this, ns, then](StatusOr<kube::Json> answer) {
                       auto found = answer.ok() ? kube::Decode<kube::Namespace>(*answer)
                                                : StatusOr<kube::Namespace>(answer.status());
                       if (found.ok() && namespaces_.Get({"", ns}) == nullptr) {
                         asked_namespaces_[ns] = std::move(found->metadata.labels);
                       }
                       then();
                     }));
}

StatusOr<const kube::Labels*> InformerView::NamespaceLabels(std::string_view ns) const {
  // The copy keeps what it returns alive until its next change, which cannot come before the
  // handler is done.
  if (const auto found = namespaces_.Get({"", std::string(ns)})) return &found->metadata.labels;
  const auto asked = asked_namespaces_.find(ns);
  if (asked != asked_namespaces_.end()) return &asked->second;
  return NotFound("namespaces {} not found", Quote(ns));
}

std::shared_ptr<const kube::PriorityClass> InformerView::FindPriorityClass(
    std::string_view name) const {
  return priority_classes_.Get({"", std::string(name)});
}

std::shared_ptr<const kube::Pod> InformerView::FindPod(const kube::ObjectKey& key) const {
  return inputs_.pods.Get(key);
}

std::vector<std::string> InformerView::PodsOfQuota(std::string_view quota) const {
  std::vector<std::string> names;
  for (const auto& pod : inputs_.pods.ByIndex(kByQuota, std::string(quota))) {
    names.push_back(pod->metadata.name);
  }
  return names;
}

bool InformerView::HasPods(std::string_view ns) const {
  return !inputs_.pods.ByIndex(kByNamespace, std::string(ns)).empty();
}

std::vector<std::shared_ptr<const api::ElasticQuotaProfile>> InformerView::QuotaProfilesOfTree(
    std::string_view tree_id) const {
  return quota_profiles_.ByIndex(kByTree, std::string(tree_id));
}

std::vector<QuotaEvaluator::QuotaPtr> InformerView::QuotasNamed(std::string_view name) const {
  return quota_informer_.ByIndex(kByName, std::string(name));
}

std::vector<std::shared_ptr<const kube::Node>> InformerView::Nodes() const {
  return inputs_.nodes.List();
}

std::shared_ptr<const kube::ConfigMap> InformerView::SloConfig() const {
  return inputs_.slo_configs.Get(options_.slo_config);
}

std::shared_ptr<const kube::ConfigMap> InformerView::EnhancedValidatorConfig() const {
  return enhanced_configs_ ? enhanced_configs_->Get(*options_.enhanced_config) : nullptr;
}

}  // namespace koord::manager::webhook
