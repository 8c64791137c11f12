#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/framework/pod_query.h"
#include "scheduler/preemption/disruption_budgets.h"
#include "scheduler/preemption/preemption_rules.h"

namespace koord::scheduler {

// A pod that may have to go.
struct Victim {
  const PodInfo* pod = nullptr;
  WallTime start{};
  int32_t priority = 0;
  uint32_t guards = 0;  // where its budgets begin, in the list of the row
  uint32_t guards_end = 0;
};

// A pod that has not started counts as started after all others.
WallTime StartOf(const kube::Pod& pod);
// A more important pod comes before a less important one: higher priority, then earlier start.
bool IsMoreImportant(const PodInfo& a, const PodInfo& b);

// The pods of every row that may be evicted, by importance. A row is sorted when it is first asked
// about after a change.
class VictimLists final : private LedgerListener {
 public:
  // Those of a row that are less important than a pod, the most important first.
  class Potential {
   public:
    size_t size() const { return pods_.size(); }
    bool empty() const { return pods_.empty(); }
    const Victim& operator[](size_t i) const { return pods_[i]; }
    auto begin() const { return pods_.begin(); }
    auto end() const { return pods_.end(); }

    // What each requests of a resource; `buffer` is used where that is not at hand.
    const int64_t* Requests(ResourceId id, std::vector<int64_t>& buffer) const;
    // Which of them break a budget if all go, one byte each; null: nobody.
    const uint8_t* violating() const { return violating_; }

   private:
    friend class VictimLists;

    std::span<const Victim> pods_;
    const int64_t* common_ = nullptr;  // requests of cpu, by pod; after `stride_`: of memory, ...
    size_t stride_ = 0;
    const uint8_t* violating_ = nullptr;
  };

  VictimLists(Ledger& ledger, DisruptionBudgets& budgets, const PreemptionRules& rules);

  // Before anything is read. From now on for pods of this query, which is kept until the next one.
  void Refresh(const PodQuery& preemptor);
  // It takes longer to have the lists of thousands of rows at hand than to walk them.
  void Prefetch(NodeRow row) const;
  // Those whom the pod may evict. Good until the next call.
  Potential LessImportant(NodeRow row);

 private:
  struct Row {
    int32_t highest_priority = 0;
    bool is_current = false;
    uint64_t selectors_version = 0;
    std::vector<Victim> pods;
    std::vector<int64_t> common;
    std::vector<DisruptionBudgets::Id> guards;  // of all pods
    // Who breaks a budget, for the last pods, as many as `violating` has.
    std::vector<uint8_t> violating;
    uint64_t budgets_version = 0;
    bool any_violating = false;
  };

  // When a pod was started is known after it was booked.
  void OnPodRefreshed(const PodInfo& pod) override;
  void Sort(NodeRow row);
  static void KeepRequests(Row& row);
  // Of potential victims, those that the rules let this pod evict.
  Row& Choose(NodeRow row, std::span<const Victim> potential);
  // Whether a pod uses a reservation that the preemptor may not use: its room is not the
  // preemptor's, whoever goes.
  bool IsInsideOfAnothers(const PodInfo& pod, NodeRow row) const;
  Potential PotentialOf(Row& row, size_t begin);
  void FindGuards(Row& row);
  void FindViolations(Row& row, std::span<const Victim> potential);

  NodeTable& nodes_;
  DisruptionBudgets& budgets_;
  const PreemptionRules& rules_;
  const PodQuery* query_ = nullptr;
  const PodShape* preemptor_ = nullptr;
  bool is_choosy_ = false;
  Row chosen_;             // by a preemptor that is
  uint64_t position_ = 0;  // in the log of changed rows
  std::vector<Row> rows_;
  std::vector<int64_t> charged_;  // by budget; zeros between runs
};

}  // namespace koord::scheduler
