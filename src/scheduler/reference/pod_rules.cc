// Rules about which pods are together in a topology domain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kube/selectors.h"
#include "scheduler/reference/matching.h"
#include "scheduler/reference/rule.h"

namespace koord::scheduler::reference {
namespace {

using Terms = std::vector<kube::PodAffinityTerm>;
using Domain = std::pair<std::string, std::string>;  // key, value

constexpr std::string_view kHostnameKey = "kubernetes.io/hostname";

const kube::PodAffinity& AffinityOf(const PlainPod& pod, bool anti) {
  static const kube::PodAffinity kNone;
  if (!pod.spec().affinity) return kNone;
  const auto& terms =
      anti ? pod.spec().affinity->pod_anti_affinity : pod.spec().affinity->pod_affinity;
  return terms ? *terms : kNone;
}

class InterPodAffinity final : public Rule {
 public:
  explicit InterPodAffinity(InterPodAffinityArgs args) : args_(args) {}

  PreFilterAnswer PreFilter(const View& view, const PlainPod& pod) const override {
    if (const auto error = SelectorError(pod)) {
      return {Verdict::Unresolvable(fmt::format("parsing pod: {}", *error))};
    }
    const bool asks =
        !AffinityOf(pod, false).required.empty() || !AffinityOf(pod, true).required.empty();
    if (!asks && Count(view, pod).existing.empty()) return {Verdict::Skip()};
    return {};
  }

  std::vector<Verdict> Filter(const View& view, const PlainPod& pod,
                              const Nodes& nodes) const override {
    const Counts counts = Count(view, pod);
    std::vector<Verdict> verdicts;
    for (const PlainNode* node : nodes) verdicts.push_back(Judge(view, counts, pod, *node));
    return verdicts;
  }

  ScoreAnswer Score(const View& view, const PlainPod& pod, const Nodes& nodes) const override {
    const bool prefers =
        !AffinityOf(pod, false).preferred.empty() || !AffinityOf(pod, true).preferred.empty();
    if (args_.ignore_preferred_terms_of_existing_pods && !prefers) return {Verdict::Skip()};
    std::map<Domain, int64_t> sums;
    for (const auto& [name, node] : view.cluster.nodes) {
      for (const PlainPod* other : view.PodsOn(node)) AddScores(view, pod, *other, node, sums);
    }
    if (sums.empty()) return {Verdict::Skip()};
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) {
      int64_t sum = 0;
      for (const auto& [domain, amount] : sums) {
        if (kube::FindValue(node->labels(), domain.first) != nullptr &&
            kube::ValueOf(node->labels(), domain.first) == domain.second) {
          sum += amount;
        }
      }
      scores.push_back(sum);
    }
    const int64_t least = std::ranges::min(scores);
    const int64_t most = std::ranges::max(scores);
    for (int64_t& score : scores) {
      score = most == least
                  ? 0
                  : static_cast<int64_t>(std::floor(100 * (static_cast<double>(score - least) /
                                                           static_cast<double>(most - least))));
    }
    return {{}, scores};
  }

 private:
  struct Counts {
    std::map<Domain, int> existing;  // anti-affinity of pods that are there
    std::map<Domain, int> wanted;
    std::map<Domain, int> unwanted;
  };

  static std::optional<std::string> SelectorError(const PlainPod& pod) {
    for (const bool anti : {false, true}) {
      for (const kube::PodAffinityTerm& term : AffinityOf(pod, anti).required) {
        for (const auto* selector : {&term.label_selector, &term.namespace_selector}) {
          if (!*selector) continue;
          const auto matcher = kube::LabelMatcher::From(**selector);
          if (!matcher.ok()) return std::string(Message(matcher.status()));
        }
      }
    }
    return {};
  }

  static bool TermMatches(const View& view, const kube::PodAffinityTerm& term,
                          const PlainPod& owner, const PlainPod& pod) {
    const std::string& ns = pod.meta().ns;
    bool in_namespace = std::ranges::count(term.namespaces, ns) > 0;
    if (term.namespaces.empty() && !term.namespace_selector) in_namespace = ns == owner.meta().ns;
    if (term.namespace_selector && !in_namespace) {
      const kube::Namespace* object = view.cluster.objects.namespaces.Find(ns);
      in_namespace =
          Matches(*term.namespace_selector,
                  object == nullptr ? kube::Shared<kube::Labels>() : object->metadata.labels);
    }
    return in_namespace && term.label_selector && Matches(*term.label_selector, pod.meta().labels);
  }

  static bool AllMatch(const View& view, const Terms& terms, const PlainPod& owner,
                       const PlainPod& pod) {
    return std::ranges::all_of(
        terms, [&](const auto& term) { return TermMatches(view, term, owner, pod); });
  }

