#pragma once
#include <optional>
#include <string>

#include "api/qos_strategy.h"
#include "base/status.h"

namespace koord::manager::webhook {

// Where a strategy stands, in the words of the messages about it.
struct NetworkPlace {
  std::string path;          // "ResourceQOSCfg.ClusterStrategy"
  std::string kinds_text;    // "in clusterStrategy"
  std::string percent_text;  // "ClusterStrategy total net bandwidth percentage ..."
  std::string amount_text;   // "total net bandwidth over ..."

  static NetworkPlace Cluster();
  static NetworkPlace Node(size_t index);
};

// Shares of the network that classes ask for: each a percentage or an amount, all of one kind, and
// together no more than there is. `bandwidth` is the node's; zero where it is not known.
Status CheckNetwork(const api::ResourceQosStrategy& strategy, const kube::Quantity& bandwidth,
                    const NetworkPlace& place);

}  // namespace koord::manager::webhook
