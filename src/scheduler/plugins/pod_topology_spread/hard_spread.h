#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/plugins/pod_topology_spread/spread_constraint.h"
#include "scheduler/topology/seen_counts.h"

namespace koord::scheduler {

// A DoNotSchedule constraint of one shape: which values of its key are full.
class HardSpread {
 public:
  HardSpread(const SpreadConstraint& constraint, std::shared_ptr<DomainCounts> counts)
      : counts_(std::move(counts)),
        max_skew_(constraint.max_skew),
        min_domains_(constraint.min_domains),
        itself_(constraint.matches_itself ? 1 : 0) {}

  void Refresh(const NodeTable& nodes, const PodIndex& pods, const PodQuery& query);

  const LabelColumn& key() const { return *counts_.rule().key; }
  const SeenCounts& counts() const { return counts_; }
  // By value: not 0 if one pod more would be too many; rows without the key have no place either.
  const int32_t* full() const { return full_.data(); }
  // Whether it would be if the row had so many more pods that count.
  bool IsFull(ValueId value, int32_t more_pods) const;

  uint64_t version() const { return version_; }  // moves when full() does

 private:
  int64_t LeastOfOthers(ValueId value) const;

  SeenCounts counts_;
  int32_t max_skew_;
  int32_t min_domains_;
  int32_t itself_;
  uint64_t counts_version_ = 0;
  uint64_t topology_version_ = 0;
  int64_t least_ = 0;
  std::vector<int32_t> full_;
  uint64_t version_ = 0;
};

}  // namespace koord::scheduler
