#include "scheduler/plugins/default_preemption/dry_run.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

std::vector<const PodInfo*> LessImportantThan(int32_t priority,
                                              std::span<const PodInfo* const> pods) {
  std::vector<const PodInfo*> less;
  for (const PodInfo* pod : pods) {
    if (pod->shape->priority < priority) less.push_back(pod);
  }
  std::ranges::sort(less,
                    [](const PodInfo* a, const PodInfo* b) { return IsMoreImportant(*a, *b); });
  return less;
}

}  // namespace

PreemptionCost CostOf(std::vector<const PodInfo*> victims, int violations) {
  std::ranges::stable_sort(
      victims, [](const PodInfo* a, const PodInfo* b) { return IsMoreImportant(*a, *b); });
  PreemptionCost cost{.victims = std::move(victims), .violations = violations};
  if (cost.victims.empty()) return cost;
  cost.highest_priority = cost.victims.front()->shape->priority;
  cost.earliest_start = WallTime::max();
  for (const PodInfo* victim : cost.victims) {
    cost.priority_sum += int64_t{victim->shape->priority} + (int64_t{1} << 31);
    if (victim->shape->priority == cost.highest_priority) {
      cost.earliest_start = std::min(cost.earliest_start, StartOf(*victim->pod));
    }
  }
  return cost;
}

WallTime StartOf(const kube::Pod& pod) {
  // A pod that has not started counts as started after all others.
  return pod.status.start_time.value_or(WallTime::max());
}

bool IsMoreImportant(const PodInfo& a, const PodInfo& b) {
  if (a.shape->priority != b.shape->priority) return a.shape->priority > b.shape->priority;
  const WallTime x = StartOf(*a.pod);
  const WallTime y = StartOf(*b.pod);
  if (x != y) return x < y;
  return a.uid() < b.uid();
}

void DisruptionBudgets::Compile() {
  if (compiled_ == cache_.version()) return;
  compiled_ = cache_.version();
  budgets_.clear();
  for (const auto& [key, budget] : cache_.objects()) {
    if (!budget->spec.selector) continue;
    auto selector = kube::LabelMatcher::From(*budget->spec.selector);
    // An empty or unreadable selector protects nothing here.
    if (!selector.ok() || selector->empty()) continue;
    budgets_.push_back(
        {key.ns, std::move(*selector), budget->status.disruptions_allowed, budget.get()});
  }
}

std::vector<uint8_t> DisruptionBudgets::Violations(const std::vector<const PodInfo*>& pods) {
  Compile();
  std::vector<uint8_t> violations(pods.size(), 0);
  if (budgets_.empty()) return violations;
  std::vector<int64_t> allowed;
  for (const Budget& budget : budgets_) allowed.push_back(budget.allowed);
  for (size_t i = 0; i < pods.size(); ++i) {
    const kube::ObjectMeta& meta = pods[i]->pod->metadata;
    if (meta.labels.empty()) continue;
    for (size_t k = 0; k < budgets_.size(); ++k) {
      const Budget& budget = budgets_[k];
      if (budget.ns != meta.ns || !budget.selector.Matches(meta.labels)) continue;
      // The API server knows already that it is going.
      if (budget.object->status.disrupted_pods.contains(meta.name)) continue;
      if (--allowed[k] < 0) violations[i] = 1;
    }
  }
  return violations;
}

DryRun TryNode(PodQuery& query, NodeRow row, const NodeTable& nodes, DisruptionBudgets& budgets,
               SchedulerHandle& handle, ReasonId no_victims) {
  const std::vector<const PodInfo*> potential =
      LessImportantThan(query.shape().priority, nodes.pods(row));
  if (potential.empty()) return {{}, RowVerdict::Unresolvable(no_victims)};
  RowDelta delta{.removed = potential};
  if (RowVerdict verdict = handle.CheckRow(query, {row, &delta}); !verdict.ok()) {
    return {{}, std::move(verdict)};
  }
  const std::vector<uint8_t> violating = budgets.Violations(potential);
  std::vector<const PodInfo*> victims;
  int violations = 0;
  const auto reprieve = [&](size_t i) {
    std::erase(delta.removed, potential[i]);
    if (handle.CheckRow(query, {row, &delta}).ok()) return;
    delta.removed.push_back(potential[i]);
    victims.push_back(potential[i]);
    violations += violating[i];
  };
  for (const uint8_t first : {1, 0}) {
    for (size_t i = 0; i < potential.size(); ++i) {
      if (violating[i] == first) reprieve(i);
    }
  }
  // It is not for lack of room: somebody has refused the node whom evictions do not move.
  if (victims.empty()) return {{}, RowVerdict::Unresolvable(no_victims)};
  return {CostOf(std::move(victims), violations), {}};
}

bool IsCheaper(const PreemptionCost& a, const PreemptionCost& b) {
  if (a.violations != b.violations) return a.violations < b.violations;
  if (a.highest_priority != b.highest_priority) return a.highest_priority < b.highest_priority;
  if (a.priority_sum != b.priority_sum) return a.priority_sum < b.priority_sum;
  if (a.victims.size() != b.victims.size()) return a.victims.size() < b.victims.size();
  return a.earliest_start > b.earliest_start;
}

}  // namespace koord::scheduler
