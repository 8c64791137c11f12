#pragma once
#include <absl/container/inlined_vector.h>

#include <vector>

#include "model/device/device_allocator.h"

namespace koord::model {

// A device that may be given in one attempt, with what may be taken of it.
struct Candidate {
  const DeviceCard* card = nullptr;
  const DeviceAmounts* free = nullptr;

  int32_t minor() const { return card->minor; }
  int32_t pcie() const { return card->device == nullptr ? kNoPcie : card->device->pcie; }
  bool CanGive(const DeviceAmounts& request) const {
    return !free->IsZero() && request.FitsIn(*free);
  }
  // Something of it is taken, or kept from this attempt.
  bool IsBusy() const { return !card->total().Less(*free).IsZero(); }
};
using Candidates = absl::InlinedVector<Candidate, 16>;

// The devices of all requested types that the limits leave. None of a type of which nothing is
// free.
class NarrowedDevices {
 public:
  explicit NarrowedDevices(const DeviceTask& task);
  NarrowedDevices(const NarrowedDevices&) = delete;
  NarrowedDevices& operator=(const NarrowedDevices&) = delete;

  const Candidates& of(DeviceType type) const { return by_type_[static_cast<size_t>(type)]; }

 private:
  void Narrow(const DeviceTask& task, DeviceType type, const DeviceRequest& request);

  std::array<Candidates, kDeviceTypes> by_type_;  // by minor
  std::vector<DeviceAmounts> limited_;  // what is free of devices with limits; stays where it is
};

// The virtual function to be taken of a device; null: none is left. Only if one is asked for.
const DeviceInventory::Function* FreeFunction(const Candidate& candidate,
                                              const DeviceRequest& request,
                                              const DeviceLimits::Of* limits);

}  // namespace koord::model