  template <class Number>
  static void AddAt(std::map<Domain, Number>& sums, const PlainNode& node, const std::string& key,
                    Number amount) {
    if (const std::string* value = kube::FindValue(node.labels(), key)) {
      sums[{key, *value}] += amount;
    }
  }

  static Counts Count(const View& view, const PlainPod& pod) {
    Counts counts;
    const Terms& required = AffinityOf(pod, false).required;
    const Terms& forbidden = AffinityOf(pod, true).required;
    for (const auto& [name, node] : view.cluster.nodes) {
      for (const PlainPod* other : view.PodsOn(node)) {
        for (const kube::PodAffinityTerm& term : AffinityOf(*other, true).required) {
          if (TermMatches(view, term, *other, pod)) {
            AddAt(counts.existing, node, term.topology_key, 1);
          }
        }
        if (!required.empty() && AllMatch(view, required, pod, *other)) {
          for (const auto& term : required) AddAt(counts.wanted, node, term.topology_key, 1);
        }
        for (const kube::PodAffinityTerm& term : forbidden) {
          if (TermMatches(view, term, pod, *other)) {
            AddAt(counts.unwanted, node, term.topology_key, 1);
          }
        }
      }
    }
    return counts;
  }

  static Verdict Judge(const View& view, const Counts& counts, const PlainPod& pod,
                       const PlainNode& node) {
    const auto counted = [&](const std::map<Domain, int>& in, const std::string& key) {
      const std::string* value = kube::FindValue(node.labels(), key);
      return value != nullptr && in.contains({key, *value});
    };
    const Terms& required = AffinityOf(pod, false).required;
    bool has_keys = true;
    bool has_pods = true;
    for (const kube::PodAffinityTerm& term : required) {
      has_keys = has_keys && kube::FindValue(node.labels(), term.topology_key) != nullptr;
      has_pods = has_pods && counted(counts.wanted, term.topology_key);
    }
    const bool first_of_its_kind = counts.wanted.empty() && AllMatch(view, required, pod, pod);
    if (!has_keys || !(has_pods || first_of_its_kind)) {
      return Verdict::Unresolvable("node(s) didn't match pod affinity rules");
    }
    for (const kube::PodAffinityTerm& term : AffinityOf(pod, true).required) {
      if (counted(counts.unwanted, term.topology_key)) {
        return Verdict::Unschedulable("node(s) didn't match pod anti-affinity rules");
      }
    }
    for (const auto& [key, value] : node.labels()) {
      if (counts.existing.contains({key, value})) {
        return Verdict::Unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");
      }
    }
    return {};
  }

  void AddScores(const View& view, const PlainPod& pod, const PlainPod& other,
                 const PlainNode& node, std::map<Domain, int64_t>& sums) const {
    for (const bool anti : {false, true}) {
      const int64_t sign = anti ? -1 : 1;
      for (const kube::WeightedPodAffinityTerm& each : AffinityOf(pod, anti).preferred) {
        const kube::PodAffinityTerm& term = each.pod_affinity_term;
        if (TermMatches(view, term, pod, other)) {
          AddAt(sums, node, term.topology_key, sign * each.weight);
        }
      }
      for (const kube::WeightedPodAffinityTerm& each : AffinityOf(other, anti).preferred) {
        const kube::PodAffinityTerm& term = each.pod_affinity_term;
        if (TermMatches(view, term, other, pod)) {
          AddAt(sums, node, term.topology_key, sign * each.weight);
        }
      }
    }
    for (const kube::PodAffinityTerm& term : AffinityOf(other, false).required) {
      if (TermMatches(view, term, other, pod)) {
        AddAt(sums, node, term.topology_key, int64_t{args_.hard_pod_affinity_weight});
      }
    }
  }

  const InterPodAffinityArgs args_;
};

class PodTopologySpread final : public Rule {
 public:
  explicit PodTopologySpread(PodTopologySpreadArgs args) : args_(std::move(args)) {}

  PreFilterAnswer PreFilter(const View& view, const PlainPod& pod) const override {
    return {Some(view, pod, "DoNotSchedule").empty() ? Verdict::Skip() : Verdict::Success()};
  }

  std::vector<Verdict> Filter(const View& view, const PlainPod& pod,
                              const Nodes& nodes) const override {
    const std::vector<Constraint> constraints = Some(view, pod, "DoNotSchedule");
    std::vector<std::map<std::string, int64_t>> counts(constraints.size());
    for (const auto& [name, node] : view.cluster.nodes) {
      if (!HasAllKeys(constraints, node)) continue;
      for (size_t i = 0; i < constraints.size(); ++i) {
        if (!IsEligible(constraints[i], pod, node)) continue;
        counts[i][node.labels().at(constraints[i].topology_key)] +=
            CountOn(view, node, constraints[i], pod);
      }
    }
    std::vector<Verdict> verdicts;
    for (const PlainNode* node : nodes) verdicts.push_back(Judge(constraints, counts, pod, *node));
    return verdicts;
  }

