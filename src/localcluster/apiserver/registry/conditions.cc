#include "localcluster/apiserver/registry/conditions.h"

#include <string>
#include <utility>

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

const Json* FindCondition(const Json& object, std::string_view type) {
  const json::array* conditions = kube::FindArray(object, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const Json& condition : *conditions) {
    if (kube::FindString(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

void SetCondition(Json& object, const ConditionUpdate& update) {
  const Json* before = FindCondition(object, update.type);
  const bool moved = before == nullptr || kube::FindString(*before, {"status"}) != update.status;
  const std::string time(moved ? update.time
                               : kube::FindString(*before, {"lastTransitionTime"}, update.time));
  json::object condition{
      {"type", update.type}, {"status", update.status}, {"lastTransitionTime", time}};
  if (!update.reason.empty()) condition["reason"] = update.reason;
  if (!update.message.empty() || update.always_message) condition["message"] = update.message;
  if (update.observed_generation > 0) condition["observedGeneration"] = update.observed_generation;

  Json& list = kube::At(object, {"status", "conditions"});
  if (!list.is_array()) list.emplace_array();
  for (Json& existing : list.get_array()) {
    if (kube::FindString(existing, {"type"}) != update.type) continue;
    existing = std::move(condition);
    return;
  }
  list.get_array().push_back(std::move(condition));
}

}  // namespace koord::apiserver
