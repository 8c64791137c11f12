#pragma once
#include <cstdint>
#include <limits>

#include "kube/objects/node.h"
#include "scheduler/config/load_aware_args.h"
#include "scheduler/plugins/load_aware_scheduling/load_amounts.h"
#include "scheduler/plugins/load_aware_scheduling/node_load.h"

namespace koord::scheduler {

// No amount is too much.
inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// The most of a resource that may be in use so that its share of the capacity, rounded to whole
// percent, is not above the threshold. No limit without a threshold or a capacity.
int64_t LoadLimit(int64_t capacity, int64_t threshold);

// How much of one node may be in use, for one sort of pods.
struct LoadLimits {
  bool active = false;      // some threshold is set
  bool of_prod = false;     // what prod pods use counts, not what the node does
  bool aggregated = false;  // thresholds of a percentile
  UsageKind usage;
  LoadAmounts most;  // by tracked resource

  bool operator==(const LoadLimits&) const = default;
};

// What a node can give and when that is too much: the plugin's arguments, or what the node says
// about itself in annotations. What it says badly is ignored.
struct NodeLimits {
  LoadAmounts capacity;
  LoadLimits others;
  LoadLimits prod;

  bool operator==(const NodeLimits&) const = default;
};

NodeLimits NodeLimitsOf(const kube::Node& node, const LoadAwareSchedulingArgs& args,
                        const LoadResources& tracked);

}  // namespace koord::scheduler
