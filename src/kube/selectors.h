#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kube/json.h"

// Which objects a request or a rule is about.
namespace koord::kube {

// Requirements on labels, all of which must hold. Without any it matches every object.
class LabelMatcher {
 public:
  enum class Operator {
    kIn,
    kNotIn,
    kExists,
    kDoesNotExist,
    kEquals,
    kDoubleEquals,
    kNotEquals,
    kGreater,
    kLess,
  };

  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted, without duplicates

    // nullopt: the object has no such label. NotIn and != match that too.
    bool Matches(std::optional<std::string_view> value) const;
    std::string ToString() const;
  };

  LabelMatcher() = default;

  // "app=web,tier in (a,b),!old,size>5". Errors are in Kubernetes' words, without an HTTP code.
  static StatusOr<LabelMatcher> Parse(std::string_view text);

  // A selector as objects contain it: matchLabels and matchExpressions. What an absent selector
  // means (mostly: nothing) is for the caller to decide.
  static StatusOr<LabelMatcher> FromJson(const Json& selector);
  template <class LabelSelector>
  static StatusOr<LabelMatcher> From(const LabelSelector& selector) {
    LabelMatcher matcher;
    for (const auto& [key, value] : selector.match_labels) {
      RETURN_IF_ERROR(matcher.Add(key, Operator::kEquals, {value}));
    }
    for (const auto& each : selector.match_expressions) {
      RETURN_IF_ERROR(matcher.AddExpression(each.key, each.op, each.values));
    }
    return matcher;
  }

  // Checks the requirement as Kubernetes does.
  Status Add(std::string key, Operator op, std::vector<std::string> values);

  bool Matches(const std::map<std::string, std::string, std::less<>>& labels) const {
    return MatchesBy([&](const std::string& key) -> std::optional<std::string_view> {
      const auto it = labels.find(key);
      if (it == labels.end()) return {};
      return it->second;
    });
  }
  // Labels sorted by key.
  bool Matches(const std::vector<std::pair<std::string, std::string>>& labels) const;
  // The `labels` object of an untyped document; null if it has none.
  bool Matches(const json::object* labels) const;

  // lookup(key) gives the label's value as optional<string_view>.
  template <class Lookup>
  bool MatchesBy(Lookup lookup) const {
    return std::all_of(requirements_.begin(), requirements_.end(),
                       [&](const Requirement& each) { return each.Matches(lookup(each.key)); });
  }

  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }  // sorted by key

  // In the grammar of Parse, sorted.
  std::string ToString() const;

 private:
  Status AddExpression(std::string key, std::string_view op, std::vector<std::string> values);

  std::vector<Requirement> requirements_;
};

// Requirements on fields of objects by name: "status.phase=Running,spec.nodeName!=a".
class FieldMatcher {
 public:
  struct Requirement {
    std::string field;
    std::string value;
    bool equal = true;
  };

  FieldMatcher() = default;
  static StatusOr<FieldMatcher> Parse(std::string_view text);

  // lookup(field) gives the field's text; what an object lacks is "".
  template <class Lookup>
  bool MatchesBy(Lookup lookup) const {
    return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& each) {
      return (std::string_view(lookup(each.field)) == each.value) == each.equal;
    });
  }
  // The value that a field must have, if one requirement says so.
  std::optional<std::string_view> RequiredValue(std::string_view field) const;

  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  std::string ToString() const;  // in the grammar of Parse, escaped

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace koord::kube
