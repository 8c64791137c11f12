#include "scheduler/preemption/preemption_rules.h"

#include <algorithm>

namespace koord::scheduler {

void PreemptionCost::Add(int32_t priority, WallTime start) {
  if (victims == 0 || priority > highest_priority) {
    highest_priority = priority;
    earliest_start = start;
  } else if (priority == highest_priority) {
    earliest_start = std::min(earliest_start, start);
  }
  priority_sum += int64_t{priority} + (int64_t{1} << 31);
  ++victims;
}

bool IsCheaper(const PreemptionCost& a, const PreemptionCost& b) {
  if (a.violations != b.violations) return a.violations < b.violations;
  if (a.highest_priority != b.highest_priority) return a.highest_priority < b.highest_priority;
  if (a.priority_sum != b.priority_sum) return a.priority_sum < b.priority_sum;
  if (a.victims != b.victims) return a.victims < b.victims;
  return a.earliest_start > b.earliest_start;
}

bool StaysDearer(const PreemptionCost& a, const PreemptionCost& b) {
  if (a.violations != b.violations) return a.violations > b.violations;
  if (a.highest_priority != b.highest_priority) return a.highest_priority > b.highest_priority;
  return a.priority_sum > b.priority_sum;
}

std::vector<NodeRow> PreemptionRules::RowsToTry(const Diagnosis& diagnosis) const {
  std::vector<NodeRow> rows;
  for (NodeRow row{0}; row < diagnosis.rows.size(); ++row) {
    if (diagnosis.rows[row].verdict.code == Code::kUnschedulable) rows.push_back(row);
  }
  return rows;
}

}  // namespace koord::scheduler
