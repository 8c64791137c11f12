// The rules of topology spreading written down plainly, and the plugin compared with them on
// clusters that change at random.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "scheduler/plugins/pod_topology_spread/pod_topology_spread.h"
#include "scheduler/topology/testing/random_cluster.h"

namespace koord::scheduler::spread_rules_test {
namespace {

using Constraint = kube::TopologySpreadConstraint;

// The cluster as lists.
struct PlainCluster {
  std::map<std::string, kube::Node> nodes;
  std::vector<kube::Pod> pods;
};

std::vector<Constraint> Of(const std::vector<Constraint>& all, std::string_view when) {
  std::vector<Constraint> some;
  for (const Constraint& each : all) {
    if (each.when_unsatisfiable == when) some.push_back(each);
  }
  return some;
}

bool IsEligible(const Constraint& constraint, const kube::Pod& pod, const kube::Node& node) {
  if (constraint.node_affinity_policy != "Ignore" &&
      !kube::MatchesNode(pod.spec, node.metadata.name, node.metadata.labels)) {
    return false;
  }
  return constraint.node_taints_policy != "Honor" ||
         kube::FindUntolerated(node.spec.taints, pod.spec.tolerations) == nullptr;
}

bool HasAllKeys(const std::vector<Constraint>& constraints, const kube::Node& node) {
  return std::ranges::all_of(constraints, [&](const Constraint& each) {
    return node.metadata.labels.contains(each.topology_key);
  });
}

kube::LabelSelector SelectorOf(const Constraint& constraint, const kube::Pod& pod) {
  kube::LabelSelector selector = *constraint.label_selector;
  for (const std::string& key : constraint.match_label_keys) {
    if (!pod.metadata.labels.contains(key)) continue;
    selector.match_expressions.push_back({key, "In", {pod.metadata.labels.at(key)}});
  }
  return selector;
}

bool IsEmpty(const kube::LabelSelector& selector) {
  return selector.match_labels.empty() && selector.match_expressions.empty();
}

int64_t CountOn(const PlainCluster& cluster, const std::string& node, const Constraint& constraint,
                const kube::Pod& pod) {
  if (!constraint.label_selector) return 0;
  const kube::LabelSelector selector = SelectorOf(constraint, pod);
  if (IsEmpty(selector)) return 0;
  return std::ranges::count_if(cluster.pods, [&](const kube::Pod& other) {
    return other.spec.node_name == node && other.metadata.ns == pod.metadata.ns &&
           !other.metadata.deletion_timestamp && PlainlyMatches(selector, other.metadata.labels);
  });
}

std::string PlainFilter(const PlainCluster& cluster, const std::vector<Constraint>& all,
                        const kube::Pod& pod, const std::string& name) {
  const std::vector<Constraint> constraints = Of(all, "DoNotSchedule");
  const kube::Labels& labels = cluster.nodes.at(name).metadata.labels;
  for (const Constraint& each : constraints) {
    if (!labels.contains(each.topology_key)) {
      return "UnschedulableAndUnresolvable: node(s) didn't match pod topology spread constraints "
             "(missing required label)";
    }
    std::map<std::string, int64_t> counts;
    for (const auto& [other, node] : cluster.nodes) {
      if (!HasAllKeys(constraints, node) || !IsEligible(each, pod, node)) continue;
      counts[node.metadata.labels.at(each.topology_key)] += CountOn(cluster, other, each, pod);
    }
    int64_t least = counts.empty() ? 0 : counts.begin()->second;
    for (const auto& [value, count] : counts) least = std::min(least, count);
    if (static_cast<int64_t>(counts.size()) < each.min_domains.value_or(1)) least = 0;
    const bool itself =
        each.label_selector && PlainlyMatches(SelectorOf(each, pod), pod.metadata.labels);
    const auto found = counts.find(labels.at(each.topology_key));
    const int64_t count = found == counts.end() ? 0 : found->second;
    if (count + (itself ? 1 : 0) - least > each.max_skew) {
      return "Unschedulable: node(s) didn't match pod topology spread constraints";
    }
  }
  return "";
}

// Raw scores of the feasible nodes, nothing for those that are ignored.
std::map<std::string, std::optional<int64_t>> PlainScores(const PlainCluster& cluster,
                                                          const std::vector<Constraint>& all,
                                                          bool system_defaults,
                                                          const kube::Pod& pod,
                                                          const std::set<std::string>& feasible) {
  const std::vector<Constraint> constraints = Of(all, "ScheduleAnyway");
  std::map<std::string, std::optional<int64_t>> scores;
  std::vector<std::string> taking_part;
  for (const std::string& name : feasible) {
    scores[name] = std::nullopt;
    if (system_defaults || HasAllKeys(constraints, cluster.nodes.at(name))) {
      taking_part.push_back(name);
    }
  }
  std::vector<double> weights;
  for (const Constraint& each : constraints) {
    std::set<std::string> values;
    for (const std::string& name : taking_part) {
      const kube::Labels& labels = cluster.nodes.at(name).metadata.labels;
      values.insert(labels.contains(each.topology_key) ? labels.at(each.topology_key) : "");
    }
    const size_t size =
        each.topology_key == "kubernetes.io/hostname" ? taking_part.size() : values.size();
    weights.push_back(std::log(static_cast<double>(size + 2)));
  }
  for (const std::string& name : taking_part) {
    const kube::Labels& labels = cluster.nodes.at(name).metadata.labels;
    double sum = 0;
    for (size_t i = 0; i < constraints.size(); ++i) {
      const Constraint& each = constraints[i];
      if (!labels.contains(each.topology_key)) continue;
      int64_t count = 0;
      if (each.topology_key == "kubernetes.io/hostname") {
        count = CountOn(cluster, name, each, pod);
      } else {
        for (const auto& [other, node] : cluster.nodes) {
          if (!IsEligible(each, pod, node)) continue;
          if (!system_defaults && !HasAllKeys(constraints, node)) continue;
          const kube::Labels& other_labels = node.metadata.labels;
          if (other_labels.contains(each.topology_key) &&
              other_labels.at(each.topology_key) == labels.at(each.topology_key)) {
            count += CountOn(cluster, other, each, pod);
          }
        }
      }
      sum += static_cast<double>(count) * weights[i] + static_cast<double>(each.max_skew - 1);
    }
    scores[name] = static_cast<int64_t>(std::round(sum));
  }
  return scores;
}

Constraint RandomConstraint(Random& random) {
  Constraint constraint;
  constraint.max_skew = 1 + static_cast<int32_t>(random.Below(3));
  constraint.topology_key = RandomTopologyKey(random);
  constraint.when_unsatisfiable = random.Chance(0.5) ? "DoNotSchedule" : "ScheduleAnyway";
  if (random.Chance(0.95)) constraint.label_selector = RandomSelector(random);
  if (random.Chance(0.2)) constraint.min_domains = 1 + static_cast<int32_t>(random.Below(4));
  if (random.Chance(0.2)) constraint.node_affinity_policy = "Ignore";
  if (random.Chance(0.4)) constraint.node_taints_policy = "Honor";
  if (random.Chance(0.2)) constraint.match_label_keys = {"tier", "absent"};
  return constraint;
}

kube::NodeSelectorRequirement RandomRequirement(Random& random) {
  constexpr std::array<std::string_view, 6> kOperators = {"In",           "NotIn", "Exists",
                                                          "DoesNotExist", "Gt",    "Lt"};
  kube::NodeSelectorRequirement requirement{
      .key = "disk", .op = std::string(kOperators[random.Below(6)]), .values = {}};
  if (requirement.op == "In" || requirement.op == "NotIn") requirement.values = {"ssd", "gone"};
  if (requirement.op == "Gt" || requirement.op == "Lt") requirement.values = {"5"};
  return requirement;
}

void AddConstraints(kube::Pod& pod, Random& random) {
  if (random.Chance(0.6)) return;
  while (random.Chance(0.6)) {
    pod.spec.topology_spread_constraints.Mutable().push_back(RandomConstraint(random));
  }
  if (random.Chance(0.2)) pod.spec.node_selector.Mutable()["disk"] = "ssd";
  if (random.Chance(0.3)) {
    kube::NodeSelector selector;
    while (random.Chance(0.6)) {
      kube::NodeSelectorTerm& term = selector.node_selector_terms.emplace_back();
      while (random.Chance(0.5)) term.match_expressions.push_back(RandomRequirement(random));
      if (random.Chance(0.2)) {
        term.match_fields.push_back(
            {"metadata.name", random.Chance(0.5) ? "In" : "NotIn", {"n1", "n2"}});
      }
    }
    pod.spec.affinity.emplace().node_affinity.emplace().required = selector;
  }
  if (random.Chance(0.3)) {
    pod.spec.tolerations.Mutable().push_back(
        {.key = "taint", .op = "Equal", .value = "x", .effect = ""});
  }
}

// A pod that is asked about again and again, and what was said last.
struct Asked {
  kube::Pod pod;
  std::unique_ptr<PodQuery> query;
  VersionWatch watch = {};
};

class SpreadRules : public testing::TestWithParam<int> {
 protected:
  SpreadRules() {
    kube::Service service;
    service.metadata.ns = "one";
    service.metadata.name = "a";
    service.spec.selector["app"] = "a";
    bed_.objects.services.Set(std::make_shared<const kube::Service>(service));
  }

