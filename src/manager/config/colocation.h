#pragma once
#include <map>
#include <string>
#include <string_view>

#include "kube/objects/node.h"
#include "manager/config/slo_config.h"

namespace koord::manager {

// How one node is co-located.
struct NodeColocation {
  ColocationStrategy strategy;
  bool enabled = false;
};

// The cluster's strategy; over it that of the first entry that is for the node, then what the
// node's own annotation says, then the ratios of its labels. A node may opt out where the cluster
// takes part, but not the other way round.
NodeColocation ColocationOf(const ColocationConfig& config, const kube::Node& node);

// Where each member of the node's strategy comes from, by the member's name: "default",
// "colocation-config, cluster", "colocation-config, nodeConfigs[0] "pool-a"", "annotation ...",
// "label node.koordinator.sh/cpu-reclaim-ratio".
using StrategySources = std::map<std::string, std::string, std::less<>>;
StrategySources ColocationSourcesOf(const ColocationConfig& config, const kube::Node& node);

}  // namespace koord::manager
