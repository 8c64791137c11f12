#include "scheduler/reference/reference_scheduler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace koord::scheduler::reference {
namespace {

std::string Available(size_t nodes, const std::map<std::string, int64_t>& counts) {
  std::set<std::string> entries;  // sorted as texts
  for (const auto& [reason, count] : counts) entries.insert(fmt::format("{} {}", count, reason));
  std::string message = fmt::format("0/{} nodes are available:", nodes);
  if (!entries.empty()) message += fmt::format(" {}.", fmt::join(entries, ", "));
  return message;
}

// The pods that are promised a node and count for this one: at least as important, and others.
std::vector<const PlainPod*> PromisedTo(const PlainCluster& cluster, const std::string& node,
                                        const PlainPod& pod) {
  std::vector<const PlainPod*> promised;
  for (const auto& [uid, nomination] : cluster.nominations) {
    if (nomination.node == node && uid != pod.meta().uid &&
        nomination.pod.priority() >= pod.priority()) {
      promised.push_back(&nomination.pod);
    }
  }
  return promised;
}

}  // namespace

ReferenceScheduler::ReferenceScheduler(const Profile& profile, const ProfilePlugins& plugins)
    : pre_filters_(RulesAt(profile, plugins, ExtensionPoint::kPreFilter)),
      filters_(RulesAt(profile, plugins, ExtensionPoint::kFilter)),
      scorers_(RulesAt(profile, plugins, ExtensionPoint::kScore)),
      reservers_(RulesAt(profile, plugins, ExtensionPoint::kReserve)) {
  for (const EnabledPlugin& each : plugins.At(ExtensionPoint::kPostFilter)) {
    post_filters_.push_back(each.name);
  }
}

std::vector<ReferenceScheduler::Named> ReferenceScheduler::RulesAt(const Profile& profile,
                                                                   const ProfilePlugins& plugins,
                                                                   ExtensionPoint point) {
  std::vector<Named> rules;
  for (const EnabledPlugin& each : plugins.At(point)) {
    auto [at, added] = rules_.try_emplace(each.name);
    if (added) at->second = MakeRule(each.name, profile);
    if (at->second != nullptr) rules.push_back({each.name, at->second.get(), each.weight});
  }
  return rules;
}

View ReferenceScheduler::Restored(const PlainCluster& cluster, const PlainPod& pod) const {
  View view(cluster);
  for (const Named& each : filters_) each.rule->Restore(view, pod);
  return view;
}

ReferenceScheduler::PreFiltered ReferenceScheduler::PreFilter(const View& view, const PlainPod& pod,
                                                              Outcome& outcome) const {
  PreFiltered result;
  std::set<std::string> naming;
  std::optional<std::set<std::string>> limit;
  std::string none_reason;
  for (const Named& each : pre_filters_) {
    const PreFilterAnswer answer = each.rule->PreFilter(view, pod);
    if (answer.verdict.code == Code::kSkip) {
      result.skipped.insert(each.name);
    } else if (answer.verdict.code == Code::kUnschedulable) {
      outcome.pre_filter = answer.verdict;
    } else if (answer.verdict.rejected()) {
      outcome.pre_filter = answer.verdict;
      return result;
    } else if (!answer.verdict.ok()) {
      outcome.pre_filter = Verdict::Error(
          fmt::format("running PreFilter plugin \"{}\": {}", each.name, answer.verdict.Message()));
      return result;
    }
    if (answer.limit) {
      naming.insert(each.name);
      limit = answer.limit;
      none_reason = answer.none_reason;
    }
    if (!answer.node_names) continue;
    naming.insert(each.name);
    std::set<std::string> names(answer.node_names->begin(), answer.node_names->end());
    if (outcome.named) {
      std::erase_if(names, [&](const auto& name) { return !outcome.named->contains(name); });
    }
    outcome.named = names;
    if (names.empty()) {
      outcome.pre_filter = Verdict::Unresolvable(
          naming.size() == 1 ? fmt::format("node(s) didn't satisfy plugin {}", each.name)
                             : fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously",
                                           fmt::join(naming, " ")));
      return result;
    }
  }
  if (limit && limit->empty() && outcome.pre_filter.ok()) {
    outcome.pre_filter = Verdict::Unresolvable(none_reason);
  }
  if (limit && outcome.named) {
    std::erase_if(*outcome.named, [&](const auto& name) { return !limit->contains(name); });
  } else if (limit) {
    outcome.named = limit;
  }
  outcome.absent_reason =
      fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(naming, " "));
  return result;
}

