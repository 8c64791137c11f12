#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

// What the settings of co-location and of NodeSLO may be, in one table for all who read them: the
// ConfigMap's webhook refuses what breaks a rule, `koord validate` reports it, koord-manager keeps
// what was in force before, and koordlet leaves the member out so that its default holds.
namespace koord::api {

enum class StrategyKind { kColocation, kThreshold, kResourceQos, kCpuBurst, kSystem };

// The highest of mid: what prod pods have requested is never promised twice.
inline constexpr int32_t kMaxAllocatableEvictPriority = 7999;

struct SettingRule {
  std::string_view member;
  std::optional<double> at_least = {};
  std::optional<double> at_most = {};
  std::optional<double> more_than = {};
  // One of a pair: the other, which must be written beside it.
  std::string_view above = {};  // and be smaller
  std::string_view below = {};  // and be larger
  // Of a text; an empty one stands for the default.
  std::span<const std::string_view> one_of = {};
  // Whoever writes it is held to its upper bound or its choices, but what is in force may be
  // anything: labels of nodes may ask for more, and other texts act as the default.
  bool only_when_written = false;
};

// A member that is not what it should be.
struct BrokenRule {
  enum class Breach {
    kTooSmall,        // below at_least
    kNotMoreThan,     // not above more_than
    kTooLarge,        // above at_most
    kPartnerMissing,  // of above or below
    kNotAbove,        // not larger than its lower partner
    kNotBelow,        // not smaller than its upper partner
    kNotOneOf,
  };
  const SettingRule* rule;
  Breach breach;
  // {"beClass", "cpuQOS", "groupIdentity"}; elements of lists by their number.
  std::vector<std::string> path;
  kube::Json value;

  std::string Path() const;         // "beClass.cpuQOS.groupIdentity", "blocks[0].type"
  std::string Description() const;  // "must be between -1 and 2, found 3"
};

// A strategy as people write it, or as it is in force: merged with the levels below it, so that
// partners may come from there and are not looked at.
enum class StrategyState { kWritten, kInForce };

// Everything that is wrong with a strategy, at most once a member. `strategy` has the spelling of
// its struct. Members of another type than they should be are not looked at.
std::vector<BrokenRule> BrokenRulesOf(StrategyKind kind, const kube::Json& strategy,
                                      StrategyState state);

// The rule of a member of a class's block (cpuQOS, memoryQOS, resctrlQOS, networkQOS), for those
// who hold others to it: pods that ask for it by an annotation, sums over classes. There is such a
// member.
const SettingRule& QosRuleOf(std::string_view block, std::string_view member);

}  // namespace koord::api
