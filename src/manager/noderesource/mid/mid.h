#pragma once
#include <optional>
#include <string>

#include "manager/config/strategies.h"
#include "manager/noderesource/common/node_facts.h"
#include "manager/noderesource/common/node_plan.h"

namespace koord::manager {

// Every term of the formula of mid resources.
//
// What production pods have asked for and, as koordlet predicts, will not use is lent to mid pods,
// and a share of what nobody has asked for; or, in static mode, simply a share of the node.
struct MidTerms {
  bool is_static = false;
  CpuMemory capacity;
  CpuMemory system;          // used or reserved, the larger
  CpuMemory allocated;       // to production pods
  CpuMemory unallocated;     // to anybody
  CpuMemory reclaimable;     // as predicted
  CpuMemory unused;          // as measured
  CpuMemory base;            // the smaller of these two, or the static share
  CpuMemory of_unallocated;  // the share of it
  CpuMemory cap;
  CpuMemory result;
};

struct MidInput {
  const kube::Node& node;
  const api::NodeMetric* metric = nullptr;
  const NodePods& pods;
  const ColocationStrategy& strategy;
  WallTime now;
};

struct MidResult {
  std::optional<std::string> degraded;  // why nothing can be lent; nothing: the rest holds
  MidTerms node;
};

MidResult CalculateMid(const MidInput& input);

// What the node gets: mid-cpu in milli-cores. Without a result both go.
NodePlan PlanMid(const MidResult& result);

}  // namespace koord::manager
