#pragma once
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/device.h"
#include "model/device/device_allocator.h"

// Machines with devices, for tests.
namespace koord::model {

inline kube::ResourceList Resources(
    const std::vector<std::pair<std::string_view, std::string_view>>& amounts) {
  kube::ResourceList list;
  for (const auto& [name, text] : amounts) {
    list[std::string(name)] = kube::Quantity::Parse(text).value();
  }
  return list;
}

inline api::DeviceInfo Card(int32_t minor, std::string_view memory = "83201216Ki") {
  api::DeviceInfo card;
  card.type = "gpu";
  card.minor = minor;
  card.id = fmt::format("GPU-{}", minor);
  card.health = true;
  card.resources = Resources({{"koordinator.sh/gpu-core", "100"},
                              {"koordinator.sh/gpu-memory-ratio", "100"},
                              {"koordinator.sh/gpu-memory", memory}});
  return card;
}

inline api::DeviceInfo PlacedCard(int32_t minor, int32_t numa_node, std::string_view pcie) {
  api::DeviceInfo card = Card(minor);
  card.topology.emplace();
  card.topology->node_id = numa_node;
  card.topology->pcie_id = pcie;
  return card;
}

inline api::DeviceInfo Nic(int32_t minor, int32_t numa_node, std::string_view pcie) {
  api::DeviceInfo nic;
  nic.type = "rdma";
  nic.minor = minor;
  nic.health = true;
  nic.resources = Resources({{"koordinator.sh/rdma", "100"}});
  nic.topology.emplace();
  nic.topology->node_id = numa_node;
  nic.topology->pcie_id = pcie;
  return nic;
}

// Eight cards, two on each of four PCIe switches, two switches on each of two NUMA nodes; one RDMA
// device with virtual functions on each switch.
inline api::Device MachineG8() {
  api::Device device;
  device.metadata.name = "n";
  const std::vector<std::string> buses{"0000:1f", "0000:90", "0000:51", "0000:b9"};
  for (int32_t minor = 0; minor < 8; ++minor) {
    device.spec.devices.push_back(PlacedCard(minor, minor / 4, std::to_string(minor / 2)));
  }
  for (int32_t i = 0; i < 4; ++i) {
    api::DeviceInfo nic = Nic(i + 1, i / 2, std::to_string(i));
    const std::string& bus = buses[static_cast<size_t>(i)];
    nic.id = bus + ":00.0";
    nic.labels = {{"type", "fakeW"}};
    api::VirtualFunctionGroup group;
    group.labels = {{"type", "general"}};
    for (int32_t vf = 0; vf < 4; ++vf) {
      group.vfs.push_back({.minor = vf, .bus_id = fmt::format("{}:00.{}", bus, vf + 2)});
    }
    nic.vf_groups.push_back(std::move(group));
    device.spec.devices.push_back(std::move(nic));
  }
  return device;
}

// Eight cards with NVLink, each on a PCIe switch of its own with an RDMA device.
inline api::Device MachineH8() {
  api::Device device;
  device.metadata.name = "n";
  for (int32_t minor = 0; minor < 8; ++minor) {
    device.spec.devices.push_back(PlacedCard(minor, minor / 4, std::to_string(minor)));
    device.spec.devices.push_back(Nic(minor + 1, minor / 4, std::to_string(minor)));
  }
  return device;
}

inline NodeDevices DevicesOf(const api::Device& device) {
  NodeDevices devices;
  devices.SetInventory(std::make_shared<const DeviceInventory>(InventoryOf(device)));
  return devices;
}

inline DeviceAmounts Share(int64_t core, int64_t ratio) {
  DeviceAmounts amounts;
  amounts.Set(DeviceResource::kGpuCore, core);
  amounts.Set(DeviceResource::kGpuMemoryRatio, ratio);
  return amounts;
}

inline void UseWhole(NodeDevices& devices, std::initializer_list<int32_t> minors) {
  for (const int32_t minor : minors) {
    devices.Use(DeviceType::kGpu, minor, devices.Find(DeviceType::kGpu, minor)->total(), 1);
  }
}

inline std::vector<int32_t> MinorsOf(const DeviceResult& result, DeviceType type) {
  std::vector<int32_t> minors;
  for (const DeviceGrant& grant : result.grants) {
    if (grant.type == type) minors.push_back(grant.minor);
  }
  return minors;
}

inline std::string RefusalOf(const DeviceResult& result) {
  if (result.ok()) return "";
  return fmt::format("{} {}", IsUnresolvable(result.refusal) ? "UU" : "U",
                     TextOf(result.refusal, result.type));
}

}  // namespace koord::model
