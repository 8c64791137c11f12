#include "model/device/candidates.h"

#include <algorithm>

namespace koord::model {

NarrowedDevices::NarrowedDevices(const DeviceTask& task) {
  if (task.limits != nullptr) {
    size_t most = 0;
    for (const DeviceType type : kAllDeviceTypes) most += task.devices.of(type).size();
    limited_.reserve(most);
  }
  for (const DeviceType type : kAllDeviceTypes) {
    if (task.requests.of(type)) Narrow(task, type, *task.requests.of(type));
  }
}

void NarrowedDevices::Narrow(const DeviceTask& task, DeviceType type,
                             const DeviceRequest& request) {
  Candidates& into = by_type_[static_cast<size_t>(type)];
  const DeviceLimits* const limits = task.limits;
  const auto* const required =
      limits == nullptr || !limits->by_type[static_cast<size_t>(type)].required
          ? nullptr
          : &*limits->by_type[static_cast<size_t>(type)].required;
  bool any = false;
  for (const DeviceCard& card : task.devices.of(type)) {
    const DeviceInventory::Device* const device = card.device;
    if (limits != nullptr && limits->numa_nodes) {
      if (device == nullptr || !device->has_topology) continue;
      if (device->numa_node != kNoNumaNode && !limits->numa_nodes->Has(device->numa_node)) continue;
    }
    if (request.selector && (device == nullptr || !request.selector->Matches(device->labels))) {
      continue;
    }
    const DeviceAmounts* free = &card.free;
    if (required != nullptr) {
      const auto limit = std::ranges::lower_bound(*required, card.minor, {},
                                                  [](const auto& each) { return each.first; });
      if (limit == required->end() || limit->first != card.minor) continue;
      free = &limited_.emplace_back(card.free.AtMost(limit->second));
    }
    any = any || !free->IsZero();
    into.push_back({&card, free});
  }
  if (!any) into.clear();
}

const DeviceInventory::Function* FreeFunction(const Candidate& candidate,
                                              const DeviceRequest& request,
                                              const DeviceLimits::Of* limits) {
  if (candidate.card->device == nullptr) return nullptr;
  const DeviceInventory::Function* first = nullptr;
  for (const auto& group : candidate.card->device->function_groups) {
    if (!request.function_selector->Matches(group.labels)) continue;
    for (const DeviceInventory::Function& each : group.functions) {
      if (candidate.card->IsInUse(each.bus_id)) continue;
      if (limits != nullptr && limits->functions &&
          !std::ranges::binary_search(*limits->functions, each.bus_id)) {
        continue;
      }
      if (first == nullptr || each.bus_id < first->bus_id) first = &each;
      break;  // the others of the group come later
    }
  }
  return first;
}

}  // namespace koord::model
