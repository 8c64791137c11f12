#pragma once
#include "api/device.h"
#include "manager/noderesource/common/node_plan.h"

namespace koord::manager {

// What a node's healthy GPUs amount to, and the labels that say what they are, under their current
// and their older names. Null: the node has no devices. Where no GPU is healthy the resources go;
// labels never do.
NodePlan PlanGpu(const api::Device* device, bool share_gpus);

}  // namespace koord::manager
