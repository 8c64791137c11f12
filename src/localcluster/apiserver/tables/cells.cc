#include "localcluster/apiserver/tables/cells.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/strings.h"
#include "kube/selectors.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

std::string ScalarText(const Json* value) {
  if (value == nullptr || value->is_null()) return {};
  if (const auto* text = value->if_string()) return {text->data(), text->size()};
  if (const double* real = value->if_double()) return fmt::format("{}", *real);
  return kube::Serialize(*value);
}

std::string LabelsText(const json::object* labels) {
  if (SizeOf(labels) == 0) return std::string(kNone);
  std::map<std::string_view, std::string> sorted;
  for (const auto& label : *labels) sorted[label.key()] = ScalarText(&label.value());
  std::vector<std::string> texts;
  for (const auto& [key, value] : sorted) texts.push_back(fmt::format("{}={}", key, value));
  return Join(texts, ",");
}

std::string SelectorText(const Json* selector) {
  if (selector == nullptr) return std::string(kNone);
  const auto matcher = kube::LabelMatcher::FromJson(*selector);
  if (!matcher.ok()) return "<error>";
  return matcher->empty() ? std::string(kNone) : matcher->ToString();
}

std::string JoinField(const json::array* items, std::string_view field,
                      std::string_view separator) {
  std::vector<std::string_view> texts;
  if (items != nullptr) {
    for (const Json& item : *items) texts.push_back(kube::FindString(item, {field}));
  }
  return Join(texts, separator);
}

std::string JoinStrings(const json::array* items, std::string_view separator) {
  std::vector<std::string_view> texts;
  if (items != nullptr) {
    for (const Json& item : *items) {
      if (item.is_string()) texts.push_back(kube::FindString(item, {}));
    }
  }
  return Join(texts, separator);
}

bool ConditionIsTrue(const Json& object, std::string_view type) {
  const Json* condition = FindCondition(object, type);
  return condition != nullptr && kube::FindString(*condition, {"status"}) == "True";
}

}  // namespace koord::apiserver
