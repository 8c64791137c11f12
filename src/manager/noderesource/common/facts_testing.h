#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/keys.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "base/virtual_loop.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "manager/noderesource/common/node_plan.h"

// For tests of formulas: objects in a line each.
namespace koord::manager {

inline constexpr WallTime kNow = VirtualLoop::kStart;

inline kube::ResourceList List(const char* cpu, const char* memory) {
  kube::ResourceList list;
  list.emplace("cpu", *kube::Quantity::Parse(cpu));
  list.emplace("memory", *kube::Quantity::Parse(memory));
  return list;
}

inline kube::Node NodeOf(const char* cpu, const char* memory) {
  kube::Node node;
  node.metadata.name = "n";
  node.status.capacity = node.status.allocatable = List(cpu, memory);
  return node;
}

inline void Annotate(kube::Node& node, std::string_view key, std::string value) {
  node.metadata.annotations.insert_or_assign(std::string(key), std::move(value));
}

struct PodTraits {
  std::string qos = {};
  std::string phase = "Running";
  std::optional<int32_t> priority = {};
  const char* cpu = nullptr;  // of each container
  const char* memory = nullptr;
  int containers = 1;
  std::string resource_status = {};
};

inline std::shared_ptr<const kube::Pod> PodOf(std::string name, const PodTraits& traits) {
  auto pod = std::make_shared<kube::Pod>();
  pod->metadata.ns = "default";
  pod->metadata.name = std::move(name);
  if (!traits.qos.empty()) {
    pod->metadata.labels.Mutable().emplace(std::string(api::kLabelQosClass), traits.qos);
  }
  if (!traits.resource_status.empty()) {
    pod->metadata.annotations.emplace(std::string(api::kAnnotationResourceStatus),
                                      traits.resource_status);
  }
  pod->status.phase = traits.phase;
  pod->spec.priority = traits.priority;
  for (int i = 0; i < traits.containers; ++i) {
    kube::Container container;
    if (traits.cpu != nullptr) container.resources.requests = List(traits.cpu, traits.memory);
    pod->spec.containers.Mutable().push_back(std::move(container));
  }
  return pod;
}

inline api::NodeMetric MetricOf(const char* system_cpu, const char* system_memory) {
  api::NodeMetric metric;
  metric.status.update_time = kNow;
  metric.status.node_metric.emplace().system_usage.resources = List(system_cpu, system_memory);
  return metric;
}

inline void AddUsage(api::NodeMetric& metric, std::string pod, const char* cpu, const char* memory,
                     std::string priority = {}) {
  api::PodUsage usage;
  usage.ns = "default";
  usage.name = std::move(pod);
  usage.pod_usage.resources = List(cpu, memory);
  usage.priority = std::move(priority);
  metric.status.pods_metric.push_back(std::move(usage));
}

// One zone for each pair of cpu and memory.
inline api::NodeResourceTopology TopologyOf(
    const std::vector<std::pair<const char*, const char*>>& zones) {
  api::NodeResourceTopology topology;
  for (const auto& [cpu, memory] : zones) {
    api::TopologyZone zone;
    zone.name = "node-" + std::to_string(topology.zones.size());
    for (const auto& [name, amount] : List(cpu, memory)) {
      zone.resources.push_back({name, amount, amount, amount});
    }
    topology.zones.push_back(std::move(zone));
  }
  return topology;
}

// "gone" for what is to be removed, "-" for what is left alone.
inline std::string Text(const NodePlan& plan, std::string_view resource) {
  const auto it = plan.resources.find(resource);
  if (it == plan.resources.end()) return "-";
  return it->second ? it->second->ToString() : "gone";
}

}  // namespace koord::manager
