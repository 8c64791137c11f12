#pragma once
#include <string_view>

#include "api/node_slo.h"
#include "koordlet/states/complaints.h"

namespace koord::koordlet {

// What holds on a node about which the NodeSLO says nothing.
const api::NodeSloSpec& DefaultNodeSlo();

// What holds for a class whose block is switched off: as if it were not there.
const api::CpuQos& CpuQosNone();
const api::ResctrlQos& ResctrlQosNone();
const api::MemoryQos& MemoryQosNone();

// The default of a pod's class, whatever the node says.
const api::MemoryQos& DefaultMemoryQos(std::string_view class_name);  // "LSR", "LS", "BE", "SYSTEM"

// What the NodeSLO says over the defaults, and nothing of blocks that are switched off. A number
// that makes no sense is left out, so that its default holds, and the rest of the object counts;
// it is logged once for `object`.
api::NodeSloSpec MergeNodeSlo(const api::NodeSloSpec& spec, std::string_view object,
                              Complaints& complaints);
api::NodeSloSpec MergeNodeSlo(const api::NodeSloSpec& spec);

}  // namespace koord::koordlet
