#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/objects/pod.h"
#include "kube/selectors.h"

namespace koord::scheduler {

inline constexpr std::string_view kDoNotSchedule = "DoNotSchedule";
inline constexpr std::string_view kScheduleAnyway = "ScheduleAnyway";
inline constexpr std::string_view kHostnameKey = "kubernetes.io/hostname";
inline constexpr std::string_view kZoneKey = "topology.kubernetes.io/zone";

// One topology spread constraint as it applies to one pod.
struct SpreadConstraint {
  std::string key;
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  // Which pods of the namespace are counted; nothing: none.
  std::optional<kube::LabelMatcher> counted;
  bool matches_itself = false;
  bool honors_affinity = true;
  bool honors_taints = false;
};

// Those of the constraints that say so about a violation, with the labels that they take from the
// pod. Fails if a selector cannot be understood.
StatusOr<std::vector<SpreadConstraint>> OwnConstraints(const kube::Pod& pod,
                                                       std::string_view when_unsatisfiable);

// The same of default constraints, whose selector is derived from what the pod belongs to.
std::vector<SpreadConstraint> DefaultConstraints(
    const kube::Pod& pod, std::span<const kube::TopologySpreadConstraint> defaults,
    std::string_view when_unsatisfiable, const kube::LabelMatcher& selector);

// What clusters get that configure nothing.
std::vector<kube::TopologySpreadConstraint> SystemDefaults();

}  // namespace koord::scheduler
