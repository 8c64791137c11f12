#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_resource_topology.h"
#include "manager/config/strategies.h"
#include "manager/noderesource/common/node_facts.h"
#include "manager/noderesource/common/node_plan.h"

namespace koord::manager {

// Every term of the formula of batch resources, of a node or of one of its NUMA zones.
//
// What latency-sensitive pods leave of a node is lent to batch pods: the node's capacity, less a
// margin that is never lent, less what the system needs, less what the pods above batch use, have
// asked for, or the more of both, as the policy of each resource says.
struct BatchTerms {
  CpuMemory capacity;
  CpuMemory margin;  // negative where more than everything is lent
  CpuMemory reserved;
  CpuMemory system_used;  // with host applications above batch
  CpuMemory system;       // the larger of these two
  CpuMemory hp_used, hp_request, hp_max;
  CpuMemory by_usage, by_request, by_max;
  std::optional<kube::Quantity> cpu_cap, memory_cap;
  std::string_view cpu_policy, memory_policy;
  CpuMemory result;
};

struct BatchInput {
  const kube::Node& node;
  const api::NodeMetric* metric = nullptr;
  const NodePods& pods;
  const api::NodeResourceTopology* topology = nullptr;
  const ColocationStrategy& strategy;
  WallTime now;
};

struct BatchResult {
  std::optional<std::string> degraded;  // why nothing can be lent; nothing: the rest holds
  NodeReserved reserved;
  BatchTerms node;
  std::vector<BatchTerms> zones;  // in the order of the topology's; none: it says nothing of them
};

BatchResult CalculateBatch(const BatchInput& input);

// What the node gets: batch-cpu in milli-cores, worth `cpu_ratio` each where that is above 1, less
// what third parties hold of it. Without a result both go. An error says that third parties'
// annotation is unreadable: then nothing may change, since they may hold any of it.
StatusOr<NodePlan> PlanBatch(const BatchResult& result, const kube::Node& node,
                             std::optional<double> cpu_ratio);

// The zones with their batch resources; those that differ by no more than the threshold stay, and
// so do all where there is no result. Nothing if nothing changes.
std::optional<std::vector<api::TopologyZone>> PlanZones(const BatchResult& result,
                                                        const api::NodeResourceTopology& topology,
                                                        std::optional<double> cpu_ratio,
                                                        double diff_threshold);

// Whether any zone says how much cpu or memory it has.
bool HasZoneResources(const api::NodeResourceTopology& topology);

}  // namespace koord::manager
