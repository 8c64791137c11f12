#include "manager/quota/quota_profile_controller.h"

#include <fmt/format.h>

#include <utility>

#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/api_error.h"
#include "kube/patch/merge_patch.h"

namespace koord::manager {
namespace {

using kube::Json;

constexpr Duration kInterval = std::chrono::seconds(10);
constexpr Duration kAfterFailure = std::chrono::seconds(2);

// The label comes back with the watch, and the quota is made then.
kube::Plan PlanTreeId(const api::ElasticQuotaProfile& profile) {
  const std::string tree_id = DefaultTreeId(kube::KeyOf(profile.metadata));
  kube::Plan plan;
  plan.Add(MergePatch(api::kElasticQuotaProfiles, profile.metadata,
                      {{"metadata", {{"labels", {{api::kLabelQuotaTreeId, tree_id}}}}}}));
  plan.again = kInterval;
  return plan;
}

}  // namespace

QuotaProfileController::QuotaProfileController(const Inputs& inputs)
    : Controller(std::string(kName), inputs.parts, {.concurrency = 1, .by_leadership = true}),
      inputs_(inputs) {
  Watch(inputs_.profiles, [this](const ProfilePtr& before, const ProfilePtr& after) {
    if (after == nullptr) return;
    const bool changed = before == nullptr ||
                         before->metadata.generation != after->metadata.generation ||
                         before->spec != after->spec ||
                         before->metadata.annotations != after->metadata.annotations ||
                         before->metadata.labels != after->metadata.labels;
    if (changed) Enqueue(KeyText(after->metadata));
  });
}

std::vector<std::string> QuotaProfileController::AllKeys() const {
  std::vector<std::string> keys;
  for (const ProfilePtr& profile : inputs_.profiles.List()) {
    keys.push_back(KeyText(profile->metadata));
  }
  return keys;
}

kube::Plan QuotaProfileController::Decide(const std::string& key) {
  const ProfilePtr profile = inputs_.profiles.Get(kube::ParseKey(key));
  if (profile == nullptr || kube::IsBeingDeleted(profile->metadata)) return {};
  const std::string_view tree_id = kube::ValueOf(profile->metadata.labels, api::kLabelQuotaTreeId);
  if (tree_id.empty()) return PlanTreeId(*profile);
  return PlanQuota(*profile, std::string(tree_id));
}

kube::Plan QuotaProfileController::PlanQuota(const api::ElasticQuotaProfile& profile,
                                             const std::string& tree_id) const {
  const auto existing = inputs_.quotas.Get({profile.metadata.ns, profile.spec.quota_name});
  const auto quota = QuotaForProfile(profile, tree_id, inputs_.nodes.List(), existing.get());
  kube::Plan plan;
  if (!quota.ok()) {
    LOG_ERROR("Failed to make the quota of a profile", {"profile", KeyText(profile.metadata)},
              {"err", quota.status()});
    plan.undecided = true;
    return plan;
  }
  plan.again = kInterval;
  plan.retry = kAfterFailure;
  if (existing == nullptr) {
    plan.Add(Create(api::kElasticQuotas, kube::EncodeObject(api::kElasticQuotas, *quota)));
    return plan;
  }
  Json patch = kube::CreateMergePatch(kube::Encode(*existing), kube::Encode(*quota));
  if (!patch.get_object().empty()) {
    plan.Add(MergePatch(api::kElasticQuotas, existing->metadata, std::move(patch)));
  }
  return plan;
}

void QuotaProfileController::OnRefused(const std::string& key, const kube::Write& write,
                                       const Status& status) {
  const ProfilePtr profile = inputs_.profiles.Get(kube::ParseKey(key));
  if (profile == nullptr || write.resource != api::kElasticQuotas) return;
  const bool created = write.verb == kube::Write::Verb::kCreate;
  // The copy was behind: it will show the quota the next time.
  if (created && kube::IsAlreadyExists(status)) return;
  WarnNow(
      api::kElasticQuotaProfiles, profile->metadata,
      created ? "CreateQuotaFailed" : "UpdateQuotaFailed",
      fmt::format("failed to {} quota, err: {}", created ? "create" : "update", Message(status)));
}

}  // namespace koord::manager
