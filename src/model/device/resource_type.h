#pragma once
#include "model/device/device_amounts.h"

namespace koord::model {

// The type of devices that a resource is of.
inline DeviceType TypeOf(DeviceResource resource) {
  if (resource == DeviceResource::kRdma) return DeviceType::kRdma;
  return resource == DeviceResource::kFpga ? DeviceType::kFpga : DeviceType::kGpu;
}

}  // namespace koord::model
