// The rules of inter-pod affinity written down plainly, and the plugin compared with them on
// clusters that change at random.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scheduler/plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "scheduler/topology/testing/random_cluster.h"

namespace koord::scheduler::affinity_rules_test {
namespace {

using Terms = std::vector<kube::PodAffinityTerm>;
using WeightedTerms = std::vector<kube::WeightedPodAffinityTerm>;
using Domain = std::pair<std::string, std::string>;  // key, value

const kube::PodAffinity& AffinityOf(const kube::Pod& pod, bool anti) {
  static const kube::PodAffinity kNone;
  if (!pod.spec.affinity) return kNone;
  const auto& found = anti ? pod.spec.affinity->pod_anti_affinity : pod.spec.affinity->pod_affinity;
  return found ? *found : kNone;
}

// The cluster as lists.
struct PlainCluster {
  std::map<std::string, kube::Node> nodes;
  std::map<std::string, kube::Labels> namespaces;
  std::vector<kube::Pod> pods;  // only those whose node is there matter

  bool Matches(const kube::PodAffinityTerm& term, const kube::Pod& owner,
               const kube::Pod& pod) const {
    bool in_namespace = std::ranges::count(term.namespaces, pod.metadata.ns) > 0;
    if (term.namespaces.empty() && !term.namespace_selector) {
      in_namespace = pod.metadata.ns == owner.metadata.ns;
    }
    if (term.namespace_selector) {
      const auto labels = namespaces.find(pod.metadata.ns);
      in_namespace |= PlainlyMatches(*term.namespace_selector,
                                     labels == namespaces.end() ? kube::Labels() : labels->second);
    }
    return in_namespace && term.label_selector &&
           PlainlyMatches(*term.label_selector, pod.metadata.labels);
  }
  bool MatchesAll(const Terms& terms, const kube::Pod& owner, const kube::Pod& pod) const {
    return std::ranges::all_of(terms, [&](const auto& term) { return Matches(term, owner, pod); });
  }
  // The domain of a pod's or another node under a key; nothing if there is none.
  std::optional<Domain> DomainOf(const std::string& node, const std::string& key) const {
    const auto found = nodes.find(node);
    if (found == nodes.end() || !found->second.metadata.labels.contains(key)) return {};
    return Domain{key, found->second.metadata.labels.at(key)};
  }
};

std::string PlainFilter(const PlainCluster& cluster, const kube::Pod& pod,
                        const std::string& node) {
  std::map<Domain, int> existing;
  std::map<Domain, int> wanted;
  std::map<Domain, int> unwanted;
  const Terms& required = AffinityOf(pod, false).required;
  const Terms& forbidden = AffinityOf(pod, true).required;
  for (const kube::Pod& other : cluster.pods) {
    const auto count = [&](std::map<Domain, int>& counts, const kube::PodAffinityTerm& term) {
      if (const auto at = cluster.DomainOf(other.spec.node_name, term.topology_key)) ++counts[*at];
    };
    for (const auto& term : AffinityOf(other, true).required) {
      if (cluster.Matches(term, other, pod)) count(existing, term);
    }
    if (!required.empty() && cluster.MatchesAll(required, pod, other)) {
      for (const auto& term : required) count(wanted, term);
    }
    for (const auto& term : forbidden) {
      if (cluster.Matches(term, pod, other)) count(unwanted, term);
    }
  }
  const auto has = [&](const std::map<Domain, int>& counts, const std::string& key) {
    const auto at = cluster.DomainOf(node, key);
    return at && counts.contains(*at);
  };
  bool has_keys = true;
  bool has_all = true;
  for (const auto& term : required) {
    has_keys &= cluster.DomainOf(node, term.topology_key).has_value();
    has_all &= has(wanted, term.topology_key);
  }
  const bool first = wanted.empty() && cluster.MatchesAll(required, pod, pod);
  if (!has_keys || !(has_all || first)) {
    return "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
  }
  for (const auto& term : forbidden) {
    if (has(unwanted, term.topology_key)) {
      return "Unschedulable: node(s) didn't match pod anti-affinity rules";
    }
  }
  for (const auto& [key, value] : cluster.nodes.at(node).metadata.labels) {
    if (existing.contains({key, value})) {
      return "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";
    }
  }
  return "";
}

// Before anybody is added or removed, the rules have something to say of a pod if it has required
// terms, or if a required anti-affinity of a pod on a node with the term's key means it. Of all
// others nobody asks them, whoever is promised a node.
bool HasSay(const PlainCluster& cluster, const kube::Pod& pod) {
  if (!AffinityOf(pod, false).required.empty() || !AffinityOf(pod, true).required.empty()) {
    return true;
  }
  return std::ranges::any_of(cluster.pods, [&](const kube::Pod& other) {
    return std::ranges::any_of(AffinityOf(other, true).required, [&](const auto& term) {
      return cluster.Matches(term, other, pod) &&
             cluster.DomainOf(other.spec.node_name, term.topology_key);
    });
  });
}

// Raw scores by node; nothing if the plugin has none to give.
std::optional<std::map<std::string, int64_t>> PlainScores(const PlainCluster& cluster,
                                                          const kube::Pod& pod,
                                                          const InterPodAffinityArgs& args) {
  std::map<Domain, int64_t> sums;
  const bool prefers =
      !AffinityOf(pod, false).preferred.empty() || !AffinityOf(pod, true).preferred.empty();
  if (args.ignore_preferred_terms_of_existing_pods && !prefers) return {};
  for (const kube::Pod& other : cluster.pods) {
    const auto add = [&](const kube::PodAffinityTerm& term, int64_t weight) {
      if (const auto at = cluster.DomainOf(other.spec.node_name, term.topology_key)) {
        sums[*at] += weight;
      }
    };
    for (const bool anti : {false, true}) {
      const int64_t sign = anti ? -1 : 1;
      for (const auto& each : AffinityOf(pod, anti).preferred) {
        if (cluster.Matches(each.pod_affinity_term, pod, other)) {
          add(each.pod_affinity_term, sign * each.weight);
        }
      }
      for (const auto& each : AffinityOf(other, anti).preferred) {
        if (cluster.Matches(each.pod_affinity_term, other, pod)) {
          add(each.pod_affinity_term, sign * each.weight);
        }
      }
    }
    if (args.hard_pod_affinity_weight == 0) continue;
    for (const auto& term : AffinityOf(other, false).required) {
      if (cluster.Matches(term, other, pod)) add(term, args.hard_pod_affinity_weight);
    }
  }
  if (sums.empty()) return {};
  std::map<std::string, int64_t> raw;
  for (const auto& [name, node] : cluster.nodes) {
    for (const auto& [key, value] : node.metadata.labels) {
      const auto found = sums.find({key, value});
      raw[name] += found == sums.end() ? 0 : found->second;
    }
  }
  return raw;
}

kube::PodAffinityTerm RandomTerm(Random& random) {
  kube::PodAffinityTerm term;
  if (random.Chance(0.95)) term.label_selector = RandomSelector(random);
  term.topology_key = RandomTopologyKey(random);
  if (random.Chance(0.2)) term.namespaces = {"two"};
  if (random.Chance(0.2)) {
    term.namespace_selector.emplace();
    if (random.Chance(0.7)) term.namespace_selector->match_labels["team"] = "red";
  }
  return term;
}

void AddTerms(kube::Pod& pod, Random& random) {
  if (random.Chance(0.4)) return;
  kube::Affinity affinity;
  for (const bool anti : {false, true}) {
    kube::PodAffinity terms;
    while (random.Chance(anti ? 0.15 : 0.3)) terms.required.push_back(RandomTerm(random));
    while (random.Chance(0.3)) {
      terms.preferred.push_back({static_cast<int32_t>(random.Below(100)), RandomTerm(random)});
    }
    if (random.Chance(0.5)) (anti ? affinity.pod_anti_affinity : affinity.pod_affinity) = terms;
  }
  pod.spec.affinity = affinity;
}

class AffinityRules : public testing::TestWithParam<int> {
 protected:
  // A pod that is asked about again and again, and what was said last.
  struct Asked {
    kube::Pod pod;
    std::unique_ptr<PodQuery> query;
    VersionWatch watch = {};
    std::vector<int64_t> raw = {};
  };