  PlainCluster Plain() const { return {cluster_.nodes(), cluster_.PodList()}; }

  static PodTopologySpreadArgs Args() {
    PodTopologySpreadArgs args;
    if (!has_list_defaults()) return args;
    args.defaulting_type = "List";
    args.default_constraints = ListDefaults();
    return args;
  }
  static bool has_list_defaults() { return GetParam() % 2 == 0; }
  static std::vector<Constraint> ListDefaults() {
    std::vector<Constraint> defaults(2);
    defaults[0].max_skew = 1;
    defaults[0].topology_key = "zone";
    defaults[0].when_unsatisfiable = "DoNotSchedule";
    defaults[1].max_skew = 2;
    defaults[1].topology_key = "rack";
    defaults[1].when_unsatisfiable = "ScheduleAnyway";
    return defaults;
  }

  // The pod's own, or those that follow from the service that selects it, if one does.
  static std::vector<Constraint> ConstraintsOf(const kube::Pod& pod) {
    if (!pod.spec.topology_spread_constraints.empty()) return pod.spec.topology_spread_constraints;
    if (pod.metadata.ns != "one" || kube::ValueOf(pod.metadata.labels, "app") != "a") return {};
    std::vector<Constraint> constraints = ListDefaults();
    if (!has_list_defaults()) {
      constraints[0].max_skew = 3;
      constraints[0].topology_key = "kubernetes.io/hostname";
      constraints[1].max_skew = 5;
      constraints[1].topology_key = "topology.kubernetes.io/zone";
      for (Constraint& each : constraints) each.when_unsatisfiable = "ScheduleAnyway";
    }
    for (Constraint& each : constraints) each.label_selector.emplace().match_labels["app"] = "a";
    return constraints;
  }

