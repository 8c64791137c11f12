#include "koordlet/hooks/engine/device_check.h"

#include <algorithm>

#include "base/strings.h"

namespace koord::koordlet::hooks {
namespace {

bool HasFunction(const api::DeviceInfo& device, std::string_view bus_id) {
  return std::ranges::any_of(device.vf_groups, [&](const api::VirtualFunctionGroup& group) {
    return std::ranges::find(group.vfs, bus_id, &api::VirtualFunction::bus_id) != group.vfs.end();
  });
}

Status CheckOne(const api::DeviceInfo& device, const api::DeviceAllocation& allocation) {
  if (!allocation.id.empty() && allocation.id != device.id) {
    return FailedPrecondition("{} {} of the node is not {}", device.type, allocation.minor,
                              Quote(allocation.id, 64));
  }
  if (!allocation.extension) return absl::OkStatus();
  for (const api::VirtualFunction& function : allocation.extension->vfs) {
    if (HasFunction(device, function.bus_id)) continue;
    return FailedPrecondition("{} {} of the node has no virtual function {}", device.type,
                              allocation.minor, Quote(function.bus_id, 64));
  }
  return absl::OkStatus();
}

}  // namespace

Status CheckDevices(const HookEnv& env, std::string_view type,
                    const std::vector<api::DeviceAllocation>& allocations) {
  if (env.options.trust.trust_pod_authors) return absl::OkStatus();
  const auto& known = env.state.device();
  if (known == nullptr) {
    return FailedPrecondition("device-allocated names {} devices, and the node has no Device",
                              type);
  }
  for (const api::DeviceAllocation& allocation : allocations) {
    const auto device = std::ranges::find_if(known->spec.devices, [&](const auto& each) {
      return each.type == type && each.minor == allocation.minor;
    });
    if (device == known->spec.devices.end()) {
      return FailedPrecondition("the node has no {} {}", type, allocation.minor);
    }
    RETURN_IF_ERROR(CheckOne(*device, allocation));
  }
  return absl::OkStatus();
}

}  // namespace koord::koordlet::hooks
