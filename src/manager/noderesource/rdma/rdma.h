#pragma once
#include "api/device.h"
#include "manager/noderesource/common/node_plan.h"

namespace koord::manager {

// What a node's healthy RDMA devices amount to: 100 each. Null: the node has no devices. Where none
// is healthy the resource goes.
NodePlan PlanRdma(const api::Device* device);

}  // namespace koord::manager