  void CheckAll(Asked& asked) {
    const PlainCluster plain = Plain();
    const std::vector<Constraint> constraints = ConstraintsOf(asked.pod);
    for (const auto& [name, node] : plain.nodes) {
      ASSERT_EQ(bed_.Check(plugin_, *asked.query, name),
                PlainFilter(plain, constraints, asked.pod, name))
          << name;
    }
    CheckWithDelta(asked);
    CheckScores(asked, plain);
    asked.watch.Check(plugin_, *asked.query);
  }

  void CheckWithDelta(Asked& asked) {
    if (cluster_.nodes().empty()) return;
    const RandomCluster::WhatIf what = cluster_.AnyWhatIf();
    const PlainCluster plain{cluster_.nodes(), what.pods};
    ASSERT_EQ(bed_.Check(plugin_, *asked.query, what.node, &what.delta),
              PlainFilter(plain, ConstraintsOf(asked.pod), asked.pod, what.node));
  }

  void CheckScores(Asked& asked, const PlainCluster& plain) {
    const std::vector<Constraint> constraints = ConstraintsOf(asked.pod);
    const NodeTable& nodes = bed_.ledger.nodes();
    std::vector<uint8_t> feasible(nodes.rows(), 0);
    std::set<std::string> names;
    for (NodeRow row{0}; row < nodes.rows(); ++row) {
      if (!nodes.IsLive(row) || cluster_.random().Chance(0.3)) continue;
      feasible[row] = 1;
      names.insert(nodes.name(row));
    }
    const Verdict verdict = plugin_.PreScore(*asked.query, feasible);
    if (Of(constraints, "ScheduleAnyway").empty()) {
      ASSERT_EQ(verdict.code, Code::kSkip);
      return;
    }
    ASSERT_TRUE(verdict.ok());
    const bool system = asked.pod.spec.topology_spread_constraints.empty() && !has_list_defaults();
    const auto expected = PlainScores(plain, constraints, system, asked.pod, names);
    std::vector<int64_t> scores(nodes.rows());
    plugin_.Score(*asked.query, nodes.all(), scores.data());
    std::optional<ScoreRange> range;
    for (const auto& [name, score] : expected) {
      ASSERT_EQ(scores[*nodes.Find(name)], score.value_or(kIgnoredRow)) << name;
      if (!score) continue;
      if (!range) range = ScoreRange{*score, *score};
      range = ScoreRange{std::min(range->min, *score), std::max(range->max, *score)};
    }
    const ScoreRange found = range.value_or(ScoreRange{});
    plugin_.Normalize(*asked.query, found, scores);
    for (const auto& [name, score] : expected) {
      int64_t normalized = 0;
      if (score) {
        normalized = found.max == 0 ? 100 : 100 * (found.max + found.min - *score) / found.max;
      }
      ASSERT_EQ(scores[*nodes.Find(name)], normalized) << name;
    }
  }

  PluginBed bed_;
  RandomCluster cluster_{bed_, static_cast<uint64_t>(GetParam()), AddConstraints};
  PodTopologySpread plugin_{bed_.context, Args()};
};

TEST_P(SpreadRules, HoldWhateverHappens) {
  std::vector<Asked> asked;
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < 3; ++i) cluster_.Step();
    if (asked.size() < 4) {
      const kube::Pod pod = cluster_.NewPod();
      asked.push_back({pod, QueryFor(bed_, plugin_, pod)});
    }
    for (Asked& each : asked) {
      CheckAll(each);
      if (HasFatalFailure()) FAIL() << "seed " << GetParam() << " step " << step;
    }
    if (cluster_.random().Chance(0.1)) asked.erase(asked.begin());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SpreadRules, testing::Range(0, 40));

}  // namespace
}  // namespace koord::scheduler::spread_rules_test
