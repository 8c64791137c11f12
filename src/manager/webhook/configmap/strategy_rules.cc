#include "manager/webhook/configmap/strategy_rules.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <utility>

#include "base/strings.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;

// One field and what it may be.
struct Rule {
  std::string_view field;
  std::optional<double> at_least = {};
  std::optional<double> at_most = {};
  std::optional<double> more_than = {};
  std::string_view above = {};  // another field
  std::string_view below = {};
};

constexpr Rule Percent(std::string_view field) { return {field, 0, 100}; }

constexpr Rule kColocationRules[] = {
    {"metricAggregateDurationSeconds", 1},
    {"metricReportIntervalSeconds", 1},
    {"cpuReclaimThresholdPercent", 0},
    {"memoryReclaimThresholdPercent", 0},
    {"degradeTimeMinutes", 1},
    {"updateTimeThresholdSeconds", 1},
    {.field = "resourceDiffThreshold", .at_most = 1, .more_than = 0},
    Percent("midCPUThresholdPercent"),
    Percent("midMemoryThresholdPercent"),
    Percent("midUnallocatedPercent"),
    Percent("midStaticCPUReservedPercent"),
    Percent("midStaticMemoryReservedPercent"),
    {"batchCPUThresholdPercent", 0},
    {"batchMemoryThresholdPercent", 0},
};

constexpr Rule kThresholdRules[] = {
    Percent("cpuSuppressThresholdPercent"),
    Percent("cpuSuppressMinPercent"),
    {.field = "memoryEvictThresholdPercent",
     .at_least = 0,
     .at_most = 100,
     .above = "memoryEvictLowerPercent"},
    {.field = "memoryEvictLowerPercent",
     .at_least = 0,
     .at_most = 100,
     .below = "memoryEvictThresholdPercent"},
    {.field = "memoryAllocatableEvictThresholdPercent",
     .at_least = 0,
     .above = "memoryAllocatableEvictLowerPercent"},
    {.field = "memoryAllocatableEvictLowerPercent",
     .at_least = 0,
     .below = "memoryAllocatableEvictThresholdPercent"},
    {.field = "cpuEvictBESatisfactionUpperPercent",
     .at_least = 0,
     .at_most = 100,
     .above = "cpuEvictBESatisfactionLowerPercent"},
    {.field = "cpuEvictBESatisfactionLowerPercent",
     .at_least = 0,
     .at_most = 100,
     .below = "cpuEvictBESatisfactionUpperPercent"},
    Percent("cpuEvictBEUsageThresholdPercent"),
    {.field = "cpuEvictTimeWindowSeconds", .more_than = 0},
    {.field = "cpuEvictThresholdPercent",
     .at_least = 0,
     .at_most = 100,
     .above = "cpuEvictLowerPercent"},
    {.field = "cpuEvictLowerPercent",
     .at_least = 0,
     .at_most = 100,
     .below = "cpuEvictThresholdPercent"},
    {.field = "cpuAllocatableEvictThresholdPercent",
     .at_least = 0,
     .above = "cpuAllocatableEvictLowerPercent"},
    {.field = "cpuAllocatableEvictLowerPercent",
     .at_least = 0,
     .below = "cpuAllocatableEvictThresholdPercent"},
    {"allocatableEvictPriorityThreshold", 0, 7999},
};

constexpr Rule kSystemRules[] = {
    {.field = "minFreeKbytesFactor", .more_than = 0},
    {.field = "watermarkScaleFactor", .at_most = 400, .more_than = 0},
    {"memcgReapBackGround", 0, 1},
    {"pageCacheLimitEnabled", 0, 1},
};