std::map<std::string, NodeFailure> ReferenceScheduler::FilterOnce(
    const View& view, const PlainPod& pod, const Nodes& nodes,
    const std::set<std::string>& skipped) const {
  std::map<std::string, NodeFailure> failures;
  Nodes left = nodes;
  for (const Named& each : filters_) {
    if (skipped.contains(each.name) || left.empty()) continue;
    const std::vector<Verdict> verdicts = each.rule->Filter(view, pod, left);
    Nodes passed;
    for (size_t i = 0; i < left.size(); ++i) {
      if (verdicts[i].ok()) {
        passed.push_back(left[i]);
      } else {
        failures[left[i]->name()] = {each.name, verdicts[i]};
      }
    }
    left = passed;
  }
  return failures;
}

std::map<std::string, NodeFailure> ReferenceScheduler::Filter(
    const View& view, const PlainPod& pod, const Nodes& nodes,
    const std::set<std::string>& skipped) const {
  std::map<std::string, NodeFailure> failures = FilterOnce(view, pod, nodes, skipped);
  for (const PlainNode* node : nodes) {
    const auto promised = PromisedTo(view.cluster, node->name(), pod);
    if (promised.empty()) continue;
    View with = view;
    auto& there = with.pods_on.at(node->name());
    there.insert(there.end(), promised.begin(), promised.end());
    // What it says with them comes first.
    for (auto& [name, failure] : FilterOnce(with, pod, {node}, skipped)) {
      failures[name] = std::move(failure);
    }
  }
  return failures;
}

Outcome ReferenceScheduler::Schedule(const PlainCluster& cluster, const PlainPod& pod) const {
  Outcome outcome;
  if (cluster.nodes.empty()) {
    outcome.no_nodes = true;
    return outcome;
  }
  const View view = Restored(cluster, pod);
  const PreFiltered pre = PreFilter(view, pod, outcome);
  if (!outcome.pre_filter.ok()) return outcome;

  const auto passes = [&](const std::string& name) {
    const auto node = cluster.nodes.find(name);
    return node != cluster.nodes.end() && Filter(view, pod, {&node->second}, pre.skipped).empty();
  };
  const auto only = [&](const std::string& name) {
    outcome.single = true;
    outcome.totals[name] = 0;
    outcome.best.insert(name);
    Draw(view, pod, outcome);
    return outcome;
  };
  const auto nomination = cluster.nominations.find(pod.meta().uid);
  if (nomination != cluster.nominations.end() && passes(nomination->second.node)) {
    return only(nomination->second.node);
  }
  for (const Named& each : pre_filters_) {
    for (const std::string& name : each.rule->PreferNodes(view, pod)) {
      if (outcome.named && !outcome.named->contains(name)) continue;
      if (passes(name)) return only(name);
    }
  }
  Nodes candidates;
  for (const auto& [name, node] : cluster.nodes) {
    if (!outcome.named || outcome.named->contains(name)) candidates.push_back(&node);
  }
  outcome.failures = Filter(view, pod, candidates, pre.skipped);
  Nodes feasible;
  for (const PlainNode* node : candidates) {
    if (!outcome.failures.contains(node->name())) feasible.push_back(node);
  }
  Score(view, pod, feasible, outcome);
  Draw(view, pod, outcome);
  return outcome;
}

void ReferenceScheduler::Draw(const View& view, const PlainPod& pod, Outcome& outcome) const {
  for (const auto& [node, total] : outcome.totals) {
    for (const Named& each : reservers_) {
      outcome.drawn[node] += each.rule->DrawnFrom(view, pod, view.cluster.nodes.at(node));
    }
  }
}

std::vector<std::string> ReferenceScheduler::SayWhy(const PlainCluster& cluster,
                                                    const PlainPod& pod, const Outcome& outcome,
                                                    const Preemption& preemption) const {
  if (!preemption.best.empty()) return {};
  const View view = Restored(cluster, pod);
  const auto reasons = [&](const std::string& node) -> std::vector<std::string> {
    if (!outcome.pre_filter.ok()) return outcome.pre_filter.reasons;
    const auto failure = outcome.failures.find(node);
    if (failure == outcome.failures.end()) return {outcome.absent_reason};
    return failure->second.verdict.reasons;
  };
  std::vector<std::string> said;
  for (const std::string& plugin : post_filters_) {
    if (plugin == "DefaultPreemption" && !preemption.message.empty()) {
      said.push_back(preemption.message);
    }
    const auto rule = rules_.find(plugin);
    if (rule == rules_.end() || rule->second == nullptr) continue;
    for (std::string& text : rule->second->SayWhy(view, pod, reasons)) {
      said.push_back(std::move(text));
    }
  }
  return said;
}

