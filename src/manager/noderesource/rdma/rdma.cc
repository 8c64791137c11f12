#include "manager/noderesource/rdma/rdma.h"

#include <algorithm>

#include "api/extended_resources.h"

namespace koord::manager {

NodePlan PlanRdma(const api::Device* device) {
  constexpr int64_t kWholeDevice = 100;
  int64_t healthy = 0;
  if (device != nullptr) {
    const auto& devices = device->spec.devices;
    healthy = std::count_if(devices.begin(), devices.end(), [](const api::DeviceInfo& each) {
      return each.type == api::kDeviceRdma && each.health;
    });
  }
  NodePlan plan;
  auto& amount = plan.resources[std::string(api::kRdma)];
  if (healthy > 0) amount = kube::Quantity(healthy * kWholeDevice);
  return plan;
}

}  // namespace koord::manager
