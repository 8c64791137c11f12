#include "api/setting_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace koord::api {
namespace {

using kube::Json;
using Breach = BrokenRule::Breach;

constexpr SettingRule Percent(std::string_view member) { return {member, 0, 100}; }

// The two bounds of an eviction: it starts at the upper one and goes on down to the lower one.
constexpr SettingRule Upper(std::string_view member, std::string_view lower, double least,
                            std::optional<double> most) {
  return {.member = member, .at_least = least, .at_most = most, .above = lower};
}
constexpr SettingRule Lower(std::string_view member, std::string_view upper, double least,
                            std::optional<double> most) {
  return {.member = member, .at_least = least, .at_most = most, .below = upper};
}

constexpr std::string_view kCpuCalculatePolicies[] = {"usage", "maxUsageRequest"};
constexpr std::string_view kMemoryCalculatePolicies[] = {"usage", "request", "maxUsageRequest"};
constexpr std::string_view kMemoryCollectPolicies[] = {
    "usageWithoutPageCache", "usageWithHotPageCache", "usageWithPageCache"};
constexpr std::string_view kMidReclaimModes[] = {"static"};
constexpr std::string_view kSuppressPolicies[] = {"cpuset", "cfsQuota"};
constexpr std::string_view kCpuEvictPolicies[] = {"evictByRealLimit", "evictByAllocatable"};
constexpr std::string_view kBurstPolicies[] = {"none", "cpuBurstOnly", "cfsQuotaBurstOnly", "auto"};
constexpr std::string_view kCpuPolicies[] = {"groupIdentity", "coreSched"};
constexpr std::string_view kNetworkPolicies[] = {"tc", "terway-qos"};

constexpr SettingRule Choice(std::string_view member, std::span<const std::string_view> one_of) {
  return {.member = member, .one_of = one_of};
}
constexpr SettingRule OpenChoice(std::string_view member,
                                 std::span<const std::string_view> one_of) {
  return {.member = member, .one_of = one_of, .only_when_written = true};
}

constexpr SettingRule kColocationRules[] = {
    {"metricAggregateDurationSeconds", 1},
    {"metricReportIntervalSeconds", 1},
    OpenChoice("metricMemoryCollectPolicy", kMemoryCollectPolicies),
    {"cpuReclaimThresholdPercent", 0},
    OpenChoice("cpuCalculatePolicy", kCpuCalculatePolicies),
    {"memoryReclaimThresholdPercent", 0},
    OpenChoice("memoryCalculatePolicy", kMemoryCalculatePolicies),
    {"degradeTimeMinutes", 1},
    {"updateTimeThresholdSeconds", 1},
    {.member = "resourceDiffThreshold", .at_most = 1, .more_than = 0, .only_when_written = true},
    OpenChoice("midReclaimMode", kMidReclaimModes),
    Percent("midCPUThresholdPercent"),
    Percent("midMemoryThresholdPercent"),
    Percent("midUnallocatedPercent"),
    {.member = "midStaticCPUReservedPercent",
     .at_least = 0,
     .at_most = 100,
     .only_when_written = true},
    {.member = "midStaticMemoryReservedPercent",
     .at_least = 0,
     .at_most = 100,
     .only_when_written = true},
    {"batchCPUThresholdPercent", 0},
    {"batchMemoryThresholdPercent", 0},
};

constexpr SettingRule kThresholdRules[] = {
    Percent("cpuSuppressThresholdPercent"),
    Percent("cpuSuppressMinPercent"),
    Choice("cpuSuppressPolicy", kSuppressPolicies),
    Upper("memoryEvictThresholdPercent", "memoryEvictLowerPercent", 0, 100),
    Lower("memoryEvictLowerPercent", "memoryEvictThresholdPercent", 0, 100),
    // Of what is requested, which may be more than there is.
    Upper("memoryAllocatableEvictThresholdPercent", "memoryAllocatableEvictLowerPercent", 0, {}),
    Lower("memoryAllocatableEvictLowerPercent", "memoryAllocatableEvictThresholdPercent", 0, {}),
    // Batch pods that have all they ask for, or nothing at all, are not evicted for want of CPU.
    Upper("cpuEvictBESatisfactionUpperPercent", "cpuEvictBESatisfactionLowerPercent", 1, 99),
    Lower("cpuEvictBESatisfactionLowerPercent", "cpuEvictBESatisfactionUpperPercent", 1, 60),
    Percent("cpuEvictBEUsageThresholdPercent"),
    {.member = "cpuEvictTimeWindowSeconds", .more_than = 0},
    Upper("cpuEvictThresholdPercent", "cpuEvictLowerPercent", 0, 100),
    Lower("cpuEvictLowerPercent", "cpuEvictThresholdPercent", 0, 100),
    Upper("cpuAllocatableEvictThresholdPercent", "cpuAllocatableEvictLowerPercent", 0, {}),
    Lower("cpuAllocatableEvictLowerPercent", "cpuAllocatableEvictThresholdPercent", 0, {}),
    Choice("cpuEvictPolicy", kCpuEvictPolicies),
    {"allocatableEvictPriorityThreshold", 0, kMaxAllocatableEvictPriority},
};

constexpr SettingRule kBurstRules[] = {
    Choice("policy", kBurstPolicies),     {"cpuBurstPercent", 1, 10'000},
    {"cfsQuotaBurstPercent", 100},        {"cfsQuotaBurstPeriodSeconds", -1},
    Percent("sharePoolThresholdPercent"),
};

constexpr SettingRule kSystemRules[] = {
    {.member = "minFreeKbytesFactor", .more_than = 0},
    {"watermarkScaleFactor", 10, 400},  // what koordlet gives to kernels
    {"memcgReapBackGround", 0, 1},
    {"schedGroupIdentityEnabled", 0, 1},
    {"schedIdleSaverWmark", 0},
    {"pageCacheLimitEnabled", 0, 1},
};

constexpr SettingRule kPolicyRules[] = {Choice("cpuPolicy", kCpuPolicies),
                                        Choice("netQOSPolicy", kNetworkPolicies)};
constexpr SettingRule kCpuQosRules[] = {{"groupIdentity", -1, 2}, {"schedIdle", 0, 1}};
constexpr SettingRule kMemoryQosRules[] = {
    Percent("minLimitPercent"),     Percent("lowLimitPercent"),
    Percent("throttlingPercent"),   Percent("wmarkRatio"),
    {"wmarkScalePermill", 1, 1000}, {"wmarkMinAdj", -25, 50},
    {"priorityEnable", 0, 1},       {"priority", 0, 12},
    {"oomKillGroup", 0, 1},         Percent("pageCacheLimitPercent"),
};
constexpr SettingRule kResctrlRules[] = {
    Lower("catRangeStartPercent", "catRangeEndPercent", 0, 100),
    Upper("catRangeEndPercent", "catRangeStartPercent", 0, 100),
    Percent("mbaPercent"),
};
// Of the node's bandwidth. Amounts, which are texts, have no bounds of their own.
constexpr SettingRule kNetworkRules[] = {Percent("ingressRequest"), Percent("ingressLimit"),
                                         Percent("egressRequest"), Percent("egressLimit")};

struct QosBlock {
  std::string_view name;
  std::span<const SettingRule> rules;
};
constexpr QosBlock kQosBlocks[] = {{"cpuQOS", kCpuQosRules},
                                   {"memoryQOS", kMemoryQosRules},
                                   {"resctrlQOS", kResctrlRules},
                                   {"networkQOS", kNetworkRules}};

constexpr std::string_view kBlockTypes[] = {"device", "volumegroup", "podvolume"};
constexpr SettingRule kBlockRules[] = {Choice("type", kBlockTypes)};
constexpr SettingRule kIoRules[] = {
    {"readIOPS", 0},
    {"writeIOPS", 0},
    {"readBPS", 0},
    {"writeBPS", 0},
    {"ioWeightPercent", 1, 100},
    {"readLatency", 0},
    {"writeLatency", 0},
    Percent("readLatencyPercent"),
    Percent("writeLatencyPercent"),
    {"modelReadBPS", 1},
    {"modelWriteBPS", 1},
    {"modelReadSeqIOPS", 1},
    {"modelWriteSeqIOPS", 1},
    {"modelReadRandIOPS", 1},
    {"modelWriteRandIOPS", 1},
};

using Path = std::vector<std::string>;

Path Below(Path path, std::string_view step) {
  path.emplace_back(step);
  return path;
}

std::optional<double> NumberAt(const Json& object, std::string_view member) {
  const Json* value = kube::Find(object, {member});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::optional<Breach> BreachOfPair(const SettingRule& rule, double value, const Json& object) {
  const std::string_view other = rule.above.empty() ? rule.below : rule.above;
  if (other.empty()) return std::nullopt;
  const auto partner = NumberAt(object, other);
  if (!partner) return Breach::kPartnerMissing;
  if (!rule.above.empty() && value <= *partner) return Breach::kNotAbove;
  if (!rule.below.empty() && value >= *partner) return Breach::kNotBelow;
  return std::nullopt;
}

std::optional<Breach> BreachOf(const SettingRule& rule, const Json& value, const Json& object,
                               StrategyState state) {
  const bool is_open = rule.only_when_written && state == StrategyState::kInForce;
  if (value.is_string()) {
    const std::string_view text = value.get_string();
    const bool allowed = rule.one_of.empty() || text.empty() || is_open ||
                         std::ranges::find(rule.one_of, text) != rule.one_of.end();
    return allowed ? std::nullopt : std::optional(Breach::kNotOneOf);
  }
  if (!value.is_number()) return std::nullopt;
  const auto number = value.to_number<double>();
  if (rule.at_least && number < *rule.at_least) return Breach::kTooSmall;
  if (rule.more_than && number <= *rule.more_than) return Breach::kNotMoreThan;
  if (rule.at_most && number > *rule.at_most && !is_open) return Breach::kTooLarge;
  return state == StrategyState::kWritten ? BreachOfPair(rule, number, object) : std::nullopt;
}

class RuleChecker {
 public:
  explicit RuleChecker(StrategyState state) : state_(state) {}

  void Check(const Json* object, std::span<const SettingRule> rules, const Path& path = {}) {
    if (object == nullptr || !object->is_object()) return;
    for (const SettingRule& rule : rules) {
      const Json* value = kube::Find(*object, {rule.member});
      if (value == nullptr) continue;
      const auto breach = BreachOf(rule, *value, *object, state_);
      if (!breach) continue;
      broken_.push_back({&rule, *breach, Below(path, rule.member), *value});
    }
  }

  void CheckQos(const Json& strategy) {
    Check(kube::Find(strategy, {"policies"}), kPolicyRules, {"policies"});
    for (const std::string_view klass :
         {"lsrClass", "lsClass", "beClass", "systemClass", "cgroupRoot"}) {
      for (const auto& [block, rules] : kQosBlocks) {
        Check(kube::Find(strategy, {klass, block}), rules,
              {std::string(klass), std::string(block)});
      }
      CheckDisks(kube::Find(strategy, {klass, "blkioQOS", "blocks"}),
                 {std::string(klass), "blkioQOS", "blocks"});
    }
  }

  std::vector<BrokenRule> Take() && { return std::move(broken_); }

 private:
  void CheckDisks(const Json* blocks, const Path& path) {
    if (blocks == nullptr || !blocks->is_array()) return;
    for (size_t i = 0; i < blocks->as_array().size(); ++i) {
      const Json& block = blocks->as_array()[i];
      const Path at = Below(path, std::to_string(i));
      Check(&block, kBlockRules, at);
      Check(kube::Find(block, {"ioCfg"}), kIoRules, Below(at, "ioCfg"));
    }
  }

  const StrategyState state_;
  std::vector<BrokenRule> broken_;
};

// "must be between 0 and 100"
std::string BoundsOf(const SettingRule& rule) {
  if (rule.at_least && rule.at_most) {
    return fmt::format("must be between {} and {}", *rule.at_least, *rule.at_most);
  }
  if (rule.more_than && rule.at_most) {
    return fmt::format("must be more than {} and at most {}", *rule.more_than, *rule.at_most);
  }
  if (rule.at_least) return fmt::format("must be at least {}", *rule.at_least);
  if (rule.more_than) return fmt::format("must be more than {}", *rule.more_than);
  return fmt::format("must be at most {}", rule.at_most.value_or(0));
}

}  // namespace

std::string BrokenRule::Path() const {
  std::string text;
  for (const std::string& step : path) {
    if (ParseUint(step)) {
      text += fmt::format("[{}]", step);
    } else {
      text += text.empty() ? step : "." + step;
    }
  }
  return text;
}

std::string BrokenRule::Description() const {
  const std::string found =
      value.is_double() ? fmt::format("{}", value.get_double()) : kube::Serialize(value);
  switch (breach) {
    case Breach::kPartnerMissing:
      return fmt::format("needs {} beside it: give both or neither",
                         rule->above.empty() ? rule->below : rule->above);
    case Breach::kNotAbove:
      return fmt::format("must be more than {}, found {}", rule->above, found);
    case Breach::kNotBelow:
      return fmt::format("must be less than {}, found {}", rule->below, found);
    case Breach::kNotOneOf:
      return fmt::format("{} is not one of {}", found, Join(rule->one_of, ", "));
    case Breach::kTooSmall:
    case Breach::kNotMoreThan:
    case Breach::kTooLarge:
      break;
  }
  return fmt::format("{}, found {}", BoundsOf(*rule), found);
}

const SettingRule& QosRuleOf(std::string_view block, std::string_view member) {
  const QosBlock& found = *std::ranges::find(kQosBlocks, block, &QosBlock::name);
  return *std::ranges::find(found.rules, member, &SettingRule::member);
}

std::vector<BrokenRule> BrokenRulesOf(StrategyKind kind, const Json& strategy,
                                      StrategyState state) {
  RuleChecker checker(state);
  switch (kind) {
    case StrategyKind::kColocation:
      checker.Check(&strategy, kColocationRules);
      break;
    case StrategyKind::kThreshold:
      checker.Check(&strategy, kThresholdRules);
      break;
    case StrategyKind::kCpuBurst:
      checker.Check(&strategy, kBurstRules);
      break;
    case StrategyKind::kSystem:
      checker.Check(&strategy, kSystemRules);
      break;
    case StrategyKind::kResourceQos:
      checker.CheckQos(strategy);
      break;
  }
  return std::move(checker).Take();
}

}  // namespace koord::api