  PlainCluster Plain() const {
    return {cluster_.nodes(), cluster_.namespaces(), cluster_.PodList()};
  }

  void CheckRows(Asked& asked) {
    const PlainCluster plain = Plain();
    for (const auto& [name, node] : plain.nodes) {
      ASSERT_EQ(bed_.Check(plugin_, *asked.query, name), PlainFilter(plain, asked.pod, name))
          << name;
    }
    CheckWithDelta(asked);
    CheckScores(asked, plain);
    CheckVersion(asked);
  }

  void CheckWithDelta(Asked& asked) {
    if (cluster_.nodes().empty()) return;
    const RandomCluster::WhatIf what = cluster_.AnyWhatIf();
    const PlainCluster plain{cluster_.nodes(), cluster_.namespaces(), what.pods};
    ASSERT_EQ(bed_.Check(plugin_, *asked.query, what.node, &what.delta),
              HasSay(Plain(), asked.pod) ? PlainFilter(plain, asked.pod, what.node) : "");
  }

  void CheckScores(Asked& asked, const PlainCluster& plain) {
    const auto expected = PlainScores(plain, asked.pod, args_);
    const std::vector<int64_t> raw = bed_.RawScores(plugin_, *asked.query);
    const std::vector<int64_t> scores = bed_.Scores(plugin_, *asked.query);
    ASSERT_EQ(raw.empty(), !expected || plain.nodes.empty());
    if (raw.empty()) return;
    int64_t least = expected->begin()->second;
    int64_t most = least;
    for (const auto& [name, score] : *expected) {
      least = std::min(least, score);
      most = std::max(most, score);
    }
    const NodeTable& nodes = bed_.ledger.nodes();
    size_t i = 0;
    for (NodeRow row{0}; row < nodes.rows(); ++row) {
      if (!nodes.IsLive(row)) continue;
      const int64_t score = expected->at(nodes.name(row));
      ASSERT_EQ(raw[i], score) << nodes.name(row);
      const double share =
          most == least ? 0
                        : static_cast<double>(score - least) / static_cast<double>(most - least);
      ASSERT_EQ(scores[i], static_cast<int64_t>(std::floor(100 * share))) << nodes.name(row);
      ++i;
    }
  }

