#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/preemption/disruption_budgets.h"
#include "scheduler/preemption/preemption_rules.h"
#include "scheduler/preemption/victim_lists.h"

// What it would cost to make room for a pod on one node.
namespace koord::scheduler {

PreemptionCost CostOf(std::span<const PodInfo* const> victims, int violations);

// Tries nodes for one pod after another.
//
// On each, all pods of lower priority that the rules let go are taken away; if the pod fits then,
// as many as possible are given back, those first that no budget lets go, the most important first.
// Where the filters can be taken apart (RowNeeds) that is adding up; where they cannot, they are
// asked about each pod.
class DryRuns {
 public:
  DryRuns(Ledger& ledger, const ObjectCache<kube::PodDisruptionBudget>& budgets,
          PreemptionRules& rules, ReasonId no_victims)
      : nodes_(ledger.nodes()),
        rules_(rules),
        order_(rules.order()),
        budgets_(budgets),
        lists_(ledger, budgets_, rules),
        no_victims_(no_victims) {}

  uint64_t budgets_version() const { return budgets_.version(); }

  // From now on for this pod, as things are.
  void Begin(PodQuery& query, SchedulerHandle& handle);
  struct Trial {
    PreemptionCost cost;
    // The cost of some of the victims, which alone is more than what was the least before.
    bool is_part = false;
  };
  // Nothing: it does not help here. Stops where it is clear that the row costs more than `least`,
  // if that is given.
  std::optional<Trial> Try(NodeRow row, const PreemptionCost* least);
  // This row will be tried soon.
  void Prefetch(NodeRow row) const { lists_.Prefetch(row); }
  // Who has to go where it helps, the most important first.
  std::vector<const PodInfo*> VictimsOn(NodeRow row);
  // Where it does not.
  RowVerdict WhyNot(NodeRow row);

 private:
  using Potential = VictimLists::Potential;
  class RoomTrial;
  class FilterTrial;

  class Evictions;

  bool TryWith(NodeRow row, Evictions& evictions);
  void BeginTest(const Potential& potential) const;
  // Whether the victim is back; otherwise `violates` says whether the filters are to blame.
  template <class Room>
  bool GiveBack(Room& room, const Potential& potential, size_t victim, bool& violates) const;
  template <class Room>
  void Reprieve(Room& room, const Potential& potential, Evictions& evictions) const;

  const NodeTable& nodes_;
  PreemptionRules& rules_;
  const PreemptionOrder order_;
  DisruptionBudgets budgets_;
  VictimLists lists_;
  const ReasonId no_victims_;
  PodQuery* query_ = nullptr;
  SchedulerHandle* handle_ = nullptr;
  const RowNeeds* needs_ = nullptr;
  ReprieveTest* test_ = nullptr;
  std::vector<std::vector<int64_t>> buffers_;  // for each room that is asked for
};

}  // namespace koord::scheduler
