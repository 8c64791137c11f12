#include "scheduler/config/affinity_args.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/strings.h"
#include "kube/names.h"

namespace koord::scheduler {
namespace {

using kube::ConfigField;

constexpr std::array<std::string_view, 6> kLabelOperators{"In",           "NotIn", "Exists",
                                                          "DoesNotExist", "Gt",    "Lt"};
constexpr std::array<std::string_view, 2> kFieldOperators{"In", "NotIn"};

void CheckValues(const kube::NodeSelectorRequirement& requirement, const ConfigField& at) {
  const auto& [key, op, values] = requirement;
  if ((op == "In" || op == "NotIn") && values.empty()) {
    at.Error("must have at least one value with the operator {}", op);
  } else if ((op == "Exists" || op == "DoesNotExist") && !values.empty()) {
    at.Error("must be empty with the operator {}", op);
  } else if ((op == "Gt" || op == "Lt") && (values.size() != 1 || !ParseInt(values.front()))) {
    at.Error("must be one integer with the operator {}", op);
  }
}

void CheckLabelRequirement(const kube::NodeSelectorRequirement& requirement,
                           const ConfigField& at) {
  at.Member("operator").CheckOneOf(requirement.op, kLabelOperators);
  if (const std::string wrong = kube::CheckQualifiedName(requirement.key); !wrong.empty()) {
    at.Member("key").Error("{} is no label: {}", Quote(requirement.key, 64), wrong);
  }
  CheckValues(requirement, at.Member("values"));
}

void CheckFieldRequirement(const kube::NodeSelectorRequirement& requirement,
                           const ConfigField& at) {
  at.Member("operator").CheckOneOf(requirement.op, kFieldOperators);
  if (requirement.key != "metadata.name") {
    at.Member("key").Error("{} cannot be selected by: must be metadata.name",
                           Quote(requirement.key, 64));
  }
  if (requirement.values.size() != 1) at.Member("values").Error("must be one node name");
}

void CheckTerm(const kube::NodeSelectorTerm& term, const ConfigField& at) {
  for (size_t i = 0; i < term.match_expressions.size(); ++i) {
    CheckLabelRequirement(term.match_expressions[i], at.Member("matchExpressions").Item(i));
  }
  for (size_t i = 0; i < term.match_fields.size(); ++i) {
    CheckFieldRequirement(term.match_fields[i], at.Member("matchFields").Item(i));
  }
}

void CheckConstraint(const kube::TopologySpreadConstraint& constraint, const ConfigField& at) {
  constexpr std::array<std::string_view, 2> kActions{"DoNotSchedule", "ScheduleAnyway"};
  at.Member("maxSkew").CheckAtLeast(constraint.max_skew, 1);
  if (constraint.topology_key.empty()) {
    at.Member("topologyKey").Error("must not be empty");
  } else if (const std::string wrong = kube::CheckQualifiedName(constraint.topology_key);
             !wrong.empty()) {
    at.Member("topologyKey").Error("{} is no label: {}", Quote(constraint.topology_key, 64), wrong);
  }
  at.Member("whenUnsatisfiable").CheckOneOf(constraint.when_unsatisfiable, kActions);
  if (constraint.label_selector) {
    at.Member("labelSelector").Error("must not be set: it follows from what owns each pod");
  }
}

}  // namespace

void NodeAffinityArgs::Check(const ConfigField& at) const {
  if (!added_affinity) return;
  const ConfigField affinity = at.Member("addedAffinity");
  if (added_affinity->required) {
    const ConfigField terms = affinity.Member("requiredDuringSchedulingIgnoredDuringExecution")
                                  .Member("nodeSelectorTerms");
    const auto& listed = added_affinity->required->node_selector_terms;
    for (size_t i = 0; i < listed.size(); ++i) CheckTerm(listed[i], terms.Item(i));
  }
  const ConfigField preferred = affinity.Member("preferredDuringSchedulingIgnoredDuringExecution");
  for (size_t i = 0; i < added_affinity->preferred.size(); ++i) {
    const kube::PreferredSchedulingTerm& term = added_affinity->preferred[i];
    if (term.weight == 0) continue;  // counts for nothing
    CheckTerm(term.preference, preferred.Item(i).Member("preference"));
  }
}

void InterPodAffinityArgs::Check(const ConfigField& at) const {
  at.Member("hardPodAffinityWeight").CheckRange(hard_pod_affinity_weight, 0, 100);
}

void PodTopologySpreadArgs::SetDefaults() {
  if (defaulting_type.empty()) defaulting_type = kSystem;
}

void PodTopologySpreadArgs::Check(const ConfigField& at) const {
  constexpr std::array<std::string_view, 2> kTypes{kSystem, kList};
  at.Member("defaultingType").CheckOneOf(defaulting_type, kTypes);
  if (defaulting_type == kSystem && !default_constraints.empty()) {
    at.Member("defaultingType").Error("must be List where defaultConstraints are given");
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < default_constraints.size(); ++i) {
    const kube::TopologySpreadConstraint& constraint = default_constraints[i];
    const ConfigField place = at.Member("defaultConstraints").Item(i);
    CheckConstraint(constraint, place);
    if (!seen.emplace(constraint.topology_key, constraint.when_unsatisfiable).second) {
      place.Error("repeats topologyKey {} with whenUnsatisfiable {}",
                  Quote(constraint.topology_key, 64), Quote(constraint.when_unsatisfiable, 64));
    }
  }
}

}  // namespace koord::scheduler