  void CheckVersion(Asked& asked) {
    asked.watch.Check(plugin_, *asked.query);
    const std::vector<int64_t> raw = bed_.RawScores(plugin_, *asked.query);
    ASSERT_TRUE(asked.watch.version() != 0 || raw.empty());
    ASSERT_TRUE(!asked.watch.same() || asked.raw == raw);
    asked.raw = raw;
  }

  PluginBed bed_;
  RandomCluster cluster_{bed_, static_cast<uint64_t>(GetParam()), AddTerms};
  InterPodAffinityArgs args_{.hard_pod_affinity_weight = GetParam() % 4 == 0 ? 0 : 5,
                             .ignore_preferred_terms_of_existing_pods = GetParam() % 3 == 0};
  InterPodAffinity plugin_{bed_.context, args_};
};

TEST_P(AffinityRules, HoldWhateverHappens) {
  std::vector<Asked> asked;
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < 3; ++i) cluster_.Step();
    if (asked.size() < 4) {
      const kube::Pod pod = cluster_.NewPod();
      asked.push_back({pod, QueryFor(bed_, plugin_, pod)});
    }
    for (Asked& each : asked) {
      CheckRows(each);
      if (HasFatalFailure()) FAIL() << "seed " << GetParam() << " step " << step;
    }
    if (cluster_.random().Chance(0.1)) asked.erase(asked.begin());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AffinityRules, testing::Range(0, 40));

}  // namespace
}  // namespace koord::scheduler::affinity_rules_test
