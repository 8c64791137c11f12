#pragma once
#include <cstdint>
#include <vector>

#include "model/device/device_amounts.h"

namespace koord::model {

// Whether fuller or emptier devices are preferred, and what counts for how much.
struct DeviceScoring {
  struct Weight {
    DeviceResource resource;
    int64_t weight;
  };
  bool most_allocated = false;
  std::vector<Weight> weights;
};

// 0 to 100: of something with `total`, of which `free` is left, once a device's part is taken of
// it. Counts whatever there is, asked for or not.
int64_t DeviceScore(const DeviceScoring& scoring, const DeviceAmounts& request,
                    const DeviceAmounts& total, const DeviceAmounts& free);

}  // namespace koord::model
