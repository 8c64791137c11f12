#include "manager/noderesource/node_resource_controller.h"

#include <fmt/format.h>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/api_error.h"
#include "kube/resources.h"

namespace koord::manager {
namespace {

using kube::Json;
namespace json = kube::json;

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
    : NodeController(context),
      options_(options),
      node_writes_(context.clock()),
      topology_writes_(context.clock()),
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
  const ManagerInformers& informers = context().informers;
  const kube::ObjectKey key{"", node.metadata.name};
  return {.node = node,
          .pods = informers.pods.ByIndex(ManagerInformers::kByNode, node.metadata.name),
          .metric = informers.node_metrics.Get(key).get(),
          .topology = informers.topologies.Get(key).get(),
          .device = informers.devices.Get(key).get(),
          .now = context().clock().Now()};
}

std::optional<NodeDecision> NodeResourceController::Decide(const std::string& name) {
  const auto node = informers().nodes.Get({"", name});
  const SloConfig* config = context().config.config();
  if (node == nullptr || config == nullptr || !config->colocation) return std::nullopt;
  return DecideNode(FactsOf(*node), *config, options_);
}

StatusOr<ResourceExplanation> NodeResourceController::Explain(const std::string& name,
                                                              std::string_view resource) {
  const auto node = informers().nodes.Get({"", name});
  if (node == nullptr) return NotFound("cannot find node {}", name);
  const SloConfig* config = context().config.config();
  if (config == nullptr || !config->colocation) {
    return FailedPrecondition(
        "there is no readable colocation-config; the events of the ConfigMap say what is wrong "
        "with "
        "it, and so does 'koord validate -f'");
  }
  return ExplainResource(FactsOf(*node), *config, options_, resource);
}

void NodeResourceController::Reconcile(const std::string& name, kube::WorkQueue::Finish done) {
  const kube::ObjectKey key{"", name};
  const auto round = std::make_shared<Round>();
  round->name = name;
  round->node = informers().nodes.Get(key);
  round->topology = informers().topologies.Get(key);
  round->done = std::move(done);
  if (round->node == nullptr) {
    Forget(name);
    Count(false, "reconcileNodeNotFound");
    return round->done(true);
  }
  if (const auto wait = AwaitOwnWrites(*round)) {
    EnqueueAfter(name, *wait);
    return round->done(true);
  }
  auto decision = Decide(name);
  if (!decision) return round->done(true);
  round->decision = *std::move(decision);
  for (const NodeDecision::Failure& failure : round->decision.failures) {
    plugins_.With({failure.plugin, "failed", "ResourceCalculate"}).Increment();
    LOG_V(4, "Could not decide about a node's resources", {"node", name},
          {"plugin", failure.plugin}, {"err", failure.why});
  }
  Measure(*round);
  ComeBackWhenStale(*round);
  WriteZones(round);
}

std::optional<Duration> NodeResourceController::AwaitOwnWrites(const Round& round) {
  const auto version = [](const auto& object) {
    return object != nullptr ? std::string_view(object->metadata.resource_version) : "";
  };
  if (const auto wait = node_writes_.Wait(round.name, version(round.node))) return wait;
  return topology_writes_.Wait(round.name, version(round.topology));
}

void NodeResourceController::WriteZones(const RoundPtr& round) {
  if (!round->decision.zones) return WriteNode(round);
  context().client.Patch(api::kNodeResourceTopologies, {"", round->name}, kube::PatchType::kJson,
                         ZonesPatch(*round->topology, *round->decision.zones), {},
                         scope().Wrap([this, round](StatusOr<Json> answer) {
                           Count(answer.ok(), "updateNodeResourceTopology");
                           if (answer.ok()) topology_writes_.Remember(round->name, *answer);
                           round->failed |= !answer.ok() && !kube::IsNotFound(answer.status());
                           WriteNode(round);
                         }));
}

void NodeResourceController::WriteNode(const RoundPtr& round) {
  const ColocationStrategy& strategy = round->decision.colocation.strategy;
  const auto synced = synced_.find(round->name);
  const SteadyTime now = context().clock().Steady();
  const bool due = synced == synced_.end() || now - synced->second > UpdateTimeThreshold(strategy);
  const NodeSync sync =
      DecideSync(*round->node, round->decision.plan, DiffThreshold(strategy), due);
  Json patch = NodePatch(*round->node, round->decision.plan, sync);
  if (patch.as_object().empty()) return Finish(round, sync.status);
  const bool has_status = patch.as_object().contains("status");
  // Not onto another node of the same name.
  kube::At(patch, {"metadata", "uid"}) = round->node->metadata.uid;
  context().client.Patch(kube::kNodes, {"", round->name}, kube::PatchType::kMerge, patch,
                         {.subresource = has_status ? "status" : ""},
                         scope().Wrap([this, round, sync, has_status](StatusOr<Json> answer) {
                           Count(answer.ok(), has_status ? "updateNodeStatus" : "patchNodeMeta");
                           const bool gone = kube::IsNotFound(answer.status());
                           if (answer.ok()) node_writes_.Remember(round->name, *answer);
                           if (!answer.ok() && !gone) {
                             round->failed = true;
                             LOG_WARNING("Could not write a node's resources",
                                         {"node", round->name}, {"err", answer.status()});
                           }
                           Finish(round, sync.status && answer.ok());
                         }));
}

void NodeResourceController::Finish(const RoundPtr& round, bool synced) {
  if (synced) synced_[round->name] = context().clock().Steady();
  round->done(!round->failed);
}

// What a node lends rests on its last report; when that is too old, nobody else tells us.
void NodeResourceController::ComeBackWhenStale(const Round& round) {
  if (!round.decision.batch && !round.decision.mid) return;
  const auto metric = informers().node_metrics.Get({"", round.name});
  if (metric == nullptr || !metric->status.update_time) return;
  const Duration left = *metric->status.update_time +
                        DegradeTime(round.decision.colocation.strategy) - context().clock().Now();
  if (left >= Duration::zero()) EnqueueAfter(round.name, left + 1ms);
}

void NodeResourceController::Measure(const Round& round) {
  const auto set = [&](const PublishedAmount& amount, double value) {
    amounts_.With({round.name, amount.resource, amount.unit}).Set(value);
  };
  if (const auto& batch = round.decision.batch) {
    set(kBatchCpuAmount, batch->node.result.cpu.ToDouble());
    set(kBatchMemoryAmount, batch->node.result.memory.ToDouble());
  }
  if (const auto& mid = round.decision.mid) {
    set(kMidCpuAmount, static_cast<double>(mid->node.result.cpu.MilliValue()));
    set(kMidMemoryAmount, mid->node.result.memory.ToDouble());
  }
}

void NodeResourceController::Count(bool ok, std::string_view reason) {
  counts_.With({ok ? "succeeded" : "failed", reason}).Increment();
}

void NodeResourceController::Forget(const std::string& name) {
  node_writes_.Forget(name);
  topology_writes_.Forget(name);
  synced_.erase(name);
  for (const PublishedAmount& amount : kAmounts) {
    amounts_.Remove({name, amount.resource, amount.unit});
  }
}

}  // namespace koord::manager
