#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/device.h"
#include "base/status.h"
#include "kube/objects/meta.h"
#include "kube/quantity.h"

// Which devices pods want and get.
namespace koord::api {

struct DeviceAllocationExtension {
  std::vector<VirtualFunction> vfs;
  std::string gpu_shared_resource_template;

  static void Fields(auto& self, auto&& field) {
    field("vfs", self.vfs);
    field("gpuSharedResourceTemplate", self.gpu_shared_resource_template);
  }
  bool operator==(const DeviceAllocationExtension&) const = default;
};

struct DeviceAllocation {
  int32_t minor = 0;
  kube::ResourceList resources;
  std::string id;
  std::optional<DeviceAllocationExtension> extension;

  static void Fields(auto& self, auto&& field) {
    field("minor", kube::Always(self.minor));
    field("resources", kube::Always(self.resources));
    field("id", self.id);
    field("extension", self.extension);
  }
  bool operator==(const DeviceAllocation&) const = default;
};

// scheduling.koordinator.sh/device-allocated: by device type.
using DeviceAllocations = std::map<std::string, std::vector<DeviceAllocation>, std::less<>>;

// Resource names of earlier releases are replaced by the current ones.
StatusOr<std::optional<DeviceAllocations>> DeviceAllocationsOf(
    const kube::Annotations& annotations);
std::string EncodeDeviceAllocations(const DeviceAllocations& allocations);

struct DeviceHint {
  std::optional<kube::LabelSelector> selector;
  std::optional<kube::LabelSelector> vf_selector;
  std::string allocate_strategy;        // ApplyForAll, RequestsAsCount
  std::string required_topology_scope;  // Device, PCIe, NUMANode, Node
  std::string exclusive_policy;         // DeviceLevel, PCIeLevel

  static void Fields(auto& self, auto&& field) {
    field("selector", self.selector);
    field("vfSelector", self.vf_selector);
    field("allocateStrategy", self.allocate_strategy);
    field("requiredTopologyScope", self.required_topology_scope);
    field("exclusivePolicy", self.exclusive_policy);
  }
  bool operator==(const DeviceHint&) const = default;
};

// scheduling.koordinator.sh/device-allocate-hint: by device type.
using DeviceAllocateHint = std::map<std::string, DeviceHint, std::less<>>;

StatusOr<std::optional<DeviceAllocateHint>> DeviceAllocateHintOf(
    const kube::Annotations& annotations);
// How narrow a scope is: Device 4, PCIe 3, NUMANode 2, Node 1, anything else 0.
int TopologyScopeLevel(std::string_view scope);

// scheduling.koordinator.sh/device-joint-allocate
struct DeviceJointAllocate {
  std::vector<std::string> device_types;
  std::string required_scope;  // empty, SamePCIe

  static void Fields(auto& self, auto&& field) {
    field("deviceTypes", self.device_types);
    field("requiredScope", self.required_scope);
  }
  bool operator==(const DeviceJointAllocate&) const = default;
};

StatusOr<std::optional<DeviceJointAllocate>> DeviceJointAllocateOf(
    const kube::Annotations& annotations);

// scheduling.koordinator.sh/gpu-partition-spec
struct GpuPartitionSpec {
  std::string allocate_policy;  // BestEffort where the annotation does not say, Restricted
  std::optional<kube::Quantity> ring_bus_bandwidth;

  static void Fields(auto& self, auto&& field) {
    field("allocatePolicy", self.allocate_policy);
    field("ringBusBandwidth", self.ring_bus_bandwidth);
  }
  bool operator==(const GpuPartitionSpec&) const = default;
};

StatusOr<std::optional<GpuPartitionSpec>> GpuPartitionSpecOf(const kube::Annotations& annotations);

struct GpuPartition {
  std::vector<int32_t> minors;
  std::string gpu_link_type;
  std::optional<kube::Quantity> ring_bus_bandwidth;
  int64_t allocation_score = 0;

  static void Fields(auto& self, auto&& field) {
    field("minors", self.minors);
    field("gpuLinkType", self.gpu_link_type);
    field("ringBusBandwidth", self.ring_bus_bandwidth);
    field("allocationScore", self.allocation_score);
  }
  bool operator==(const GpuPartition&) const = default;
};

// scheduling.koordinator.sh/gpu-partitions of a Device: by the number of GPUs.
using GpuPartitions = std::map<int, std::vector<GpuPartition>>;

// An empty annotation counts as absent.
StatusOr<std::optional<GpuPartitions>> GpuPartitionsOf(const kube::Annotations& annotations);

// node.koordinator.sh/gpu-partition-policy: whether only listed partitions may be given.
bool HonorsGpuPartitions(const kube::Labels& labels);

// node.koordinator.sh/secondary-device-well-planned; nothing where the label is neither true nor
// false.
std::optional<bool> IsSecondaryDeviceWellPlanned(const kube::Labels& device_labels);

}  // namespace koord::api
