#include "kube/objects/node_affinity.h"

#include <algorithm>

#include "base/strings.h"

namespace koord::kube {
namespace {

bool Contains(const std::vector<std::string>& values, std::string_view value) {
  return std::ranges::find(values, value) != values.end();
}

bool MatchesInteger(const NodeSelectorRequirement& requirement, std::string_view value) {
  if (requirement.values.size() != 1) return false;
  const std::optional<int64_t> left = ParseInt(value);
  const std::optional<int64_t> right = ParseInt(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == "Gt" ? *left > *right : *left < *right;
}

bool MatchesField(const NodeSelectorRequirement& requirement, std::string_view node_name) {
  if (requirement.key != "metadata.name") return false;
  if (requirement.op == "In") return Contains(requirement.values, node_name);
  return requirement.op == "NotIn" && !Contains(requirement.values, node_name);
}

}  // namespace

bool Matches(const NodeSelectorRequirement& requirement, const Labels& labels) {
  const std::string* value = FindValue(labels, requirement.key);
  const std::string& op = requirement.op;
  if (op == "Exists") return value != nullptr;
  if (op == "DoesNotExist") return value == nullptr;
  if (op == "NotIn") return value == nullptr || !Contains(requirement.values, *value);
  if (value == nullptr) return false;
  if (op == "In") return Contains(requirement.values, *value);
  return (op == "Gt" || op == "Lt") && MatchesInteger(requirement, *value);
}

bool Matches(const NodeSelectorTerm& term, std::string_view node_name, const Labels& labels) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  return std::ranges::all_of(term.match_expressions,
                             [&](const auto& each) { return Matches(each, labels); }) &&
         std::ranges::all_of(term.match_fields,
                             [&](const auto& each) { return MatchesField(each, node_name); });
}

bool Matches(const NodeSelector& selector, std::string_view node_name, const Labels& labels) {
  return std::ranges::any_of(selector.node_selector_terms,
                             [&](const auto& term) { return Matches(term, node_name, labels); });
}

}  // namespace koord::kube

KOORD_DEFINE_CODEC(koord::kube::NodeSelectorTerm);
KOORD_DEFINE_CODEC(koord::kube::NodeSelector);
KOORD_DEFINE_CODEC(koord::kube::NodeAffinity);
