#include "manager/webhook/pod/plain_pod.h"

#include <algorithm>

#include "api/keys.h"
#include "manager/quota/pod_quota.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;
namespace json = kube::json;

bool AnyKey(const json::object* members, bool (*matches)(std::string_view key)) {
  return members != nullptr &&
         std::ranges::any_of(*members, [&](const auto& member) { return matches(member.key()); });
}

bool IsOurs(std::string_view key) { return key.find("koordinator.sh/") != key.npos; }

// Batch and mid resources are named as if they were Kubernetes' own.
bool IsOurResource(std::string_view name) {
  return name.starts_with("kubernetes.io/") || IsOurs(name);
}

bool AsksForOurs(const Json& pod, std::string_view list) {
  const json::array* containers = kube::FindArray(pod, {"spec", list});
  return containers != nullptr && std::ranges::any_of(*containers, [](const Json& container) {
           return AnyKey(kube::FindObject(container, {"resources", "requests"}), IsOurResource) ||
                  AnyKey(kube::FindObject(container, {"resources", "limits"}), IsOurResource);
         });
}

// Whether the pod says anything that is defined by this project.
bool MentionsUs(const Json& pod) {
  return AnyKey(kube::FindObject(pod, {"metadata", "labels"}), IsOurs) ||
         AnyKey(kube::FindObject(pod, {"metadata", "annotations"}), IsOurs) ||
         AsksForOurs(pod, "containers") || AsksForOurs(pod, "initContainers") ||
         AnyKey(kube::FindObject(pod, {"spec", "overhead"}), IsOurResource) ||
         AnyKey(kube::FindObject(pod, {"spec", "resources", "requests"}), IsOurResource);
}

}  // namespace

bool NothingToMutate(const Json& pod, std::string_view ns, const ClusterView& view,
                     const Features& features) {
  if (!pod.is_object() || features.multi_quota_tree || MentionsUs(pod)) return false;
  if (view.profiles().empty()) return true;
  const auto matched = view.profiles().Match(kube::FindObject(pod, {"metadata", "labels"}),
                                             [&] { return view.NamespaceLabels(ns); });
  return matched.ok() && matched->empty();
}

bool NothingToValidate(const Json& pod, const Json& old, std::string_view ns,
                       const ClusterView& view, const Features& features) {
  if (!pod.is_object() || features.enable_pod_enhanced_validator || MentionsUs(pod)) return false;
  if (old.is_object() && MentionsUs(old)) return false;
  const std::string quota = QuotaOfPod(view.quotas(), {}, ns, features.disable_default_quota);
  return quota.empty() || quota == api::kDefaultQuota;
}

}  // namespace koord::manager::webhook
