#include "cli/scenario/match.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/strings.h"

namespace koord::scenario {
namespace {

using kube::Json;
namespace json = kube::json;

std::string OneLine(const Json* value) {
  return value == nullptr ? "(absent)" : kube::Serialize(*value);
}

bool IsNumber(const Json& value) { return value.is_number(); }

bool ScalarsMatch(const Json& expected, const Json& actual) {
  if (expected.is_string() && actual.is_string()) {
    return MatchText(std::string_view(expected.get_string()),
                     std::string_view(actual.get_string()));
  }
  if (IsNumber(expected) && actual.is_string()) {
    return kube::Serialize(expected) == std::string_view(actual.get_string());
  }
  return kube::Equal(expected, actual);
}

// {taints: null} holds where there is not even a spec that could have taints.
bool StatesOnlyAbsence(const Json& expected) {
  if (!expected.is_object()) return expected.is_null();
  const json::object& members = expected.get_object();
  return !members.empty() && std::all_of(members.begin(), members.end(), [](const auto& member) {
    return StatesOnlyAbsence(member.value());
  });
}

void Compare(const std::string& path, const Json& expected, const Json* actual,
             std::vector<Mismatch>& mismatches);

void CompareObjects(const std::string& path, const json::object& expected,
                    const json::object& actual, std::vector<Mismatch>& mismatches) {
  for (const auto& [name, value] : expected) {
    const std::string below = path.empty() ? std::string(name) : path + "." + std::string(name);
    Compare(below, value, actual.if_contains(name), mismatches);
  }
}

// An expected element that no actual one matches is reported against the nearest: the one with the
// fewest differences tells the user most.
void CompareLists(const std::string& path, const json::array& expected, const json::array& actual,
                  std::vector<Mismatch>& mismatches) {
  for (const Json& wanted : expected) {
    std::vector<Mismatch> nearest;
    bool found = false;
    for (size_t i = 0; i < actual.size() && !found; ++i) {
      std::vector<Mismatch> differences;
      Compare(path + "[" + std::to_string(i) + "]", wanted, &actual[i], differences);
      found = differences.empty();
      if (i == 0 || differences.size() < nearest.size()) nearest = std::move(differences);
    }
    if (found) continue;
    const bool partly =
        wanted.is_object() && !nearest.empty() && nearest.size() < wanted.get_object().size();
    if (partly) {
      mismatches.insert(mismatches.end(), nearest.begin(), nearest.end());
    } else {
      mismatches.push_back(
          {path, "an element " + kube::Serialize(wanted), kube::Serialize(actual)});
    }
  }
}

void Compare(const std::string& path, const Json& expected, const Json* actual,
             std::vector<Mismatch>& mismatches) {
  if (expected.is_null()) {
    if (actual != nullptr && !actual->is_null())
      mismatches.push_back({path, "(absent)", OneLine(actual)});
    return;
  }
  if (actual == nullptr && StatesOnlyAbsence(expected)) return;
  if (actual == nullptr) {
    mismatches.push_back({path, OneLine(&expected), OneLine(nullptr)});
  } else if (expected.is_object() && actual->is_object()) {
    CompareObjects(path, expected.get_object(), actual->get_object(), mismatches);
  } else if (expected.is_array() && actual->is_array()) {
    CompareLists(path, expected.get_array(), actual->get_array(), mismatches);
  } else if (!ScalarsMatch(expected, *actual)) {
    mismatches.push_back({path, OneLine(&expected), OneLine(actual)});
  }
}

}  // namespace

bool MatchText(std::string_view expected, std::string_view actual) {
  if (expected.size() < 2 || expected.front() != '/' || expected.back() != '/') {
    return expected == actual;
  }
  const std::string_view pattern = expected.substr(1, expected.size() - 2);
  return RE2::PartialMatch(re2::StringPiece(actual.data(), actual.size()),
                           RE2(re2::StringPiece(pattern.data(), pattern.size()), RE2::Quiet));
}

std::vector<Mismatch> Match(const Json& expected, const Json& actual) {
  std::vector<Mismatch> mismatches;
  Compare("", expected, &actual, mismatches);
  return mismatches;
}

}  // namespace koord::scenario
