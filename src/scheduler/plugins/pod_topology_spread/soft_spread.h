#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/pod_topology_spread/spread_constraint.h"
#include "scheduler/topology/seen_counts.h"

namespace koord::scheduler {

// The ScheduleAnyway constraints of one shape: how crowded each row's domains are.
//
// How much a constraint counts depends on how many domains the feasible rows have; from one pod to
// the next few rows become feasible or stop being so, and only these are looked at.
class SoftSpread {
 public:
  struct Constraint {
    Constraint(const SpreadConstraint& from, LabelPtr column, std::shared_ptr<DomainCounts> counted)
        : key(std::move(column)),
          counts(std::move(counted)),
          allowance(static_cast<double>(from.max_skew) - 1) {}

    bool by_row() const { return counts.rule().key == nullptr; }

    LabelPtr key;
    SeenCounts counts;  // by value, or by row where the domain is a node
    double allowance;
    double weight = 0;
    int64_t present = 0;          // values that feasible rows have
    std::vector<int32_t> rows;    // feasible ones by value; 0 is a value here
    std::vector<double> worth;    // by value: what a row gets
    uint64_t counts_version = 0;  // that they were made from
  };

  // `needs_all_keys`: rows that lack a key take no part.
  void Set(std::vector<Constraint> constraints, bool needs_all_keys);

  bool empty() const { return constraints_.empty(); }
  uint64_t Refresh(const PodIndex& pods,
                   const PodQuery& query);  // returns a number that moves when counts do

  void SetFeasible(const NodeTable& nodes, std::span<const uint8_t> feasible);
  void Score(RowRange rows, int64_t* scores);

 private:
  void Forget(const NodeTable& nodes);
  void CountAll(std::span<const uint8_t> feasible);
  void Count(NodeRow row, int by);
  bool IsIgnored(NodeRow row) const;
  void Weigh(Constraint& constraint);
  void ScoreBlock(RowRange rows, int64_t* scores) const;

  std::vector<Constraint> constraints_;
  bool needs_all_keys_ = false;
  bool small_ = true;  // all scores fit into 32 bits
  uint64_t topology_version_ = 0;
  std::vector<uint8_t> feasible_;
  int64_t feasible_rows_ = 0;  // that take part
};

void NormalizeSpread(ScoreRange range, std::span<int64_t> scores);

}  // namespace koord::scheduler
