#include "localcluster/apiserver/tables/cells.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/strings.h"

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

namespace {

std::string ExpressionText(const Json& expression) {
  const std::string_view key = kube::FindString(expression, {"key"});
  const std::string_view op = kube::FindString(expression, {"operator"});
  if (op == "Exists") return std::string(key);
  if (op == "DoesNotExist") return fmt::format("!{}", key);
  std::vector<std::string> values;
  if (const auto* list = kube::FindArray(expression, {"values"})) {
    for (const Json& value : *list) values.push_back(ScalarText(&value));
  }
  std::sort(values.begin(), values.end());
  return fmt::format("{} {} ({})", key, op == "NotIn" ? "notin" : "in", Join(values, ","));
}

}  // namespace

std::string SelectorText(const Json* selector) {
  std::multimap<std::string_view, std::string> by_key;
  if (selector == nullptr) return std::string(kNone);
  if (const auto* labels = kube::FindObject(*selector, {"matchLabels"})) {
    for (const auto& label : *labels) {
      by_key.emplace(label.key(), fmt::format("{}={}", std::string_view(label.key()),
                                              ScalarText(&label.value())));
    }
  }
  if (const auto* expressions = kube::FindArray(*selector, {"matchExpressions"})) {
    for (const Json& expression : *expressions) {
      by_key.emplace(kube::FindString(expression, {"key"}), ExpressionText(expression));
    }
  }
  if (by_key.empty()) return std::string(kNone);
  std::vector<std::string> texts;
  for (auto& [key, text] : by_key) texts.push_back(std::move(text));
  return Join(texts, ",");
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

const Json* FindCondition(const Json& object, std::string_view type) {
  const auto* conditions = kube::FindArray(object, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const Json& condition : *conditions) {
    if (kube::FindString(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

bool ConditionIsTrue(const Json& object, std::string_view type) {
  const Json* condition = FindCondition(object, type);
  return condition != nullptr && kube::FindString(*condition, {"status"}) == "True";
}

}  // namespace koord::apiserver
