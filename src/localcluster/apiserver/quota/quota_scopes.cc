#include "localcluster/apiserver/quota/quota_scopes.h"

#include <algorithm>

#include "kube/objects/pod.h"
#include "kube/objects/pod_resources.h"

namespace koord::apiserver {
namespace {

using kube::Json;
using kube::ScopeRequirement;

bool AsksFor(const ScopeRequirement& scope, std::string_view value) {
  const bool listed =
      std::find(scope.values.begin(), scope.values.end(), value) != scope.values.end();
  if (scope.operation == "In") return listed;
  if (scope.operation == "NotIn") return !listed;
  if (scope.operation == "DoesNotExist") return value.empty();
  return !value.empty();
}

bool ReachesOtherNamespaces(const Json& term) {
  const auto* names = kube::FindArray(term, {"namespaces"});
  return (names != nullptr && !names->empty()) ||
         kube::Find(term, {"namespaceSelector"}) != nullptr;
}

bool HasCrossNamespaceAffinity(const Json& pod) {
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    const Json* affinity = kube::Find(pod, {"spec", "affinity", kind});
    if (affinity == nullptr) continue;
    const auto* required =
        kube::FindArray(*affinity, {"requiredDuringSchedulingIgnoredDuringExecution"});
    if (required != nullptr && std::ranges::any_of(*required, ReachesOtherNamespaces)) return true;
    const auto* preferred =
        kube::FindArray(*affinity, {"preferredDuringSchedulingIgnoredDuringExecution"});
    if (preferred == nullptr) continue;
    for (const Json& weighted : *preferred) {
      const Json* term = kube::Find(weighted, {"podAffinityTerm"});
      if (term != nullptr && ReachesOtherNamespaces(*term)) return true;
    }
  }
  return false;
}

bool PodInScope(const ScopeRequirement& scope, const Json& object, const kube::Pod& pod) {
  const std::string& name = scope.scope_name;
  if (name == "Terminating") return pod.spec.active_deadline_seconds.has_value();
  if (name == "NotTerminating") return !pod.spec.active_deadline_seconds;
  const bool best_effort = kube::ComputePodQos(pod.spec) == kube::PodQos::kBestEffort;
  if (name == "BestEffort") return best_effort;
  if (name == "NotBestEffort") return !best_effort;
  if (name == "PriorityClass") return AsksFor(scope, std::string(pod.spec.priority_class_name));
  return name == "CrossNamespacePodAffinity" && HasCrossNamespaceAffinity(object);
}

}  // namespace

std::vector<ScopeRequirement> ScopesOf(const kube::ResourceQuotaSpec& spec) {
  std::vector<ScopeRequirement> scopes = spec.scope_selector.match_expressions;
  for (const std::string& name : spec.scopes) {
    scopes.push_back({.scope_name = name, .operation = "Exists", .values = {}});
  }
  return scopes;
}

bool InScope(const std::vector<ScopeRequirement>& scopes, std::string_view resource,
             const Json& object) {
  if (scopes.empty()) return true;
  if (resource == "persistentvolumeclaims") {
    return std::ranges::all_of(scopes, [&](const ScopeRequirement& scope) {
      return scope.scope_name == "VolumeAttributesClass" &&
             AsksFor(scope, kube::FindString(object, {"spec", "volumeAttributesClassName"}));
    });
  }
  if (resource != "pods") return false;
  const auto pod = kube::Decode<kube::Pod>(object);
  return pod.ok() && std::ranges::all_of(scopes, [&](const ScopeRequirement& scope) {
           return PodInScope(scope, object, *pod);
         });
}

}  // namespace koord::apiserver
