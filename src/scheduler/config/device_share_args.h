#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/config/node_resources_args.h"

namespace koord::scheduler {

// Where the shares of cards are listed that a vendor sells by name.
struct GpuSharedResourceTemplates {
  std::string config_map_namespace;
  std::string config_map_name;
  // Shares that ask for one of these must be one of those.
  std::vector<std::string> matched_resources;

  static void Fields(auto& self, auto&& field) {
    field("configMapNamespace", self.config_map_namespace);
    field("configMapName", self.config_map_name);
    field("matchedResources", self.matched_resources);
  }
  bool operator==(const GpuSharedResourceTemplates&) const = default;
};

struct GpuKind {
  std::string vendor;
  std::string model;

  static void Fields(auto& self, auto&& field) {
    field("vendor", self.vendor);
    field("model", self.model);
  }
  bool operator==(const GpuKind&) const = default;
};

struct DeviceShareArgs {
  static constexpr std::string_view kPlugin = "DeviceShare";

  std::string allocator;  // of earlier releases; there is one
  std::optional<ScoringStrategy> scoring_strategy;
  bool disable_device_numa_topology_alignment = false;
  std::optional<GpuSharedResourceTemplates> gpu_shared_resource_templates_config;
  std::vector<GpuKind> gpu_share_unsupported_models;

  static void Fields(auto& self, auto&& field) {
    field("allocator", self.allocator);
    field("scoringStrategy", self.scoring_strategy);
    field("disableDeviceNUMATopologyAlignment", self.disable_device_numa_topology_alignment);
    field("gpuSharedResourceTemplatesConfig", self.gpu_shared_resource_templates_config);
    field("gpuShareUnsupportedModels", self.gpu_share_unsupported_models);
  }
  bool operator==(const DeviceShareArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;
};

}  // namespace koord::scheduler
