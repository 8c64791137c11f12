#pragma once
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "koordlet/host/cpu_topology.h"

namespace koord::koordlet {

// Picks `count` processors for the system, packed as the kubelet's static policy packs them: whole
// sockets first, then whole NUMA nodes, whole cores, and single processors; among equals where the
// least is free, then the lowest number. Ascending. More than there are is an error.
StatusOr<std::vector<int32_t>> TakeCpus(const std::vector<Processor>& processors, int64_t count);

}  // namespace koord::koordlet
