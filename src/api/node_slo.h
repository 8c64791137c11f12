#pragma once
#include <optional>
#include <vector>

#include "api/qos_strategy.h"
#include "kube/objects/meta.h"

// What koord-manager asks of koordlet, under the node's name.
namespace koord::api {

struct NodeSloSpec {
  std::optional<ResourceThresholdStrategy> resource_used_threshold_with_be;
  std::optional<ResourceQosStrategy> resource_qos_strategy;
  std::optional<CpuBurstStrategy> cpu_burst_strategy;
  std::optional<SystemStrategy> system_strategy;
  std::vector<HostApplication> host_applications;
  kube::Json extensions;

  static void Fields(auto& self, auto&& field) {
    field("resourceUsedThresholdWithBE", self.resource_used_threshold_with_be);
    field("resourceQOSStrategy", self.resource_qos_strategy);
    field("cpuBurstStrategy", self.cpu_burst_strategy);
    field("systemStrategy", self.system_strategy);
    field("hostApplications", self.host_applications);
    field("extensions", self.extensions);
  }
  bool operator==(const NodeSloSpec&) const = default;
};

struct NodeSlo {
  kube::ObjectMeta metadata;
  NodeSloSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const NodeSlo&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::NodeSloSpec);
KOORD_DECLARE_CODEC(koord::api::NodeSlo);
