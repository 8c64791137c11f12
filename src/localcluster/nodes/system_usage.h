#pragma once
#include <cstdint>

#include "base/clock.h"
#include "localcluster/nodes/pod_load.h"

namespace koord::localcluster {

// What one machine has.
struct MachineSize {
  double cpus = 0;
  double memory = 0;  // bytes
};

// What it uses besides its pods: the operating system and the node's agents, with a little noise
// that changes this often.
inline constexpr Duration kSystemNoiseStep = std::chrono::seconds(15);
Usage SystemUsage(const MachineSize& size, uint64_t seed, WallTime time);

}  // namespace koord::localcluster
