#include "manager/webhook/configmap/field_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/strings.h"

namespace koord::manager::webhook {
namespace {

using api::BrokenRule;

// 10,000
std::string Text(double number) {
  std::string text = fmt::format("{}", number);
  const size_t digits = text[0] == '-' ? 1 : 0;
  const size_t point = text.find('.');
  for (size_t at = point == text.npos ? text.size() : point; at > digits + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

// Types nest where JSON does not: every block of a class repeats its name, and all of a burst but
// the shared pool's threshold is in a group.
std::string TypePath(api::StrategyKind kind, const BrokenRule& broken) {
  std::string path;
  if (kind == api::StrategyKind::kCpuBurst && broken.path.back() != "sharePoolThresholdPercent") {
    path = ".CPUBurstConfig";
  }
  for (const std::string_view step : broken.path) {
    if (ParseUint(step)) {
      path += fmt::format("[{}]", step);
      continue;
    }
    const std::string name = TypeFieldName(step);
    path += "." + name;
    if (step.ends_with("QOS")) path += "." + name;
  }
  return path;
}

std::string TextOf(const BrokenRule& broken) {
  using Breach = BrokenRule::Breach;
  const api::SettingRule& rule = *broken.rule;
  const std::string name = TypeFieldName(rule.member);
  switch (broken.breach) {
    case Breach::kTooSmall:
      return fmt::format("{} must be {} or greater", name, Text(*rule.at_least));
    case Breach::kNotMoreThan:
      return fmt::format("{} must be greater than {}", name, Text(*rule.more_than));
    case Breach::kTooLarge:
      return fmt::format("{} must be {} or less", name, Text(*rule.at_most));
    case Breach::kNotOneOf:
      return fmt::format("{} must be one of [{}]", name, Join(rule.one_of, " "));
    case Breach::kPartnerMissing:  // nothing is in no order with anything
    case Breach::kNotAbove:
    case Breach::kNotBelow:
      break;
  }
  return rule.above.empty()
             ? fmt::format("{} must be less than {}", name, TypeFieldName(rule.below))
             : fmt::format("{} must be greater than {}", name, TypeFieldName(rule.above));
}

// A policy of co-location that nobody knows acts as the default, and always has.
bool IsTolerated(const BrokenRule& broken) {
  return broken.breach == BrokenRule::Breach::kNotOneOf && broken.rule->only_when_written;
}

// Shares of the network are told of in words of their own: see network_rules.h.
bool IsOfNetwork(const BrokenRule& broken) {
  return std::ranges::find(broken.path, "networkQOS") != broken.path.end();
}

}  // namespace

std::string TypeFieldName(std::string_view json_name) {
  constexpr std::array<std::string_view, 8> kAcronyms{"cpu", "cfs", "cat", "mba",
                                                      "lsr", "ls",  "be",  "io"};
  if (json_name == "blkioQOS") return "BlkIOQOS";
  std::string name(json_name);
  for (const std::string_view acronym : kAcronyms) {
    const bool is_word = name.size() > acronym.size() && name.starts_with(acronym) &&
                         std::isupper(static_cast<unsigned char>(name[acronym.size()]));
    if (!is_word) continue;
    for (size_t i = 0; i < acronym.size(); ++i) {
      name[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[i])));
    }
    return name;
  }
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

void AddFieldProblems(api::StrategyKind kind, const kube::Json& strategy, const std::string& path,
                      FieldProblems& problems) {
  for (const BrokenRule& broken :
       api::BrokenRulesOf(kind, strategy, api::StrategyState::kWritten)) {
    if (IsTolerated(broken) || IsOfNetwork(broken)) continue;
    problems.emplace(path + TypePath(kind, broken), TextOf(broken));
  }
}

}  // namespace koord::manager::webhook