  ScoreAnswer Score(const View& view, const PlainPod& pod, const Nodes& nodes) const override {
    const std::vector<Constraint> constraints = Some(view, pod, "ScheduleAnyway");
    if (constraints.empty()) return {Verdict::Skip()};
    const bool any_node = pod.spec().topology_spread_constraints.empty() && IsSystem();
    Nodes scored;
    for (const PlainNode* node : nodes) {
      if (any_node || HasAllKeys(constraints, *node)) scored.push_back(node);
    }
    std::map<std::string, int64_t> raw;
    for (const PlainNode* node : scored) {
      double sum = 0;
      for (const Constraint& each : constraints) {
        if (!node->labels().contains(each.topology_key)) continue;
        const int64_t count = CountAround(view, *node, each, constraints, any_node, pod);
        sum += static_cast<double>(count) * WeightOf(each, scored) +
               static_cast<double>(each.max_skew - 1);
      }
      raw[node->name()] = static_cast<int64_t>(std::round(sum));
    }
    return {{}, Normalized(nodes, raw)};
  }

 private:
  using Constraint = kube::TopologySpreadConstraint;

  bool IsSystem() const { return args_.defaulting_type != "List"; }

  std::vector<Constraint> Some(const View& view, const PlainPod& pod, std::string_view when) const {
    std::vector<Constraint> all = pod.spec().topology_spread_constraints;
    if (all.empty()) all = Defaults(view, pod);
    std::erase_if(all, [&](const Constraint& each) { return each.when_unsatisfiable != when; });
    return all;
  }

  std::vector<Constraint> Defaults(const View& view, const PlainPod& pod) const {
    std::vector<Constraint> defaults = args_.default_constraints;
    if (IsSystem()) {
      defaults.resize(2);
      defaults[0].topology_key = kHostnameKey;
      defaults[0].max_skew = 3;
      defaults[1].topology_key = "topology.kubernetes.io/zone";
      defaults[1].max_skew = 5;
      for (Constraint& each : defaults) each.when_unsatisfiable = "ScheduleAnyway";
    }
    const kube::LabelSelector selector = OwnersSelector(view, pod);
    if (selector.match_labels.empty() && selector.match_expressions.empty()) return {};
    for (Constraint& each : defaults) each.label_selector = selector;
    return defaults;
  }

  static void Merge(kube::LabelSelector& into, const kube::LabelSelector& more) {
    for (const auto& [key, value] : more.match_labels) {
      into.match_expressions.push_back({key, "In", {value}});
    }
    into.match_expressions.insert(into.match_expressions.end(), more.match_expressions.begin(),
                                  more.match_expressions.end());
  }

  // What the services and the controller of a pod select.
  static kube::LabelSelector OwnersSelector(const View& view, const PlainPod& pod) {
    const ClusterObjects& objects = view.cluster.objects;
    kube::LabelSelector all;
    for (const auto& [key, service] : objects.services.objects()) {
      const kube::Labels& selector = service->spec.selector;
      if (key.ns != pod.meta().ns || selector.empty()) continue;
      if (Matches({selector, {}}, pod.meta().labels)) Merge(all, {selector, {}});
    }
    const kube::OwnerReference* owner = ControllerOf(pod.meta());
    if (owner == nullptr) return all;
    const kube::ObjectKey key{pod.meta().ns, owner->name};
    if (owner->kind == "ReplicationController" && owner->api_version == "v1") {
      const auto* found = objects.replication_controllers.Find(key);
      if (found != nullptr) Merge(all, {found->spec.selector, {}});
    } else if (owner->kind == "ReplicaSet" && owner->api_version == "apps/v1") {
      const auto* found = objects.replica_sets.Find(key);
      if (found != nullptr && found->spec.selector) Merge(all, *found->spec.selector);
    } else if (owner->kind == "StatefulSet" && owner->api_version == "apps/v1") {
      const auto* found = objects.stateful_sets.Find(key);
      if (found != nullptr && found->spec.selector) Merge(all, *found->spec.selector);
    }
    return all;
  }

  static bool HasAllKeys(const std::vector<Constraint>& constraints, const PlainNode& node) {
    return std::ranges::all_of(constraints, [&](const Constraint& each) {
      return node.labels().contains(each.topology_key);
    });
  }

