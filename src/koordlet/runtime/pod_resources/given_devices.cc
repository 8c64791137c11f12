#include <algorithm>

#include "api/device_annotations.h"
#include "koordlet/runtime/pod_resources/pod_resources_proxy.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kGpuResource = "nvidia.com/gpu";
constexpr std::string_view kRdmaResource = "koordinator.sh/rdma";

const api::DeviceInfo* FindDevice(const api::Device& device, std::string_view type, int32_t minor) {
  const auto it = std::ranges::find_if(device.spec.devices, [&](const api::DeviceInfo& each) {
    return each.type == type && each.minor == minor;
  });
  return it == device.spec.devices.end() ? nullptr : &*it;
}

void AddIds(std::string_view type, const api::DeviceInfo& known,
            const api::DeviceAllocation& allocation, std::vector<std::string>& ids) {
  if (type == api::kDeviceRdma && allocation.extension && !allocation.extension->vfs.empty()) {
    for (const api::VirtualFunction& function : allocation.extension->vfs) {
      ids.push_back(function.bus_id);
    }
    return;
  }
  ids.push_back(known.id);
}

}  // namespace

DevicesOfPods ReadGivenDevices(const NodePods& pods, const api::Device* device) {
  DevicesOfPods all;
  if (device == nullptr) return all;
  for (const NodePod& pod : pods) {
    const kube::ObjectMeta& meta = pod.pod->metadata;
    const auto allocations = api::DeviceAllocationsOf(meta.annotations);
    if (!pod.is_active || !allocations.ok() || !*allocations) continue;
    std::vector<GivenDevices> given;
    for (const auto& [type, resource] :
         {std::pair(api::kDeviceGpu, kGpuResource), std::pair(api::kDeviceRdma, kRdmaResource)}) {
      const auto of_type = (*allocations)->find(type);
      if (of_type == (*allocations)->end()) continue;
      GivenDevices devices{.resource = std::string(resource), .ids = {}};
      for (const api::DeviceAllocation& allocation : of_type->second) {
        const api::DeviceInfo* known = FindDevice(*device, type, allocation.minor);
        if (known != nullptr) AddIds(type, *known, allocation, devices.ids);
      }
      if (!devices.ids.empty()) given.push_back(std::move(devices));
    }
    if (!given.empty()) all.emplace(meta.ns + "/" + meta.name, std::move(given));
  }
  return all;
}

}  // namespace koord::koordlet