void ReferenceScheduler::Score(const View& view, const PlainPod& pod, const Nodes& feasible,
                               Outcome& outcome) const {
  for (const PlainNode* node : feasible) outcome.totals[node->name()] = 0;
  for (const Named& each : scorers_) {
    if (feasible.size() <= 1) break;
    const ScoreAnswer answer = each.rule->Score(view, pod, feasible);
    if (answer.verdict.code == Code::kSkip) continue;
    if (!answer.verdict.ok()) {
      outcome.error = Verdict::Error(
          fmt::format("running PreScore plugin \"{}\": {}", each.name, answer.verdict.Message()));
      return;
    }
    for (size_t i = 0; i < feasible.size(); ++i) {
      const int64_t score = each.weight * answer.scores[i];
      outcome.totals[feasible[i]->name()] += score;
      outcome.parts[feasible[i]->name()] += fmt::format(" {}={}", each.name, score);
    }
  }
  int64_t most = 0;
  for (const auto& [name, total] : outcome.totals) most = std::max(most, total);
  for (const auto& [name, total] : outcome.totals) {
    if (total == most) outcome.best.insert(name);
  }
}

std::string ReferenceScheduler::FitError(const PlainCluster& cluster, const Outcome& outcome) {
  if (!outcome.pre_filter.ok()) {
    return fmt::format("0/{} nodes are available: {}.", cluster.nodes.size(),
                       outcome.pre_filter.Message());
  }
  std::map<std::string, int64_t> counts;
  for (const auto& [node, failure] : outcome.failures) {
    for (const std::string& reason : failure.verdict.reasons) ++counts[reason];
  }
  const size_t others = cluster.nodes.size() - outcome.failures.size();
  if (outcome.named && others > 0) counts[outcome.absent_reason] += static_cast<int64_t>(others);
  return Available(cluster.nodes.size(), counts);
}

// ---- Preemption

namespace {

using Pods = std::vector<const PlainPod*>;

WallTime StartOf(const PlainPod& pod) {
  return pod.pod->status.start_time.value_or(WallTime::max());
}

// Higher priority, then earlier start; nothing is said of the rest, so that it is as good as any.
bool IsMoreImportant(const PlainPod* a, const PlainPod* b) {
  if (a->priority() != b->priority()) return a->priority() > b->priority();
  if (StartOf(*a) != StartOf(*b)) return StartOf(*a) < StartOf(*b);
  return a->meta().uid < b->meta().uid;
}

// Of pods by importance, those whose eviction breaks a disruption budget.
std::set<const PlainPod*> Violating(const ClusterObjects& objects, const Pods& pods) {
  std::map<kube::ObjectKey, int64_t> allowed;
  for (const auto& [key, budget] : objects.disruption_budgets.objects()) {
    allowed[key] = budget->status.disruptions_allowed;
  }
  std::set<const PlainPod*> violating;
  for (const PlainPod* pod : pods) {
    const kube::ObjectMeta& meta = pod->meta();
    for (const auto& [key, budget] : objects.disruption_budgets.objects()) {
      const auto& selector = budget->spec.selector;
      if (key.ns != meta.ns || !selector || meta.labels.empty()) continue;
      if (selector->match_labels.empty() && selector->match_expressions.empty()) continue;
      if (!Matches(*selector, meta.labels)) continue;
      if (budget->status.disrupted_pods.contains(meta.name)) continue;
      if (--allowed[key] < 0) violating.insert(pod);
    }
  }
  return violating;
}

void Remove(Pods& pods, const PlainPod* pod) { std::erase(pods, pod); }

}  // namespace

struct ReferenceScheduler::DryRun {
  Verdict verdict;  // not ok: evictions do not help
  Pods victims;     // the most important first
  int64_t violations = 0;

  // Smaller is better.
  auto Cost() const {
    int64_t sum = 0;
    WallTime earliest = WallTime::max();
    for (const PlainPod* victim : victims) {
      sum += int64_t{victim->priority()} + (int64_t{1} << 31);
      if (victim->priority() == victims[0]->priority()) {
        earliest = std::min(earliest, StartOf(*victim));
      }
    }
    return std::tuple(violations, victims[0]->priority(), sum, victims.size(),
                      -earliest.time_since_epoch().count());
  }
};

// A reservation is there so that others do not get its room: they get it neither from the
// reservation nor by evicting those who use it. Pods for which it is do not see what stands for it.
static bool IsInsideOfAReservation(const PlainPod& pod, const Pods& seen_on_its_node) {
  return std::ranges::any_of(seen_on_its_node, [&](const PlainPod* other) {
    return other->is_reservation && other->meta().uid == pod.draws_from;
  });
}

