#pragma once
#include <cstdint>

#include "base/cpu_set.h"
#include "base/status.h"
#include "model/cpu/cpu_counts.h"
#include "model/cpu/cpu_topology.h"

// Which CPUs of a machine a pod gets, once it is known how many.
namespace koord::model {

enum class CpuBindPolicy : uint8_t {
  kFullPcpus,      // both threads of as few cores as possible
  kSpreadByPcpus,  // threads of as many cores as possible
};
// Whom a pod would rather not have beside it: pods that have said the same. Never a reason to give
// it nothing.
enum class CpuExclusivePolicy : uint8_t { kNone, kPcpuLevel, kNumaNodeLevel };
// Which NUMA node or socket is tried first: the fullest one, or the emptiest.
enum class NumaAllocateStrategy : uint8_t { kMostAllocated, kLeastAllocated };

// Who holds what of a machine.
struct CpuOccupancy {
  CpuCounts holders;
  // Those held by pods that would rather not share cores, or NUMA nodes.
  CpuCounts pcpu_exclusive;
  CpuCounts numa_exclusive;
  size_t max_holders = 1;  // of one CPU

  void Add(const CpuSet& cpus, CpuExclusivePolicy policy);
  void Remove(const CpuSet& cpus, CpuExclusivePolicy policy);
  bool operator==(const CpuOccupancy&) const = default;
};

struct CpuRequest {
  int64_t count = 0;
  CpuBindPolicy bind = CpuBindPolicy::kFullPcpus;
  CpuExclusivePolicy exclusive = CpuExclusivePolicy::kNone;
  NumaAllocateStrategy strategy = NumaAllocateStrategy::kLeastAllocated;
};

// As many of the available CPUs as are asked for.
//
// One NUMA node if one has enough, else one socket, else as few sockets as possible; whole cores,
// or one thread of each, as long as there are any. Whom the pod would rather not have beside it is
// kept away from first, and ignored if that leaves too little. Among equals the lowest number.
// Fails only if there are too few.
StatusOr<CpuSet> TakeCpus(const CpuTopology& topology, const CpuSet& available,
                          const CpuOccupancy& occupancy, const CpuRequest& request);
// The same, and as many as possible of the preferred ones before any other.
StatusOr<CpuSet> TakePreferredCpus(const CpuTopology& topology, const CpuSet& available,
                                   const CpuSet& preferred, const CpuOccupancy& occupancy,
                                   const CpuRequest& request);

// Where a bind policy is required: those of the CPUs that may be given out at all (all threads of
// wholly available cores; the first available thread of each core), and whether it is obeyed.
CpuSet UsableFor(CpuBindPolicy policy, const CpuTopology& topology, const CpuSet& available);
bool Obeys(CpuBindPolicy policy, const CpuTopology& topology, const CpuSet& cpus);

}  // namespace koord::model
