#include "manager/quota/quota_profile_controller.h"

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

kube::ObjectKey ParseKey(const std::string& key) {
  const size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace

QuotaProfileController::QuotaProfileController(const Inputs& inputs)
    : inputs_(inputs),
      queue_(inputs.client.loop(), [this](const std::string& key, kube::WorkQueue::Finish done) {
        Reconcile(key, std::move(done));
      }) {
  inputs_.profiles.AddHandler(
      scope_.Wrap([this](const ProfilePtr& before, const ProfilePtr& after) {
        if (after == nullptr) return;
        const bool changed = before == nullptr ||
                             before->metadata.generation != after->metadata.generation ||
                             before->spec != after->spec ||
                             before->metadata.annotations != after->metadata.annotations ||
                             before->metadata.labels != after->metadata.labels;
        if (changed) Enqueue(after);
      }));
}

void QuotaProfileController::Start() {
  active_ = true;
  for (const ProfilePtr& profile : inputs_.profiles.List()) Enqueue(profile);
}

void QuotaProfileController::Enqueue(const ProfilePtr& profile) {
  if (active_) queue_.Add(kube::KeyOf(profile->metadata).ToString());
}

void QuotaProfileController::Reconcile(const std::string& key, kube::WorkQueue::Finish done) {
  const ProfilePtr profile = inputs_.profiles.Get(ParseKey(key));
  if (!active_ || profile == nullptr || kube::IsBeingDeleted(profile->metadata)) return done(true);
  const std::string_view tree_id = kube::ValueOf(profile->metadata.labels, api::kLabelQuotaTreeId);
  if (tree_id.empty()) return StoreTreeId(key, *profile, std::move(done));
  WriteQuota(key, profile, std::string(tree_id), std::move(done));
}

// The label comes back with the watch, and the quota is made then.
void QuotaProfileController::StoreTreeId(const std::string& key,
                                         const api::ElasticQuotaProfile& profile,
                                         kube::WorkQueue::Finish done) {
  const kube::ObjectKey object = kube::KeyOf(profile.metadata);
  const Json patch{{"metadata", {{"labels", {{api::kLabelQuotaTreeId, DefaultTreeId(object)}}}}}};
  inputs_.client.Patch(api::kElasticQuotaProfiles, object, kube::PatchType::kMerge, patch, {},
                       scope_.Wrap([this, key, done](StatusOr<Json> answer) {
                         if (answer.ok()) queue_.AddAfter(key, kInterval);
                         done(answer.ok() || kube::IsNotFound(answer.status()));
                       }));
}

void QuotaProfileController::WriteQuota(const std::string& key, const ProfilePtr& profile,
                                        const std::string& tree_id, kube::WorkQueue::Finish done) {
  const kube::ObjectKey object{profile->metadata.ns, profile->spec.quota_name};
  const auto existing = inputs_.quotas.Get(object);
  const auto quota = QuotaForProfile(*profile, tree_id, inputs_.nodes.List(), existing.get());
  if (!quota.ok()) {
    LOG_ERROR("Failed to make the quota of a profile", {"profile", key}, {"err", quota.status()});
    return done(false);
  }
  auto written =
      scope_.Wrap([this, key, profile, created = existing == nullptr, done](StatusOr<Json> answer) {
        OnWritten(key, profile, created, answer.status());
        done(true);
      });
  if (existing == nullptr) {
    inputs_.client.Create(api::kElasticQuotas, object.ns,
                          kube::EncodeObject(api::kElasticQuotas, *quota), {}, std::move(written));
    return;
  }
  const Json patch = kube::CreateMergePatch(kube::Encode(*existing), kube::Encode(*quota));
  if (patch.get_object().empty()) {
    queue_.AddAfter(key, kInterval);
    return done(true);
  }
  inputs_.client.Patch(api::kElasticQuotas, object, kube::PatchType::kMerge, patch, {},
                       std::move(written));
}

void QuotaProfileController::OnWritten(const std::string& key, const ProfilePtr& profile,
                                       bool created, const Status& status) {
  queue_.AddAfter(key, status.ok() ? kInterval : kAfterFailure);
  // The copy was behind: it will show the quota the next time.
  if (status.ok() || (created && kube::IsAlreadyExists(status))) return;
  inputs_.events.Record({.regarding = {.kind = api::kElasticQuotaProfiles.kind,
                                       .ns = profile->metadata.ns,
                                       .name = profile->metadata.name,
                                       .uid = profile->metadata.uid,
                                       .api_version = api::kElasticQuotaProfiles.api_version(),
                                       .resource_version = profile->metadata.resource_version,
                                       .field_path = ""},
                         .type = "Warning",
                         .reason = created ? "CreateQuotaFailed" : "UpdateQuotaFailed",
                         .message = fmt::format("failed to {} quota, err: {}",
                                                created ? "create" : "update", Message(status))});
}

}  // namespace koord::manager
