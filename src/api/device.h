#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"

// The devices of a node, under the node's name.
namespace koord::api {

inline constexpr std::string_view kDeviceGpu = "gpu";
inline constexpr std::string_view kDeviceFpga = "fpga";
inline constexpr std::string_view kDeviceRdma = "rdma";
inline constexpr std::string_view kDeviceConditionHealthy = "Healthy";

struct DeviceTopology {
  int32_t socket_id = 0;
  int32_t node_id = 0;  // the NUMA node, counted over all sockets
  std::string pcie_id;  // unique over all NUMA nodes
  std::string bus_id;   // domain:bus:device.function

  static void Fields(auto& self, auto&& field) {
    field("socketID", kube::Always(self.socket_id));
    field("nodeID", kube::Always(self.node_id));
    field("pcieID", kube::Always(self.pcie_id));
    field("busID", self.bus_id);
  }
  bool operator==(const DeviceTopology&) const = default;
};

struct VirtualFunction {
  int32_t minor = 0;
  std::string bus_id;

  static void Fields(auto& self, auto&& field) {
    field("minor", kube::Always(self.minor));
    field("busID", self.bus_id);
  }
  bool operator==(const VirtualFunction&) const = default;
};

struct VirtualFunctionGroup {
  kube::Labels labels;
  std::vector<VirtualFunction> vfs;

  static void Fields(auto& self, auto&& field) {
    field("labels", self.labels);
    field("vfs", self.vfs);
  }
  bool operator==(const VirtualFunctionGroup&) const = default;
};

struct DeviceInfo {
  std::string type;
  kube::Labels labels;
  std::string id;
  std::optional<int32_t> minor;
  std::optional<int32_t> module_id;
  bool health = false;
  kube::ResourceList resources;
  std::optional<DeviceTopology> topology;
  std::vector<VirtualFunctionGroup> vf_groups;
  std::vector<kube::Condition> conditions;

  static void Fields(auto& self, auto&& field) {
    field("type", self.type);
    field("labels", self.labels);
    field("id", self.id);
    field("minor", self.minor);
    field("moduleID", self.module_id);
    field("health", kube::Always(self.health));
    field("resources", self.resources);
    field("topology", self.topology);
    field("vfGroups", self.vf_groups);
    field("conditions", self.conditions);
  }
  bool operator==(const DeviceInfo&) const = default;
};

struct DeviceSpec {
  std::vector<DeviceInfo> devices;

  static void Fields(auto& self, auto&& field) { field("devices", self.devices); }
  bool operator==(const DeviceSpec&) const = default;
};

struct DeviceAllocationEntry {
  std::string name;
  std::string ns;
  std::string uuid;
  std::vector<int32_t> minors;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("namespace", self.ns);
    field("uuid", self.uuid);
    field("minors", self.minors);
  }
  bool operator==(const DeviceAllocationEntry&) const = default;
};

struct DeviceTypeAllocations {
  std::string type;
  std::vector<DeviceAllocationEntry> entries;

  static void Fields(auto& self, auto&& field) {
    field("type", self.type);
    field("entries", self.entries);
  }
  bool operator==(const DeviceTypeAllocations&) const = default;
};

struct DeviceStatus {
  std::vector<DeviceTypeAllocations> allocations;

  static void Fields(auto& self, auto&& field) { field("allocations", self.allocations); }
  bool operator==(const DeviceStatus&) const = default;
};

struct Device {
  kube::ObjectMeta metadata;
  DeviceSpec spec;
  DeviceStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const Device&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::DeviceInfo);
KOORD_DECLARE_CODEC(koord::api::Device);
