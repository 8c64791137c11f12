#pragma once
#include <cstdint>

#include "base/cpu_set.h"
#include "base/status.h"
#include "model/cpu/cpu_topology.h"

namespace koord::model {

// Picks `count` processors for the system, packed as the kubelet's static policy packs them: whole
// sockets first, then whole NUMA nodes, whole cores, and single processors; among equals where the
// least is free, then the lowest number. More than there are is an error.
StatusOr<CpuSet> PackCpus(const CpuTopology& topology, int64_t count);

}  // namespace koord::model
