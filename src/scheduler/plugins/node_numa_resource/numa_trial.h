#pragma once
#include <optional>
#include <string>
#include <vector>

#include "scheduler/books/cpu_book.h"
#include "scheduler/plugins/node_numa_resource/node_rules.h"
#include "scheduler/plugins/node_numa_resource/pod_cpus.h"
#include "scheduler/scoring/percent.h"

namespace koord::scheduler {

// How a pod is to be treated on one node: what it wants and what the node demands, taken together.
struct CpuPlan {
  bool binds = false;
  model::CpuBindPolicy bind = model::CpuBindPolicy::kFullPcpus;
  bool required = false;  // the bind policy is
  model::NumaPolicy policy = model::NumaPolicy::kNone;
};

// How full nodes, or NUMA nodes, are rated.
struct NumaScoring {
  struct Weight {
    ResourceId id;
    int64_t weight;
  };
  Share share = Share::kFree;
  std::vector<Weight> weights;
};

// What a reservation has for a pod. The row is without the pod that holds it.
struct ReservedPart {
  CpuBook::Row::Left left;
  const Holdings* all = nullptr;  // what it reserves; null: what is left is of several
  bool is_restricted = false;     // what it has any of comes from nowhere else
};

// What a pod would get on one node as it is or would be. Pure: filters ask whether, scorers how
// good, and Reserve charges the same.
class NumaTrial {
 public:
  struct Result {
    bool ok = false;
    CpuSet cpus;
    std::vector<Holdings::Zone> zones;
    std::vector<std::string> reasons;  // if not
  };

  // `numa_nodes_of_pods`: for pods that want NUMA nodes to themselves, see NumaExclusivity.
  NumaTrial(const PodCpus& pod, const ResourceAmounts& requests, const CpuPlan& plan,
            const NodeRules& rules, const CpuBook::Row& row, const NumaScoring& numa_scoring,
            model::NumaAllocateStrategy strategy, const model::NumaExclusivity& exclusivity,
            const ResourceNames& names, const ReservedPart* reserved);

  // The same as Run().ok, mostly for less.
  bool Fits() const;
  Result Run() const;

  // Capacity and use of the NUMA nodes of a result, as scores count them.
  struct Use {
    ResourceAmounts total;
    ResourceAmounts used;
  };
  Use UseOf(const std::vector<Holdings::Zone>& zones) const;

  // The parts of Run, for where others have a say in which NUMA nodes it is.
  model::ProviderHints Hints() const;
  Result Allocate(const std::optional<model::NumaMask>& mask) const;
  // For people: what there is on each NUMA node, and whether that would do.
  std::vector<std::string> DescribeZones() const;

 private:
  struct Zone {
    int32_t id = 0;
    ResourceAmounts total;
    ResourceAmounts left;    // to give out, as far as CPUs can follow
    ResourceAmounts unused;  // the same for scores
    CpuSet free;             // CPUs
    int64_t usable = 0;      // of them, by the required policy
  };

  bool full_required() const {
    return plan_.required && plan_.bind == model::CpuBindPolicy::kFullPcpus;
  }
  const model::CpuTopology& topology() const { return *row_.topology->cpus; }
  CpuSet Usable(const CpuSet& cpus) const;
  void AddZone(const Holdings::Zone& zone);
  bool IsOffered(ResourceId id) const;
  int64_t UnitOf(ResourceId id) const;
  // Whether one NUMA node can give all.
  bool CanHostAlone(const Zone& zone) const;
  int64_t ScoreOf(model::NumaMask mask) const;
  bool IsOnlyFromReserved(ResourceId id) const;
  bool Distribute(model::NumaMask mask, Result& result) const;
  bool TakeCpus(Result& result) const;
  // From each NUMA node its share, or from anywhere.
  CpuSet Take(const Result& result, const CpuSet& preferred) const;

  const PodCpus& pod_;
  const ResourceAmounts& requests_;
  const CpuPlan& plan_;
  const NodeRules& rules_;
  const CpuBook::Row& row_;
  const NumaScoring& numa_scoring_;
  const model::NumaAllocateStrategy strategy_;
  const model::NumaExclusivity& exclusivity_;
  const ResourceNames& names_;
  const ReservedPart* reserved_;  // null: only what is free to all
  CpuSet usable_;                 // of the whole node
  std::vector<Zone> zones_;
  model::NumaMask all_;
};

// The NUMA nodes of a topology with pods whose CPUs are all there, and with pods that have CPUs on
// several.
model::NumaExclusivity ExclusivityOf(const model::CpuTopology& topology,
                                     const std::vector<const CpuSet*>& cpus_of_pods);

// As people write it: "4", "500m", "10Gi".
kube::Quantity QuantityOf(ResourceId id, std::string_view name, int64_t amount);

// 0 to 100: how full something would be with the pod.
int64_t ShareScore(const NumaScoring& scoring, const ResourceAmounts& total,
                   const ResourceAmounts& used, const ResourceAmounts& more);

}  // namespace koord::scheduler
