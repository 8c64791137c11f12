#include "scheduler/plugins/pod_topology_spread/spread_constraint.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

SpreadConstraint WithoutSelector(const kube::TopologySpreadConstraint& constraint) {
  return {.key = constraint.topology_key,
          .max_skew = constraint.max_skew,
          .min_domains = constraint.min_domains.value_or(1),
          .counted = {},
          .matches_itself = false,
          .honors_affinity = constraint.node_affinity_policy != "Ignore",
          .honors_taints = constraint.node_taints_policy == "Honor"};
}

}  // namespace

StatusOr<std::vector<SpreadConstraint>> OwnConstraints(const kube::Pod& pod,
                                                       std::string_view when_unsatisfiable) {
  std::vector<SpreadConstraint> constraints;
  const kube::Labels& labels = pod.metadata.labels;
  for (const auto& each : pod.spec.topology_spread_constraints) {
    if (each.when_unsatisfiable != when_unsatisfiable) continue;
    SpreadConstraint& constraint = constraints.emplace_back(WithoutSelector(each));
    if (!each.label_selector) continue;
    ASSIGN_OR_RETURN(kube::LabelMatcher matcher, kube::LabelMatcher::From(*each.label_selector));
    for (const std::string& key : each.match_label_keys) {
      const std::string* value = kube::FindValue(labels, key);
      if (value == nullptr) continue;
      RETURN_IF_ERROR(matcher.Add(key, kube::LabelMatcher::Operator::kEquals, {*value}));
    }
    constraint.matches_itself = matcher.Matches(labels);
    // A selector that asks for nothing counts no pod that runs.
    if (!matcher.empty()) constraint.counted = std::move(matcher);
  }
  return constraints;
}

std::vector<SpreadConstraint> DefaultConstraints(
    const kube::Pod& pod, std::span<const kube::TopologySpreadConstraint> defaults,
    std::string_view when_unsatisfiable, const kube::LabelMatcher& selector) {
  std::vector<SpreadConstraint> constraints;
  if (selector.empty()) return constraints;
  for (const auto& each : defaults) {
    if (each.when_unsatisfiable != when_unsatisfiable) continue;
    SpreadConstraint& constraint = constraints.emplace_back(WithoutSelector(each));
    constraint.counted = selector;
    constraint.matches_itself = selector.Matches(pod.metadata.labels);
  }
  return constraints;
}

std::vector<kube::TopologySpreadConstraint> SystemDefaults() {
  std::vector<kube::TopologySpreadConstraint> defaults(2);
  defaults[0].topology_key = kHostnameKey;
  defaults[0].max_skew = 3;
  defaults[1].topology_key = kZoneKey;
  defaults[1].max_skew = 5;
  for (auto& each : defaults) each.when_unsatisfiable = kScheduleAnyway;
  return defaults;
}

}  // namespace koord::scheduler
