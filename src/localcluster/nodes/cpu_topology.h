#pragma once
#include "localcluster/nodes/node_shape.h"
#include "model/cpu/cpu_topology.h"

namespace koord::localcluster {

// Ids are given out core by core, cores NUMA node by NUMA node, so that the threads of a core are
// neighbours and a NUMA node is one range of ids. Each socket has one L3 cache.
model::CpuTopology CpuTopologyOf(const NodeShape& shape);

}  // namespace koord::localcluster
