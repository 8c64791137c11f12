#include "manager/nodemetric/node_metric_controller.h"

#include "api/resources.h"

namespace koord::manager {

api::NodeMetricSpec NodeMetricSpecOf(const ColocationConfig& config, const kube::Node& node) {
  NodeColocation colocation = ColocationOf(config, node);
  if (!colocation.enabled || !Validate(colocation.strategy).ok()) {
    colocation.strategy = DefaultColocationStrategy();
  }
  const ColocationStrategy& strategy = colocation.strategy;
  api::NodeMetricSpec spec;
  spec.metric_collect_policy = {
      .aggregate_duration_seconds = strategy.metric_aggregate_duration_seconds,
      .report_interval_seconds = strategy.metric_report_interval_seconds,
      .node_aggregate_policy = strategy.metric_aggregate_policy,
      .node_memory_collect_policy = strategy.metric_memory_collect_policy};
  return spec;
}

NodeMetricController::NodeMetricController(ManagerContext& context, metrics::Registry& registry)
    : CompanionController("nodemetric-controller", context, context.informers.node_metrics,
                          api::kNodeMetrics,
                          registry.AddCounters("slo_controller_nodemetric_reconcile_count",
                                               "the count of reconciliations of NodeMetrics",
                                               {"status", "reason"})),
      parses_(registry.AddCounters("slo_controller_nodemetric_spec_parse_count",
                                   "the count of specs of NodeMetrics that were made",
                                   {"status", "reason"})) {}

std::optional<api::NodeMetricSpec> NodeMetricController::SpecFor(const kube::Node& node,
                                                                 const api::NodeMetric* current) {
  const SloConfig* config = this->config();
  const bool readable = config != nullptr && config->colocation;
  parses_.With({readable ? "succeeded" : "failed", "getNodeMetricCollectPolicy"}).Increment();
  if (!readable) return std::nullopt;
  if (config->colocation_in_doubt && current != nullptr) return std::nullopt;
  return NodeMetricSpecOf(*config->colocation, node);
}

}  // namespace koord::manager
