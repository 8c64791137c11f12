#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/device/device_inventory.h"

namespace koord::model {

// One device and what is taken of it.
struct DeviceCard {
  int32_t minor = 0;
  const DeviceInventory::Device* device = nullptr;  // null: the node does not list it (any more)
  DeviceAmounts used = {};
  DeviceAmounts free = {};  // what it has less what is used
  std::vector<std::string> functions =
      {};  // bus ids of virtual ones in use, sorted; once for each user

  const DeviceAmounts& total() const;
  bool IsInUse(std::string_view bus_id) const;
};

// The devices of a node and what pods hold of them. What they hold is kept whatever is known of the
// devices at the time: no device is given twice since its object came late, or went and came back.
class NodeDevices {
 public:
  // Null: there is no object, and nothing can be given.
  void SetInventory(std::shared_ptr<const DeviceInventory> inventory);
  const std::shared_ptr<const DeviceInventory>& inventory() const { return inventory_; }

  const std::vector<DeviceCard>& of(DeviceType type) const {
    return cards_[static_cast<size_t>(type)];
  }
  const DeviceCard* Find(DeviceType type, int32_t minor) const;
  // Nobody lists devices here, and nobody holds any.
  bool empty() const;

  void Use(DeviceType type, int32_t minor, const DeviceAmounts& amounts, int64_t sign);
  void UseFunction(DeviceType type, int32_t minor, std::string_view bus_id);
  void ReleaseFunction(DeviceType type, int32_t minor, std::string_view bus_id);
  // Nothing is used any more.
  void ReleaseAll();

 private:
  DeviceCard& CardOf(DeviceType type, int32_t minor);
  void DropIfUnknown(DeviceType type, int32_t minor);

  std::shared_ptr<const DeviceInventory> inventory_;
  std::array<std::vector<DeviceCard>, kDeviceTypes> cards_;  // by minor
};

}  // namespace koord::model
