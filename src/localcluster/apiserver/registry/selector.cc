#include "localcluster/apiserver/registry/selector.h"

#include <algorithm>

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

bool RequirementMatches(const Json& requirement, const json::object& labels) {
  const std::string_view key = kube::FindString(requirement, {"key"});
  const std::string_view op = kube::FindString(requirement, {"operator"});
  const Json* value = labels.if_contains(key);
  const json::array* values = kube::FindArray(requirement, {"values"});
  const bool listed = value != nullptr && values != nullptr &&
                      std::find(values->begin(), values->end(), *value) != values->end();
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Exists") return value != nullptr;
  if (op == "DoesNotExist") return value == nullptr;
  return false;
}

}  // namespace

bool SelectorMatches(const Json& selector, const Json& labels) {
  static const json::object kNone;
  const json::object& present = labels.is_object() ? labels.get_object() : kNone;
  if (const json::object* wanted = kube::FindObject(selector, {"matchLabels"})) {
    for (const auto& pair : *wanted) {
      const Json* value = present.if_contains(pair.key());
      if (value == nullptr || *value != pair.value()) return false;
    }
  }
  const json::array* requirements = kube::FindArray(selector, {"matchExpressions"});
  return requirements == nullptr ||
         std::all_of(requirements->begin(), requirements->end(), [&](const Json& requirement) {
           return RequirementMatches(requirement, present);
         });
}

}  // namespace koord::apiserver
