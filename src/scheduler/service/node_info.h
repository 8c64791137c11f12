#pragma once
#include "kube/json.h"
#include "scheduler/cluster/ledger.h"

namespace koord::scheduler {

// A node as the scheduler sees it: its pods, what they hold and what is left.
kube::Json DescribeNode(const Ledger& ledger, NodeRow row);

}  // namespace koord::scheduler
