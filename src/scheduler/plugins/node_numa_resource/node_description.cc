#include "scheduler/plugins/node_numa_resource/node_description.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

using kube::Json;
namespace json = kube::json;

std::string_view ToText(model::CpuExclusivePolicy policy) {
  switch (policy) {
    case model::CpuExclusivePolicy::kPcpuLevel:
      return "PCPULevel";
    case model::CpuExclusivePolicy::kNumaNodeLevel:
      return "NUMANodeLevel";
    default:
      return "";
  }
}

model::CpuExclusivePolicy PolicyOf(int32_t cpu, const model::CpuOccupancy& occupancy) {
  if (occupancy.pcpu_exclusive.held().Contains(cpu)) return model::CpuExclusivePolicy::kPcpuLevel;
  if (occupancy.numa_exclusive.held().Contains(cpu)) {
    return model::CpuExclusivePolicy::kNumaNodeLevel;
  }
  return model::CpuExclusivePolicy::kNone;
}

Json CpusToJson(const CpuBook::Row& row) {
  const model::CpuTopology& cpus = *row.topology->cpus;
  json::object details;
  for (const model::Processor& each : cpus.processors()) {
    details[std::to_string(each.cpu)] =
        json::object{{"cpuID", each.cpu},
                     {"coreID", each.core},
                     {"nodeID", each.node},
                     {"socketID", each.socket},
                     {"refCount", row.occupancy.holders.CountOf(each.cpu)},
                     {"exclusivePolicy", ToText(PolicyOf(each.cpu, row.occupancy))}};
  }
  return json::object{{"numCPUs", cpus.cpus().size()},
                      {"numCores", cpus.core_count()},
                      {"numNodes", cpus.node_count()},
                      {"numSockets", cpus.socket_count()},
                      {"cpuDetails", std::move(details)}};
}

// Milli-cores of cpu, whole units of all else.
Json AmountsToJson(const ResourceAmounts& amounts, const ResourceNames& names) {
  json::object object;
  for (const ResourceAmount& each : amounts) {
    object[names.NameOf(each.id)] = each.id == kCpuId
                                        ? kube::Quantity::FromMilli(each.amount).ToString()
                                        : kube::Quantity(each.amount).ToString();
  }
  return object;
}

Json ZonesToJson(const std::vector<Holdings::Zone>& zones, const ResourceNames& names) {
  json::array array;
  for (const Holdings::Zone& zone : zones) {
    array.push_back(
        json::object{{"node", zone.numa_node}, {"resources", AmountsToJson(zone.amounts, names)}});
  }
  return array;
}

std::vector<Holdings::Zone> Remaining(const CpuBook::Row& row) {
  std::vector<Holdings::Zone> zones = row.topology->zones;
  for (Holdings::Zone& zone : zones) {
    const auto held = std::ranges::find(row.held, zone.numa_node, &Holdings::Zone::numa_node);
    if (held != row.held.end()) AddTo(zone.amounts, held->amounts, -1);
  }
  return zones;
}

}  // namespace

Json DescribeNode(NodeRow at, const CpuBook::Row& row, const NodeRules& rules,
                  const NodeTable& nodes, const ResourceNames& names) {
  json::array pods;
  for (const PodInfo* pod : nodes.pods(at)) {
    if (pod->held == nullptr) continue;
    if (pod->held->cpus.empty() && pod->held->zones.empty()) continue;
    json::object described{{"namespace", pod->pod->metadata.ns},
                           {"name", pod->pod->metadata.name},
                           {"uid", pod->uid()},
                           {"cpuset", pod->held->cpus.ToString()},
                           {"numaNodeResources", ZonesToJson(pod->held->zones, names)}};
    if (pod->held->reserves) described["reservation"] = pod->held->reserves->name;
    if (pod->held->draws_from) described["drawsFrom"] = pod->held->draws_from->name;
    pods.push_back(std::move(described));
  }
  json::object ratios;
  for (const auto& [name, ratio] : row.topology->ratios.value_or(api::AmplificationRatios())) {
    ratios[name] = ratio;
  }
  return json::object{{"name", nodes.name(at)},
                      {"cpuTopology", CpusToJson(row)},
                      {"reservedCPUs", row.topology->reserved.ToString()},
                      {"maxRefCount", row.occupancy.max_holders},
                      {"policy", row.topology->kubelet.policy},
                      {"numaTopologyPolicy", model::ToString(rules.policy)},
                      {"numaNodeResources", ZonesToJson(row.topology->zones, names)},
                      {"amplificationRatios", std::move(ratios)},
                      {"remainingNUMANodeResources", ZonesToJson(Remaining(row), names)},
                      {"allocatedNUMANodeResources", ZonesToJson(row.held, names)},
                      {"availableCPUs", row.FreeCpus().ToString()},
                      {"allocatedCPUs", row.occupancy.holders.held().ToString()},
                      {"allocatedPods", std::move(pods)}};
}

}  // namespace koord::scheduler
