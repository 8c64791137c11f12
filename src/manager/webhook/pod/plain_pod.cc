#include "manager/webhook/pod/plain_pod.h"

#include <algorithm>

#include "api/keys.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;
namespace json = kube::json;

bool AnyKey(const json::object* members, bool (*matches)(std::string_view key)) {
  return members != nullptr &&
         std::ranges::any_of(*members, [&](const auto& member) { return matches(member.key()); });
}

// Gangs are asked for by the keys that Kubernetes' own scheduler plugins know.
bool IsOurs(std::string_view key) {
  return key.find("koordinator.sh/") != key.npos ||
         key.starts_with("pod-group.scheduling.sigs.k8s.io");
}

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
  const std::string quota = view.quotas().QuotaOf({}, ns, features.disable_default_quota);
  return quota.empty() || quota == api::kDefaultQuota;
}

bool NothingToGuard(const Json& object, const Json& old) {
  const auto says_the_same = [&](std::string_view map) {
    const json::object* now = kube::FindObject(object, {"metadata", map});
    const json::object* before = kube::FindObject(old, {"metadata", map});
    if (!AnyKey(now, IsOurs) && !AnyKey(before, IsOurs)) return true;
    return now != nullptr && before != nullptr && *now == *before;
  };
  return object.is_object() && says_the_same("labels") && says_the_same("annotations");
}

}  // namespace koord::manager::webhook
