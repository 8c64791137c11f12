#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "kube/json.h"
#include "localcluster/apiserver/registry/conditions.h"

// Texts that the tables of several kinds share.
namespace koord::apiserver {

inline constexpr std::string_view kNone = "<none>";
inline constexpr std::string_view kUnset = "<unset>";

// "a=1,b=2" by key, or <none>. `labels` may be null.
std::string LabelsText(const kube::json::object* labels);

// A LabelSelector: "app=web,tier in (a,b),!old", or <none>.
std::string SelectorText(const kube::Json* selector);

// A field of each item, joined: names of containers, ...
std::string JoinField(const kube::json::array* items, std::string_view field,
                      std::string_view separator = ",");

// Strings of a list, joined; items of other types are skipped.
std::string JoinStrings(const kube::json::array* items, std::string_view separator = ",");

// An IntOrString or Quantity: "25%", "3"; empty if there is none.
std::string ScalarText(const kube::Json* value);

bool ConditionIsTrue(const kube::Json& object, std::string_view type);

inline size_t SizeOf(const kube::json::array* items) {
  return items == nullptr ? 0 : items->size();
}
inline size_t SizeOf(const kube::json::object* members) {
  return members == nullptr ? 0 : members->size();
}

}  // namespace koord::apiserver
