#pragma once
#include "api/node_slo.h"
#include "manager/controller/companion_controller.h"

namespace koord::manager {

struct NodeSloResult {
  api::NodeSloSpec spec;
  Status bandwidth = absl::OkStatus();  // of the node's annotation
};

// What is asked of a node: for each part the strategy of the first entry that is for it, or the
// cluster's. The node's annotation decides about its bandwidth; if that is unreadable nothing is
// asked of the system as a whole, rather than something wrong.
NodeSloResult NodeSloOf(const SloConfig& config, const kube::Node& node);

// Keeps a NodeSLO for each node, for koordlet to follow.
class NodeSloController final : public CompanionController<api::NodeSlo> {
 public:
  NodeSloController(ManagerContext& context, metrics::Registry& registry);

 private:
  std::optional<api::NodeSloSpec> SpecFor(const kube::Node& node,
                                          const api::NodeSlo* current) override;

  metrics::Counters& parses_;
};

}  // namespace koord::manager
