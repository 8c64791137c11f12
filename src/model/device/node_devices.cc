#include "model/device/node_devices.h"

#include <algorithm>

namespace koord::model {
namespace {

void Count(DeviceCard& card) { card.free = card.total().Less(card.used); }

bool IsUnused(const DeviceCard& card) { return card.used.empty() && card.functions.empty(); }

}  // namespace

const DeviceAmounts& DeviceCard::total() const {
  static constexpr DeviceAmounts kNone;
  return device == nullptr ? kNone : device->total;
}

bool DeviceCard::IsInUse(std::string_view bus_id) const {
  return std::ranges::binary_search(functions, bus_id);
}

void NodeDevices::SetInventory(std::shared_ptr<const DeviceInventory> inventory) {
  for (const DeviceType type : kAllDeviceTypes) {
    std::vector<DeviceCard>& cards = cards_[static_cast<size_t>(type)];
    for (DeviceCard& card : cards) card.device = nullptr;
    std::erase_if(cards, IsUnused);
    if (inventory != nullptr) {
      for (const DeviceInventory::Device& device : inventory->of(type)) {
        CardOf(type, device.minor).device = &device;
      }
    }
    for (DeviceCard& card : cards) Count(card);
  }
  inventory_ = std::move(inventory);
}

const DeviceCard* NodeDevices::Find(DeviceType type, int32_t minor) const {
  const std::vector<DeviceCard>& cards = of(type);
  const auto found = std::ranges::lower_bound(cards, minor, {}, &DeviceCard::minor);
  return found == cards.end() || found->minor != minor ? nullptr : &*found;
}

bool NodeDevices::empty() const {
  return inventory_ == nullptr &&
         std::ranges::all_of(cards_, [](const auto& cards) { return cards.empty(); });
}

DeviceCard& NodeDevices::CardOf(DeviceType type, int32_t minor) {
  std::vector<DeviceCard>& cards = cards_[static_cast<size_t>(type)];
  auto at = std::ranges::lower_bound(cards, minor, {}, &DeviceCard::minor);
  if (at == cards.end() || at->minor != minor) at = cards.insert(at, DeviceCard{.minor = minor});
  return *at;
}

void NodeDevices::DropIfUnknown(DeviceType type, int32_t minor) {
  std::vector<DeviceCard>& cards = cards_[static_cast<size_t>(type)];
  const auto at = std::ranges::lower_bound(cards, minor, {}, &DeviceCard::minor);
  if (at->device == nullptr && IsUnused(*at)) cards.erase(at);
}

void NodeDevices::Use(DeviceType type, int32_t minor, const DeviceAmounts& amounts, int64_t sign) {
  DeviceCard& card = CardOf(type, minor);
  card.used.Add(amounts, sign);
  card.used.DropZeros();
  Count(card);
  if (sign < 0) DropIfUnknown(type, minor);
}

void NodeDevices::UseFunction(DeviceType type, int32_t minor, std::string_view bus_id) {
  std::vector<std::string>& functions = CardOf(type, minor).functions;
  functions.insert(std::ranges::upper_bound(functions, bus_id), std::string(bus_id));
}

void NodeDevices::ReleaseFunction(DeviceType type, int32_t minor, std::string_view bus_id) {
  std::vector<std::string>& functions = CardOf(type, minor).functions;
  const auto at = std::ranges::lower_bound(functions, bus_id);
  if (at != functions.end() && *at == bus_id) functions.erase(at);
  DropIfUnknown(type, minor);
}

void NodeDevices::ReleaseAll() {
  for (std::vector<DeviceCard>& cards : cards_) {
    for (DeviceCard& card : cards) {
      card.used = {};
      card.functions.clear();
      Count(card);
    }
    std::erase_if(cards, [](const DeviceCard& card) { return card.device == nullptr; });
  }
}

}  // namespace koord::model