constexpr Rule kBurstRules[] = {
    {"cpuBurstPercent", 1, 10'000},
    {"cfsQuotaBurstPercent", 100},
    {"cfsQuotaBurstPeriodSeconds", -1},
};
constexpr Rule kSharePoolRules[] = {Percent("sharePoolThresholdPercent")};

constexpr Rule kCpuQosRules[] = {{"groupIdentity", -1, 2}, {"schedIdle", 0, 1}};
constexpr Rule kMemoryQosRules[] = {
    Percent("minLimitPercent"),     Percent("lowLimitPercent"),
    Percent("throttlingPercent"),   Percent("wmarkRatio"),
    {"wmarkScalePermill", 1, 1000}, {"wmarkMinAdj", -25, 50},
    {"priorityEnable", 0, 1},       {"priority", 0, 12},
    {"oomKillGroup", 0, 1},         Percent("pageCacheLimitPercent"),
};
constexpr Rule kResctrlRules[] = {
    {.field = "catRangeStartPercent", .at_least = 0, .at_most = 100, .below = "catRangeEndPercent"},
    {.field = "catRangeEndPercent", .at_least = 0, .at_most = 100, .above = "catRangeStartPercent"},
    Percent("mbaPercent"),
};

std::optional<double> Number(const Json* object, std::string_view field) {
  const Json* value = object == nullptr ? nullptr : kube::Find(*object, {field});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

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

// The first thing that is wrong; "" if nothing is.
std::string Broken(const Rule& rule, double value, const Json& strategy, const Json* under) {
  const std::string name = TypeFieldName(rule.field);
  const auto partner = [&](std::string_view field) {
    const auto own = Number(&strategy, field);
    return own ? own : Number(under, field);
  };
  if (rule.at_least && value < *rule.at_least) {
    return fmt::format("{} must be {} or greater", name, Text(*rule.at_least));
  }
  if (rule.more_than && value <= *rule.more_than) {
    return fmt::format("{} must be greater than {}", name, Text(*rule.more_than));
  }
  if (rule.at_most && value > *rule.at_most) {
    return fmt::format("{} must be {} or less", name, Text(*rule.at_most));
  }
  if (!rule.above.empty()) {
    if (const auto lower = partner(rule.above); lower && value <= *lower) {
      return fmt::format("{} must be greater than {}", name, TypeFieldName(rule.above));
    }
  }
  if (!rule.below.empty()) {
    if (const auto upper = partner(rule.below); upper && value >= *upper) {
      return fmt::format("{} must be less than {}", name, TypeFieldName(rule.below));
    }
  }
  return "";
}

void Check(std::span<const Rule> rules, const StrategyPlace& place, FieldProblems& problems) {
  for (const Rule& rule : rules) {
    const auto value = Number(&place.strategy, rule.field);
    if (!value) continue;
    std::string problem = Broken(rule, *value, place.strategy, place.under);
    if (!problem.empty()) {
      problems.emplace(place.path + "." + TypeFieldName(rule.field), std::move(problem));
    }
  }
}

}  // namespace

std::string TypeFieldName(std::string_view json_name) {
  constexpr std::array<std::string_view, 7> kAcronyms{"cpu", "cfs", "cat", "mba",
                                                      "lsr", "ls",  "be"};
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

void CheckColocation(const StrategyPlace& place, FieldProblems& problems) {
  Check(kColocationRules, place, problems);
}

void CheckThreshold(const StrategyPlace& place, FieldProblems& problems) {
  Check(kThresholdRules, place, problems);
}

void CheckSystem(const StrategyPlace& place, FieldProblems& problems) {
  Check(kSystemRules, place, problems);
}

void CheckCpuBurst(const StrategyPlace& place, FieldProblems& problems) {
  Check(kBurstRules, {place.strategy, place.under, place.path + ".CPUBurstConfig"}, problems);
  Check(kSharePoolRules, place, problems);
}

void CheckResourceQos(const StrategyPlace& place, FieldProblems& problems) {
  constexpr std::array<std::pair<std::string_view, std::span<const Rule>>, 3> kBlocks{
      {{"cpuQOS", kCpuQosRules}, {"memoryQOS", kMemoryQosRules}, {"resctrlQOS", kResctrlRules}}};
  for (const char* klass : {"lsrClass", "lsClass", "beClass", "systemClass"}) {
    for (const auto& [block, rules] : kBlocks) {
      const Json* strategy = kube::Find(place.strategy, {klass, block});
      if (strategy == nullptr) continue;
      const Json* under =
          place.under == nullptr ? nullptr : kube::Find(*place.under, {klass, block});
      const std::string name = TypeFieldName(block);
      Check(rules,
            {*strategy, under,
             fmt::format("{}.{}.{}.{}", place.path, TypeFieldName(klass), name, name)},
            problems);
    }
  }
}

}  // namespace koord::manager::webhook
