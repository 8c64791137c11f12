#pragma once
#include "kube/json.h"
#include "scheduler/books/cpu_book.h"
#include "scheduler/plugins/node_numa_resource/node_rules.h"

namespace koord::scheduler {

// A node's CPUs and NUMA nodes as the service API shows them: what there is, who holds what, what
// is left. Of a node with a valid topology.
kube::Json DescribeNode(NodeRow at, const CpuBook::Row& row, const NodeRules& rules,
                        const NodeTable& nodes, const ResourceNames& names);

}  // namespace koord::scheduler
