#include "manager/noderesource/node_resource_controller.h"

#include <fmt/format.h>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/controller/indexes.h"
#include "kube/resources.h"

namespace koord::manager {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr char kName[] = "noderesource-controller";
// Four amounts a node; beyond that nodes share a series.
constexpr size_t kMostAmounts = 100'000;

struct PublishedAmount {
  std::string_view resource;
  std::string_view unit;
};
constexpr PublishedAmount kBatchCpuAmount{api::kBatchCpu, "integer"};
constexpr PublishedAmount kBatchMemoryAmount{api::kBatchMemory, "byte"};
constexpr PublishedAmount kMidCpuAmount{api::kMidCpu, "integer"};
constexpr PublishedAmount kMidMemoryAmount{api::kMidMemory, "byte"};
constexpr PublishedAmount kAmounts[] = {kBatchCpuAmount, kBatchMemoryAmount, kMidCpuAmount,
                                        kMidMemoryAmount};

bool SameCpuMemory(const api::NodeResourceTopology& a, const api::NodeResourceTopology& b) {
  const auto amounts = [](const api::NodeResourceTopology& topology) {
    std::vector<std::pair<std::string, kube::Quantity>> all;
    for (const api::TopologyZone& zone : topology.zones) {
      for (const api::ZoneResource& resource : zone.resources) {
        if (resource.name != kube::kCpu && resource.name != kube::kMemory) continue;
        all.emplace_back(zone.name + "/" + resource.name, resource.allocatable);
      }
    }
    return all;
  };
  return amounts(a) == amounts(b);
}

bool IsOfInterest(const api::NodeResourceTopology* before, const api::NodeResourceTopology* after) {
  if (before == nullptr || after == nullptr) return true;
  const auto cpu_info = [](const api::NodeResourceTopology& topology) {
    return kube::ValueOf(topology.metadata.annotations, api::kAnnotationCpuBasicInfo);
  };
  return cpu_info(*before) != cpu_info(*after) || !SameCpuMemory(*before, *after);
}

// Only the resources of zones that change, and only if nobody else has written in the meantime.
Json ZonesPatch(const api::NodeResourceTopology& topology,
                const std::vector<api::TopologyZone>& zones) {
  json::array patch;
  patch.push_back({{"op", "replace"},
                   {"path", "/metadata/resourceVersion"},
                   {"value", topology.metadata.resource_version}});
  for (size_t i = 0; i < zones.size(); ++i) {
    if (zones[i].resources == topology.zones[i].resources) continue;
    patch.push_back({{"op", "add"},
                     {"path", fmt::format("/zones/{}/resources", i)},
                     {"value", kube::Encode(zones[i].resources)}});
  }
  return patch;
}

}  // namespace

NodeResourceController::NodeResourceController(ManagerContext& context, NodeResourceOptions options,
                                               metrics::Registry& registry)
    : NodeController(kName, context),
      options_(options),
      problems_(context.recorders.For(kName)),
      counts_(registry.AddCounters("slo_controller_node_resource_reconcile_count",
                                   "the count of reconciliations of node resources",
                                   {"status", "reason"})),
      plugins_(registry.AddCounters("slo_controller_node_resource_run_plugin_status",
                                    "the results of plugins of node resources",
                                    {"plugin", "status", "reason"})),
      amounts_(registry.AddGauges("slo_controller_node_extended_resource_allocatable_internal",
                                  "the calculated amounts of extended resources",
                                  {"node", "resource", "unit"}, kMostAmounts)) {
  const auto enqueue = [this](const auto& before, const auto& after) {
    Enqueue((after != nullptr ? after : before)->metadata.name);
  };
  Watch(informers().nodes, enqueue);
  Watch(informers().devices, [enqueue](const auto& before, const auto& after) {
    const bool same = before != nullptr && after != nullptr && before->spec == after->spec &&
                      before->metadata.labels == after->metadata.labels;
    if (!same) enqueue(before, after);
  });
  Watch(informers().node_metrics, [this, enqueue](const auto& before, const auto& after) {
    if (after == nullptr) synced_.erase(before->metadata.name);
    const bool same = before != nullptr && after != nullptr && before->status == after->status;
    if (!same) enqueue(before, after);
  });
  Watch(informers().topologies, [enqueue](const auto& before, const auto& after) {
    if (IsOfInterest(before.get(), after.get())) enqueue(before, after);
  });
}

NodeFacts NodeResourceController::FactsOf(const kube::Node& node) const {
  const kube::ObjectKey key{"", node.metadata.name};
  return {.node = node,
          .pods = informers().pods.ByIndex(kube::kByNode, node.metadata.name),
          .metric = informers().node_metrics.Get(key).get(),
          .topology = informers().topologies.Get(key).get(),
          .device = informers().devices.Get(key).get(),
          .now = Now()};
}

StatusOr<ResourceExplanation> NodeResourceController::Explain(const std::string& name,
                                                              std::string_view resource) {
  const auto node = informers().nodes.Get({"", name});
  if (node == nullptr) return NotFound("cannot find node {}", name);
  const SloConfig* config = this->config();
  if (config == nullptr || !config->colocation) {
    return FailedPrecondition(
        "there is no readable colocation-config; the events of the ConfigMap say what is wrong "
        "with "
        "it, and so does 'koord validate -f'");
  }
  return ExplainResource(FactsOf(*node), *config, options_, resource);
}

