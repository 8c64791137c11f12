#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "kube/objects/policy.h"
#include "kube/selectors.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/framework/object_cache.h"
#include "scheduler/framework/plugin_context.h"

// What it would cost to make room for a pod on one node.
namespace koord::scheduler {

// The pods that would have to go, most important first, and what choosing among nodes looks at.
struct PreemptionCost {
  std::vector<const PodInfo*> victims;
  int violations = 0;            // of disruption budgets
  int32_t highest_priority = 0;  // of a victim
  int64_t priority_sum = 0;      // of (priority + 2^31)
  // Of the victims with the highest priority, when the first of them started.
  WallTime earliest_start{};
};

PreemptionCost CostOf(std::vector<const PodInfo*> victims, int violations);

struct DryRun {
  std::optional<PreemptionCost> cost;  // nothing: it does not help here
  RowVerdict verdict;                  // then: why
};

// Selectors of the budgets, compiled once per version of the budgets.
class DisruptionBudgets {
 public:
  explicit DisruptionBudgets(const ObjectCache<kube::PodDisruptionBudget>& cache) : cache_(cache) {}

  uint64_t version() const { return cache_.version(); }
  // Which of the pods, in this order, would break a budget: one byte a pod.
  std::vector<uint8_t> Violations(const std::vector<const PodInfo*>& pods);

 private:
  struct Budget {
    std::string ns;
    kube::LabelMatcher selector;
    int64_t allowed;
    const kube::PodDisruptionBudget* object;
  };

  void Compile();

  const ObjectCache<kube::PodDisruptionBudget>& cache_;
  uint64_t compiled_ = 0;
  std::vector<Budget> budgets_;
};

// A more important pod comes before a less important one: higher priority, then earlier start.
bool IsMoreImportant(const PodInfo& a, const PodInfo& b);
WallTime StartOf(const kube::Pod& pod);

// Takes all pods of lower priority away; if the pod fits then, gives back as many as possible,
// those first that no budget lets go, the most important first.
DryRun TryNode(PodQuery& query, NodeRow row, const NodeTable& nodes, DisruptionBudgets& budgets,
               SchedulerHandle& handle, ReasonId no_victims);

// Whether evicting for `a` is better than for `b`: fewer broken budgets, then less important
// victims, then less of them, then those that started last.
bool IsCheaper(const PreemptionCost& a, const PreemptionCost& b);

}  // namespace koord::scheduler
