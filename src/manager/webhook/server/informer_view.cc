#include "manager/webhook/server/informer_view.h"

#include <utility>

#include "api/keys.h"
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
      quotas_(inputs.client.loop().clock(), options_.quota_rules) {
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
  informers().namespaces.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    const auto& any = after != nullptr ? after : before;
    asked_namespaces_.erase(any->metadata.name);
  }));
}

void InformerView::AddIndexes() {
  informers().pods.AddIndex(kByQuota, [](const kube::Pod& pod) {
    return LabelValue(pod.metadata, api::kLabelQuotaName);
  });
  informers().pods.AddIndex(kByNamespace,
                            [](const kube::Pod& pod) { return std::vector{pod.metadata.ns}; });
  informers().quota_profiles.AddIndex(kByTree, [](const api::ElasticQuotaProfile& profile) {
    return LabelValue(profile.metadata, api::kLabelQuotaTreeId);
  });
  informers().quotas.AddIndex(
      kByName, [](const api::ElasticQuota& quota) { return std::vector{quota.metadata.name}; });
}

void InformerView::FollowProfiles() {
  informers().profiles.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    after != nullptr ? profiles_.Set(after) : profiles_.Remove(before->metadata.name);
  }));
}

void InformerView::FollowQuotas() {
  informers().quotas.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    after != nullptr ? quotas_.Set(*after) : quotas_.Remove(before->metadata.name);
  }));
}

// Not all that the manager watches: webhooks must work where, say, no topologies are defined.
template <class Visit>
void InformerView::ForEach(Visit visit) const {
  visit(informers().nodes);
  visit(informers().pods);
  visit(informers().config_maps);
  visit(informers().profiles);
  visit(informers().namespaces);
  visit(informers().quotas);
  visit(informers().quota_profiles);
  visit(informers().priority_classes);
  if (enhanced_configs_) visit(*enhanced_configs_);
}

void InformerView::Start() {
  if (enhanced_configs_) enhanced_configs_->Start();
}

void InformerView::Stop() {
  if (enhanced_configs_) enhanced_configs_->Stop();
}

bool InformerView::synced() const {
  bool all = true;
  ForEach([&](const auto& informer) { all = all && informer.synced(); });
  return all;
}

void InformerView::WhenSynced(std::function<void()> callback) {
  const auto left = std::make_shared<int>(0);
  ForEach([&](const auto&) { ++*left; });
  const auto one_less = scope_.Wrap([left, callback = std::move(callback)] {
    if (--*left == 0) callback();
  });
  ForEach([&](auto& informer) { informer.WhenSynced(one_less); });
}

void InformerView::KnowNamespace(const std::string& ns, std::function<void()> then) {
  if (ns.empty() || NamespaceLabels(ns).ok()) return then();
  inputs_.client.Get(kube::kNamespaces, {"", ns},
                     scope_.Wrap([this, ns, then](StatusOr<kube::Json> answer) {
                       auto found = answer.ok() ? kube::Decode<kube::Namespace>(*answer)
                                                : StatusOr<kube::Namespace>(answer.status());
                       if (found.ok() && informers().namespaces.Get({"", ns}) == nullptr) {
                         asked_namespaces_[ns] = std::move(found->metadata.labels);
                       }
                       then();
                     }));
}

StatusOr<const kube::Labels*> InformerView::NamespaceLabels(std::string_view ns) const {
  // The copy keeps what it returns alive until its next change, which cannot come before the
  // handler is done.
  if (const auto found = informers().namespaces.Get({"", std::string(ns)}))
    return &found->metadata.labels.get();
  const auto asked = asked_namespaces_.find(ns);
  if (asked != asked_namespaces_.end()) return &asked->second;
  return NotFound("namespaces {} not found", Quote(ns));
}

std::shared_ptr<const kube::PriorityClass> InformerView::FindPriorityClass(
    std::string_view name) const {
  return informers().priority_classes.Get({"", std::string(name)});
}

std::shared_ptr<const kube::Pod> InformerView::FindPod(const kube::ObjectKey& key) const {
  return informers().pods.Get(key);
}

std::vector<std::string> InformerView::PodsOfQuota(std::string_view quota) const {
  std::vector<std::string> names;
  for (const auto& pod : informers().pods.ByIndex(kByQuota, std::string(quota))) {
    names.push_back(pod->metadata.name);
  }
  return names;
}

bool InformerView::HasPods(std::string_view ns) const {
  return !informers().pods.ByIndex(kByNamespace, std::string(ns)).empty();
}

std::vector<std::shared_ptr<const api::ElasticQuotaProfile>> InformerView::QuotaProfilesOfTree(
    std::string_view tree_id) const {
  return informers().quota_profiles.ByIndex(kByTree, std::string(tree_id));
}

std::vector<QuotaEvaluator::QuotaPtr> InformerView::QuotasNamed(std::string_view name) const {
  return informers().quotas.ByIndex(kByName, std::string(name));
}

std::vector<std::shared_ptr<const kube::Node>> InformerView::Nodes() const {
  return informers().nodes.List();
}

std::shared_ptr<const kube::ConfigMap> InformerView::SloConfig() const {
  return informers().config_maps.Get(options_.slo_config);
}

std::shared_ptr<const kube::ConfigMap> InformerView::EnhancedValidatorConfig() const {
  return enhanced_configs_ ? enhanced_configs_->Get(*options_.enhanced_config) : nullptr;
}

}  // namespace koord::manager::webhook