kube::Plan NodeResourceController::Decide(const std::string& name) {
  const auto node = informers().nodes.Get({"", name});
  if (node == nullptr) {
    Forget(name);
    Count(false, "reconcileNodeNotFound");
    return {};
  }
  const SloConfig* config = this->config();
  if (config == nullptr || !config->colocation) return {};
  const NodeDecision decision = DecideNode(FactsOf(*node), *config, options_);
  for (const NodeDecision::Failure& failure : decision.failures) {
    plugins_.With({failure.plugin, "failed", "ResourceCalculate"}).Increment();
  }
  problems_.Set(*node, decision.failures);
  Measure(name, decision);
  return PlanFor(*node, decision);
}

kube::Plan NodeResourceController::PlanFor(const kube::Node& node, const NodeDecision& decision) {
  const std::string& name = node.metadata.name;
  kube::Plan plan;
  plan.Add(WriteZones(informers().topologies.Get({"", name}).get(), decision));
  plan.Add(WriteNode(node, decision));
  // What a node lends rests on its last report; when that is too old, nobody else tells us.
  plan.again = UntilStale(name, decision);
  return plan;
}

std::optional<kube::Write> NodeResourceController::WriteZones(
    const api::NodeResourceTopology* topology, const NodeDecision& decision) {
  if (!decision.zones) return std::nullopt;
  kube::Write write = JsonPatch(api::kNodeResourceTopologies, topology->metadata,
                                ZonesPatch(*topology, *decision.zones));
  write.independent = true;
  return write;
}

std::optional<kube::Write> NodeResourceController::WriteNode(const kube::Node& node,
                                                             const NodeDecision& decision) {
  const std::string& name = node.metadata.name;
  const ColocationStrategy& strategy = decision.colocation.strategy;
  const auto synced = synced_.find(name);
  const SteadyTime now = clock().Steady();
  const bool due = synced == synced_.end() || now - synced->second > UpdateTimeThreshold(strategy);
  const NodeSync sync = DecideSync(node, decision.plan, DiffThreshold(strategy), due);
  Json patch = NodePatch(node, decision.plan, sync);
  syncing_.erase(name);
  if (patch.as_object().empty()) {
    if (sync.status) synced_[name] = now;
    return std::nullopt;
  }
  if (sync.status) syncing_.insert(name);
  const bool has_status = IsPatchOfStatus(patch);
  // Not onto another node of the same name.
  kube::At(patch, {"metadata", "uid"}) = node.metadata.uid;
  kube::Write write = MergePatch(kube::kNodes, node.metadata, std::move(patch));
  if (has_status) write.subresource = "status";
  return write;
}

void NodeResourceController::OnWritten(const std::string& name, const kube::Write& write,
                                       const Json& answer) {
  const bool is_gone = answer.is_null();
  CountWrite(write, !is_gone);
  if (write.resource != kube::kNodes) return;
  if (syncing_.erase(name) > 0 && !is_gone) synced_[name] = clock().Steady();
}

void NodeResourceController::OnRefused(const std::string& name, const kube::Write& write,
                                       const Status& status) {
  CountWrite(write, false);
  if (write.resource != kube::kNodes) return;
  LOG_WARNING("Could not write a node's resources", {"node", name}, {"err", status});
}

void NodeResourceController::CountWrite(const kube::Write& write, bool ok) {
  if (write.resource != kube::kNodes) return Count(ok, "updateNodeResourceTopology");
  Count(ok, write.subresource.empty() ? "patchNodeMeta" : "updateNodeStatus");
}

std::optional<Duration> NodeResourceController::UntilStale(const std::string& name,
                                                           const NodeDecision& decision) const {
  if (!decision.batch && !decision.mid) return std::nullopt;
  const auto metric = informers().node_metrics.Get({"", name});
  if (metric == nullptr || !metric->status.update_time) return std::nullopt;
  const Duration left =
      *metric->status.update_time + DegradeTime(decision.colocation.strategy) - Now();
  if (left < Duration::zero()) return std::nullopt;
  return left + 1ms;
}

void NodeResourceController::Measure(const std::string& name, const NodeDecision& decision) {
  const auto set = [&](const PublishedAmount& amount, double value) {
    amounts_.With({name, amount.resource, amount.unit}).Set(value);
  };
  if (const auto& batch = decision.batch) {
    set(kBatchCpuAmount, batch->node.result.cpu.ToDouble());
    set(kBatchMemoryAmount, batch->node.result.memory.ToDouble());
  }
  if (const auto& mid = decision.mid) {
    set(kMidCpuAmount, static_cast<double>(mid->node.result.cpu.MilliValue()));
    set(kMidMemoryAmount, mid->node.result.memory.ToDouble());
  }
}

void NodeResourceController::Count(bool ok, std::string_view reason) {
  counts_.With({ok ? "succeeded" : "failed", reason}).Increment();
}

void NodeResourceController::Forget(const std::string& name) {
  synced_.erase(name);
  syncing_.erase(name);
  problems_.Forget(name);
  for (const PublishedAmount& amount : kAmounts) {
    amounts_.Remove({name, amount.resource, amount.unit});
  }
}

}  // namespace koord::manager
