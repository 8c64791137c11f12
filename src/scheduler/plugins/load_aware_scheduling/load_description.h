#pragma once
#include "kube/json.h"
#include "scheduler/plugins/load_aware_scheduling/node_load.h"

namespace koord::scheduler {

// A node's load as the service API shows it: its pods by age, the sums and who is in them.
kube::Json DescribeLoad(const NodeLoad& load, const LoadResources& tracked);

}  // namespace koord::scheduler
