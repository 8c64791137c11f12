#include "manager/config/node_strategies.h"

#include <algorithm>

namespace koord::manager {
namespace {

using kube::Json;

bool IsUsersMap(std::string_view member) {
  constexpr std::string_view kMaps[] = {"ratioModel", "schedFeatures", "resourceAmplificationRatio",
                                        "extensions"};
  return std::find(std::begin(kMaps), std::end(kMaps), member) != std::end(kMaps);
}

void MergeMap(kube::json::object& base, const kube::json::object& over) {
  for (const auto& [key, value] : over) base.insert_or_assign(key, value);
}

}  // namespace

void MergeDocument(Json& base, const Json& over) {
  if (!base.is_object() || !over.is_object()) {
    base = over;
    return;
  }
  kube::json::object& into = base.get_object();
  for (const auto& [member, value] : over.get_object()) {
    Json* there = into.if_contains(member);
    if (there == nullptr || !there->is_object() || !value.is_object()) {
      into.insert_or_assign(member, value);
    } else if (IsUsersMap(member)) {
      MergeMap(there->get_object(), value.get_object());
    } else {
      MergeDocument(*there, value);
    }
  }
}

}  // namespace koord::manager
