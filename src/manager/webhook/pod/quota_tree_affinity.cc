#include <utility>

#include "api/keys.h"
#include "manager/webhook/pod/pod_mutating.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;
namespace json = kube::json;

const QuotaInfo* QuotaOf(const ClusterView& view, std::string_view ns, const Json& pod) {
  std::string_view name = kube::FindString(pod, {"metadata", "labels", api::kLabelQuotaName});
  if (name.empty()) name = ns;
  if (const QuotaInfo* quota = view.quotas().Find(name)) return quota;
  const std::string_view bound = view.quotas().OfNamespace(ns);
  return bound.empty() ? nullptr : view.quotas().Find(bound);
}

json::array RequirementsOf(const kube::LabelSelector& selector) {
  json::array requirements;
  for (const auto& [key, value] : selector.match_labels) {
    requirements.push_back({{"key", key}, {"operator", "In"}, {"values", json::array{value}}});
  }
  for (const kube::LabelSelectorRequirement& each : selector.match_expressions) {
    json::object requirement{{"key", each.key}, {"operator", each.op}};
    if (!each.values.empty()) {
      requirement["values"] = json::array(each.values.begin(), each.values.end());
    }
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

}  // namespace

Status AddQuotaTreeAffinity(const ClusterView& view, std::string_view ns, Json& pod) {
  const QuotaInfo* quota = QuotaOf(view, ns, pod);
  if (quota == nullptr || quota->tree_id.empty()) return absl::OkStatus();
  const auto profiles = view.QuotaProfilesOfTree(quota->tree_id);
  if (profiles.empty()) return absl::OkStatus();
  const json::array requirements = RequirementsOf(profiles[0]->spec.node_selector);
  if (requirements.empty()) return absl::OkStatus();

  Json& terms =
      kube::At(pod, {"spec", "affinity", "nodeAffinity",
                     "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  if (!terms.is_array()) terms = json::array();
  if (terms.get_array().empty()) terms.get_array().push_back(json::object());
  for (Json& term : terms.get_array()) {
    Json& expressions = kube::At(term, {"matchExpressions"});
    if (!expressions.is_array()) expressions = json::array();
    for (const Json& each : requirements) expressions.get_array().push_back(each);
  }
  return absl::OkStatus();
}

}  // namespace koord::manager::webhook
