#pragma once
#include <optional>
#include <string>

#include "api/node_resource_topology.h"
#include "base/status.h"
#include "kube/objects/node.h"
#include "manager/config/node_strategies.h"
#include "manager/config/strategies.h"

namespace koord::manager {

using CpuNormalizationConfig = StrategyTable<CpuNormalizationStrategy>;

// Whether the node's CPUs are normalized: what its label says, or the strategy.
StatusOr<bool> IsNormalizationEnabled(const kube::Node& node, const CpuNormalizationConfig& config);

// How much a CPU of the node is worth, as its annotation says it: "1.10", by the CPU's model and
// whether hyper-threading and turbo are on; "1.00" where CPUs are not normalized. An error where
// nobody can tell; then the node stays as it is.
StatusOr<std::string> NormalizationRatio(const kube::Node& node,
                                         const api::NodeResourceTopology* topology,
                                         const CpuNormalizationConfig& config);

// Whether a node's ratio is so far from the one it should have that it is worth a write.
bool IsNormalizationOutOfDate(const kube::Node& node, const std::string& ratio);

}  // namespace koord::manager
