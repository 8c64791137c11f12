#include "manager/webhook/server/informer_view.h"

#include <utility>

#include "api/keys.h"
#include "base/log.h"
#include "kube/controller/indexes.h"
#include "kube/resources.h"

namespace koord::manager::webhook {
namespace {

constexpr char kByQuota[] = "webhook-quota";
constexpr char kByTree[] = "webhook-tree";
constexpr char kByName[] = "webhook-name";

std::vector<std::string> LabelValue(const kube::ObjectMeta& meta, std::string_view key) {
  const std::string_view value = kube::ValueOf(meta.labels, key);
  return value.empty() ? std::vector<std::string>() : std::vector{std::string(value)};
}

}  // namespace

InformerView::InformerView(const Inputs& inputs, Options options)
    : client_(inputs.client),
      options_(std::move(options)),
      informers_(inputs.client, {.seed = options_.seed, .lender = &inputs.informers}),
      nodes_(informers_.Borrow(inputs.informers.nodes)),
      pods_(informers_.Borrow(inputs.informers.pods)),
      config_maps_(informers_.Borrow(inputs.informers.config_maps)),
      profile_objects_(informers_.Borrow(inputs.informers.Profiles())),
      namespaces_(informers_.Borrow(inputs.informers.Namespaces())),
      quota_objects_(informers_.Borrow(inputs.informers.Quotas())),
      quota_profiles_(informers_.Borrow(inputs.informers.QuotaProfiles())),
      priority_classes_(informers_.Borrow(inputs.informers.PriorityClasses())),
      quotas_(inputs.client.loop().clock(), options_.quota_rules) {
  if (options_.enhanced_config) {
    enhanced_configs_ = &informers_.Use<kube::ConfigMap>(
        kube::kConfigMaps, {.ns = options_.enhanced_config->ns,
                            .field_selector = "metadata.name=" + options_.enhanced_config->name});
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
  pods_.AddIndex(kByQuota, [](const kube::Pod& pod) {
    return LabelValue(pod.metadata, api::kLabelQuotaName);
  });
  IndexByNamespace(pods_);
  quota_profiles_.AddIndex(kByTree, [](const api::ElasticQuotaProfile& profile) {
    return LabelValue(profile.metadata, api::kLabelQuotaTreeId);
  });
  quota_objects_.AddIndex(
      kByName, [](const api::ElasticQuota& quota) { return std::vector{quota.metadata.name}; });
}

void InformerView::FollowProfiles() {
  profile_objects_.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    after != nullptr ? profiles_.Set(after) : profiles_.Remove(before->metadata.name);
  }));
}

void InformerView::FollowQuotas() {
  quota_objects_.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    after != nullptr ? quotas_.Set(*after) : quotas_.Remove(before->metadata.name);
  }));
}

void InformerView::KnowNamespace(const std::string& ns, std::function<void()> then) {
  if (ns.empty() || NamespaceLabels(ns).ok()) return then();
  client_.Get(kube::kNamespaces, {"", ns},
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
  if (const auto found = namespaces_.Get({"", std::string(ns)}))
    return &found->metadata.labels.get();
  const auto asked = asked_namespaces_.find(ns);
  if (asked != asked_namespaces_.end()) return &asked->second;
  return NotFound("namespaces {} not found", Quote(ns));
}

bool InformerView::IsNamespaceBeingDeleted(std::string_view ns) const {
  const auto found = namespaces_.Get({"", std::string(ns)});
  return found != nullptr && kube::IsBeingDeleted(found->metadata);
}

std::shared_ptr<const kube::PriorityClass> InformerView::FindPriorityClass(
    std::string_view name) const {
  return priority_classes_.Get({"", std::string(name)});
}

std::shared_ptr<const kube::Pod> InformerView::FindPod(const kube::ObjectKey& key) const {
  return pods_.Get(key);
}

std::vector<kube::ObjectKey> InformerView::PodsOfQuota(std::string_view quota) const {
  std::vector<kube::ObjectKey> found;
  for (const auto& pod : pods_.ByIndex(kByQuota, std::string(quota))) {
    found.push_back(kube::KeyOf(pod->metadata));
  }
  return found;
}

bool InformerView::HasPods(std::string_view ns) const {
  return !pods_.ByIndex(kube::kByNamespace, std::string(ns)).empty();
}

std::vector<std::shared_ptr<const api::ElasticQuotaProfile>> InformerView::QuotaProfilesOfTree(
    std::string_view tree_id) const {
  return quota_profiles_.ByIndex(kByTree, std::string(tree_id));
}

std::vector<QuotaEvaluator::QuotaPtr> InformerView::QuotasNamed(std::string_view name) const {
  return quota_objects_.ByIndex(kByName, std::string(name));
}

std::vector<std::shared_ptr<const kube::Node>> InformerView::Nodes() const { return nodes_.List(); }

std::shared_ptr<const kube::ConfigMap> InformerView::SloConfig() const {
  return config_maps_.Get(options_.slo_config);
}

std::shared_ptr<const kube::ConfigMap> InformerView::EnhancedValidatorConfig() const {
  return enhanced_configs_ ? enhanced_configs_->Get(*options_.enhanced_config) : nullptr;
}

}  // namespace koord::manager::webhook
