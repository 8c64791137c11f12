#include "simulation/scheduler/simulation_topology_testing.h"

#include <fmt/format.h>

#include "api/cpu_annotations.h"
#include "api/keys.h"
#include "base/cpu_set.h"
#include "kube/objects/pod_resources.h"

namespace koord::localcluster::simulation {
namespace {

using kube::Json;
using kube::json::array;

constexpr int64_t kNumaNodes = 2;

Json ZoneOf(int64_t numa, int64_t cpus) {
  const auto resource = [](std::string_view name, const std::string& amount) {
    return Json{
        {"name", name}, {"capacity", amount}, {"allocatable", amount}, {"available", amount}};
  };
  return {{"name", fmt::format("node-{}", numa)},
          {"type", "Node"},
          {"resources", array{resource("cpu", std::to_string(cpus)),
                              resource("memory", fmt::format("{}Gi", cpus))}}};
}

struct Held {
  CpuSet cpus;
  std::map<int32_t, kube::Quantity> memory;  // by NUMA node
};

Held HeldBy(const kube::Pod& pod) {
  Held held;
  const auto status = api::ResourceStatusOf(pod.metadata.annotations);
  if (!status.ok() || !*status) return held;
  held.cpus = CpuSet::Parse((*status)->cpuset).value_or(CpuSet());
  for (const api::NumaNodeResource& zone : (*status)->numa_node_resources) {
    held.memory[zone.node] += kube::AmountOf(zone.resources, kube::kMemory);
  }
  return held;
}

}  // namespace

Json TopologyOf(const std::string& node, int64_t cpus) {
  array details, zones;
  const int64_t per_node = cpus / kNumaNodes;
  for (int64_t cpu = 0; cpu < cpus; ++cpu) {
    details.push_back(
        {{"id", cpu}, {"core", cpu / 2}, {"socket", cpu / per_node}, {"node", cpu / per_node}});
  }
  for (int64_t numa = 0; numa < kNumaNodes; ++numa) zones.push_back(ZoneOf(numa, per_node));
  return {
      {"apiVersion", "topology.node.k8s.io/v1alpha1"},
      {"kind", "NodeResourceTopology"},
      {"metadata",
       {{"name", node},
        {"annotations",
         {{api::kAnnotationCpuTopology, kube::Serialize(Json{{"detail", std::move(details)}})}}}}},
      {"topologyPolicies", array{"None"}},
      {"zones", std::move(zones)}};
}

Json KubeletPins(const std::string& cpus) {
  Json pods = nullptr;
  if (!cpus.empty()) {
    pods = kube::Serialize(array{{{"namespace", "default"},
                                  {"name", "static"},
                                  {"uid", "of-the-kubelet"},
                                  {"cpuset", cpus},
                                  {"managedByKubelet", true}}});
  }
  return {{"metadata", {{"annotations", {{api::kAnnotationPodCpuAllocs, std::move(pods)}}}}}};
}

void MakeBound(Json& pod, const std::string& app, int64_t whole) {
  if (app != kPinned && app != kOnCores && app != kAligned) return;
  Json& container = kube::Find(pod, {"spec", "containers"})->get_array().front();
  kube::At(container, {"resources", "requests", "cpu"}) =
      std::to_string(app == kOnCores ? 2 * whole : whole);
  if (app != kAligned) kube::At(pod, {"metadata", "labels", api::kLabelQosClass}) = "LSR";
  if (app == kOnCores) {
    kube::At(pod, {"metadata", "annotations", api::kAnnotationResourceSpec}) =
        R"({"requiredCPUBindPolicy":"FullPCPUs"})";
  }
  if (app == kAligned) {
    kube::At(pod, {"metadata", "annotations", api::kAnnotationNumaTopologySpec}) =
        R"({"numaTopologyPolicy":"SingleNUMANode","singleNUMANodeExclusive":"Preferred"})";
  }
}

std::vector<std::string> WrongHoldings(const kube::Pod& bound,
                                       const std::vector<const kube::Pod*>& others,
                                       int64_t cpus_of_node) {
  std::vector<std::string> wrong;
  const std::string& name = bound.metadata.name;
  const std::string app(kube::ValueOf(bound.metadata.labels, "app"));
  Held all = HeldBy(bound);
  if (app == kPinned || app == kOnCores) {
    const int64_t asked = kube::AmountOf(kube::PodRequests(bound), kube::kCpu).MilliValue() / 1000;
    if (static_cast<int64_t>(all.cpus.size()) != asked) {
      wrong.push_back(
          fmt::format("I3: {} asks for {} CPUs and has {}", name, asked, all.cpus.ToString()));
    }
  } else if (!all.cpus.empty()) {
    wrong.push_back(fmt::format("I3: {} has CPUs and did not ask for any", name));
  }
  if (app == kAligned && all.memory.size() > 1) {
    wrong.push_back(fmt::format("I3: {} is on {} NUMA nodes", name, all.memory.size()));
  }
  for (const kube::Pod* other : others) {
    const Held held = HeldBy(*other);
    const CpuSet both = all.cpus & held.cpus;
    if (!both.empty()) {
      wrong.push_back(
          fmt::format("I3: {} and {} have CPUs {}", name, other->metadata.name, both.ToString()));
    }
    for (const auto& [numa, memory] : held.memory) {
      if (all.memory.contains(numa)) all.memory[numa] += memory;
    }
  }
  const auto of_zone =
      kube::Quantity::Parse(fmt::format("{}Gi", cpus_of_node / kNumaNodes)).value();
  for (const auto& [numa, memory] : all.memory) {
    if (memory <= of_zone) continue;
    wrong.push_back(fmt::format("I2: NUMA node {} of {} is over-committed by {}: {}", numa,
                                bound.spec.node_name, name, memory.ToString()));
  }
  return wrong;
}

}  // namespace koord::localcluster::simulation