ReferenceScheduler::DryRun ReferenceScheduler::TryNode(const View& view, const PlainPod& pod,
                                                       const PlainNode& node,
                                                       const std::set<std::string>& skipped) const {
  DryRun run;
  Pods potential;
  for (const PlainPod* other : view.PodsOn(node)) {
    // What stands for a reservation is no pod that could be evicted.
    if (other->priority() >= pod.priority() || other->is_reservation) continue;
    if (!IsInsideOfAReservation(*other, view.PodsOn(node))) potential.push_back(other);
  }
  if (potential.empty()) {
    run.verdict = Verdict::Unresolvable("No preemption victims found for incoming pod");
    return run;
  }
  View without = view;
  Pods& there = without.pods_on.at(node.name());
  for (const PlainPod* victim : potential) Remove(there, victim);
  const auto failures = Filter(without, pod, {&node}, skipped);
  if (!failures.empty()) {
    run.verdict = failures.begin()->second.verdict;
    return run;
  }
  std::ranges::sort(potential, IsMoreImportant);
  const std::set<const PlainPod*> violating = Violating(view.cluster.objects, potential);
  for (const bool first : {true, false}) {
    for (const PlainPod* victim : potential) {
      if (violating.contains(victim) != first) continue;
      there.push_back(victim);
      if (Filter(without, pod, {&node}, skipped).empty()) continue;
      Remove(there, victim);
      run.victims.push_back(victim);
      run.violations += first ? 1 : 0;
    }
  }
  std::ranges::sort(run.victims, IsMoreImportant);
  return run;
}

std::optional<std::string> ReferenceScheduler::WhyNotEligible(const PlainCluster& cluster,
                                                              const PlainPod& pod,
                                                              const Outcome& outcome) {
  if (pod.spec().preemption_policy == "Never") {
    return "preemption: not eligible due to preemptionPolicy=Never.";
  }
  const auto nomination = cluster.nominations.find(pod.meta().uid);
  if (nomination == cluster.nominations.end()) return {};
  const std::string& node = nomination->second.node;
  if (!outcome.pre_filter.ok()) return {};  // unresolvable everywhere
  const auto failure = outcome.failures.find(node);
  // A node that was not looked at counts as unresolvable too.
  if (failure == outcome.failures.end() ||
      failure->second.verdict.code == Code::kUnschedulableAndUnresolvable) {
    return {};
  }
  for (const auto& [uid, other] : cluster.pods) {
    if (other.spec().node_name != node || other.priority() >= pod.priority()) continue;
    const auto* condition = FindCondition(other.pod->status.conditions, "DisruptionTarget");
    const bool leaves = other.meta().deletion_timestamp && condition != nullptr &&
                        condition->status == "True" && condition->reason == "PreemptionByScheduler";
    if (leaves || cluster.evicted_unseen.contains(uid)) {
      return "preemption: not eligible due to a terminating pod on the nominated node.";
    }
  }
  return {};
}

Preemption ReferenceScheduler::Preempt(const PlainCluster& cluster, const PlainPod& pod,
                                       const Outcome& outcome) const {
  if (pod.is_reservation) return {};
  if (const auto why = WhyNotEligible(cluster, pod, outcome)) return {*why, {}};
  const View view = Restored(cluster, pod);
  Outcome again;
  const PreFiltered pre = PreFilter(view, pod, again);
  Preemption preemption;
  std::map<std::string, int64_t> counts;
  std::vector<std::pair<std::string, DryRun>> candidates;
  size_t tried = 0;
  for (const auto& [name, failure] : outcome.failures) {
    if (failure.verdict.code != Code::kUnschedulable) continue;
    ++tried;
    DryRun run = TryNode(view, pod, cluster.nodes.at(name), pre.skipped);
    for (const std::string& reason : run.verdict.reasons) ++counts[reason];
    if (run.verdict.ok()) candidates.emplace_back(name, std::move(run));
  }
  if (candidates.empty()) {
    if (tried < cluster.nodes.size()) {
      counts["Preemption is not helpful for scheduling"] +=
          static_cast<int64_t>(cluster.nodes.size() - tried);
    }
    preemption.message = fmt::format("preemption: {}", Available(cluster.nodes.size(), counts));
    return preemption;
  }
  const auto cheapest = std::ranges::min_element(
      candidates, {}, [](const auto& candidate) { return candidate.second.Cost(); });
  for (const auto& [name, run] : candidates) {
    if (run.Cost() != cheapest->second.Cost()) continue;
    for (const PlainPod* victim : run.victims) {
      preemption.best[name].victims.insert(victim->meta().uid);
    }
  }
  return preemption;
}

}  // namespace koord::scheduler::reference