  static bool IsEligible(const Constraint& constraint, const PlainPod& pod, const PlainNode& node) {
    if (constraint.node_affinity_policy != "Ignore" && !MatchesRequiredNodes(pod, node)) {
      return false;
    }
    return constraint.node_taints_policy != "Honor" || !HasUntoleratedTaint(pod, node);
  }

  static std::optional<kube::LabelSelector> SelectorOf(const Constraint& constraint,
                                                       const PlainPod& pod) {
    std::optional<kube::LabelSelector> selector = constraint.label_selector;
    if (!selector) return {};
    for (const std::string& key : constraint.match_label_keys) {
      if (const std::string* value = kube::FindValue(pod.meta().labels, key)) {
        selector->match_expressions.push_back({key, "In", {*value}});
      }
    }
    return selector;
  }

  static int64_t CountOn(const View& view, const PlainNode& node, const Constraint& constraint,
                         const PlainPod& pod) {
    const auto selector = SelectorOf(constraint, pod);
    if (!selector || (selector->match_labels.empty() && selector->match_expressions.empty())) {
      return 0;
    }
    return std::ranges::count_if(view.PodsOn(node), [&](const PlainPod* other) {
      return other->meta().ns == pod.meta().ns && !other->meta().deletion_timestamp &&
             Matches(*selector, other->meta().labels);
    });
  }

  static Verdict Judge(const std::vector<Constraint>& constraints,
                       const std::vector<std::map<std::string, int64_t>>& counts,
                       const PlainPod& pod, const PlainNode& node) {
    for (size_t i = 0; i < constraints.size(); ++i) {
      const Constraint& each = constraints[i];
      const std::string* value = kube::FindValue(node.labels(), each.topology_key);
      if (value == nullptr) {
        return Verdict::Unresolvable(
            "node(s) didn't match pod topology spread constraints (missing required label)");
      }
      const auto domains = static_cast<int64_t>(counts[i].size());
      int64_t least = 0;
      if (domains >= each.min_domains.value_or(1)) {
        least = counts[i].begin()->second;
        for (const auto& [domain, count] : counts[i]) least = std::min(least, count);
      }
      const auto selector = SelectorOf(each, pod);
      const int64_t itself = selector && Matches(*selector, pod.meta().labels) ? 1 : 0;
      const auto found = counts[i].find(*value);
      const int64_t there = found == counts[i].end() ? 0 : found->second;
      if (there + itself - least > each.max_skew) {
        return Verdict::Unschedulable("node(s) didn't match pod topology spread constraints");
      }
    }
    return {};
  }

  static double WeightOf(const Constraint& constraint, const Nodes& scored) {
    std::set<std::optional<std::string>> values;
    for (const PlainNode* node : scored) {
      const std::string* value = kube::FindValue(node->labels(), constraint.topology_key);
      values.insert(value == nullptr ? std::nullopt : std::optional(*value));
    }
    const size_t size = constraint.topology_key == kHostnameKey ? scored.size() : values.size();
    return std::log(static_cast<double>(size + 2));
  }

  static int64_t CountAround(const View& view, const PlainNode& node, const Constraint& constraint,
                             const std::vector<Constraint>& constraints, bool any_node,
                             const PlainPod& pod) {
    if (constraint.topology_key == kHostnameKey) return CountOn(view, node, constraint, pod);
    int64_t count = 0;
    for (const auto& [name, other] : view.cluster.nodes) {
      const std::string* value = kube::FindValue(other.labels(), constraint.topology_key);
      if (value == nullptr || *value != node.labels().at(constraint.topology_key)) continue;
      if (!any_node && !HasAllKeys(constraints, other)) continue;
      if (IsEligible(constraint, pod, other)) count += CountOn(view, other, constraint, pod);
    }
    return count;
  }

  static std::vector<int64_t> Normalized(const Nodes& nodes,
                                         const std::map<std::string, int64_t>& raw) {
    int64_t least = raw.empty() ? 0 : raw.begin()->second;
    int64_t most = least;
    for (const auto& [name, score] : raw) {
      least = std::min(least, score);
      most = std::max(most, score);
    }
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) {
      const auto found = raw.find(node->name());
      if (found == raw.end()) {
        scores.push_back(0);
      } else {
        scores.push_back(most == 0 ? 100 : 100 * (most + least - found->second) / most);
      }
    }
    return scores;
  }

  const PodTopologySpreadArgs args_;
};

}  // namespace

std::unique_ptr<Rule> InterPodAffinityRule(InterPodAffinityArgs args) {
  return std::make_unique<InterPodAffinity>(args);
}
std::unique_ptr<Rule> PodTopologySpreadRule(PodTopologySpreadArgs args) {
  return std::make_unique<PodTopologySpread>(std::move(args));
}

}  // namespace koord::scheduler::reference
