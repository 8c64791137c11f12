#pragma once
#include "api/node_metric.h"
#include "manager/config/colocation.h"
#include "manager/controller/companion_controller.h"

namespace koord::manager {

// How a node is to measure and report: as its co-location strategy says, or as the defaults do
// where that makes no sense or co-location is off. Every node reports.
api::NodeMetricSpec NodeMetricSpecOf(const ColocationConfig& config, const kube::Node& node);

// Keeps a NodeMetric for each node, for koordlet to report into. While the configuration is in
// doubt those that exist are left as they are.
class NodeMetricController final : public CompanionController<api::NodeMetric> {
 public:
  NodeMetricController(ManagerContext& context, metrics::Registry& registry);

 private:
  std::optional<api::NodeMetricSpec> SpecFor(const kube::Node& node,
                                             const api::NodeMetric* current) override;

  metrics::Counters& parses_;
};

}  // namespace koord::manager
