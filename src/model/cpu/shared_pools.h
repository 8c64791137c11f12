#pragma once
#include <vector>

#include "api/node_annotations.h"
#include "base/cpu_set.h"
#include "model/cpu/cpu_topology.h"

namespace koord::model {

// The CPUs that are neither taken by pods nor kept back, by socket and NUMA node. A NUMA node of
// which pods have taken everything has no pool; one of which the rest is kept back has an empty
// one.
std::vector<api::CpuSharedPool> SharedPoolsOf(const CpuTopology& topology, const CpuSet& taken,
                                              const CpuSet& kept_back);

}  // namespace koord::model
