#include "manager/nodeslo/node_slo_controller.h"

#include "api/node_annotations.h"
#include "api/resources.h"

namespace koord::manager {

NodeSloResult NodeSloOf(const SloConfig& config, const kube::Node& node) {
  const kube::Labels& labels = node.metadata.labels;
  NodeSloResult result;
  api::NodeSloSpec& spec = result.spec;
  spec.resource_used_threshold_with_be = config.threshold.For(labels);
  spec.resource_qos_strategy = config.resource_qos.For(labels);
  spec.cpu_burst_strategy = config.cpu_burst.For(labels);
  spec.system_strategy = config.system.For(labels);
  spec.host_applications = config.host_applications.For(labels).applications;
  const auto bandwidth = api::NetworkBandwidthOf(node.metadata.annotations);
  result.bandwidth = bandwidth.status();
  if (!bandwidth.ok()) {
    spec.system_strategy.reset();
  } else if (*bandwidth) {
    spec.system_strategy->total_network_bandwidth = **bandwidth;
  }
  return result;
}

NodeSloController::NodeSloController(ManagerContext& context, metrics::Registry& registry)
    : CompanionController(
          "nodeslo-controller", context, context.informers.node_slos, api::kNodeSlos,
          registry.AddCounters("slo_controller_nodeslo_reconcile_count",
                               "the count of reconciliations of NodeSLOs", {"status", "reason"})),
      parses_(registry.AddCounters("slo_controller_nodeslo_spec_parse_count",
                                   "the count of parts of NodeSLOs that were made",
                                   {"status", "reason"})) {}

std::optional<api::NodeSloSpec> NodeSloController::SpecFor(const kube::Node& node,
                                                           const api::NodeSlo* current) {
  const SloConfig* config = this->config();
  if (config == nullptr) return std::nullopt;
  NodeSloResult result = NodeSloOf(*config, node);
  for (const char* part : {"getResourceThresholdSpec", "getResourceQOSSpec",
                           "getCPUBurstConfigSpec", "getHostApplicationConfig"}) {
    parses_.With({"succeeded", part}).Increment();
  }
  parses_.With({result.bandwidth.ok() ? "succeeded" : "failed", "getSystemConfigSpec"}).Increment();
  if (!result.bandwidth.ok()) {
    LOG_WARNING("A node's bandwidth is unreadable", {"node", node.metadata.name},
                {"err", result.bandwidth});
  }
  if (current != nullptr) result.spec.extensions = current->spec.extensions;
  return std::move(result.spec);
}

}  // namespace koord::manager
