#include "localcluster/nodes/system_usage.h"

#include <algorithm>

#include "base/random.h"

namespace koord::localcluster {
namespace {

// The operating system, the kubelet, koordlet: a share of the machine, and never nothing.
constexpr double kSystemCpuShare = 0.02;
constexpr double kLeastSystemCpu = 0.1;
constexpr double kSystemMemoryShare = 0.02;
constexpr double kLeastSystemMemory = 256.0 * (1 << 20);
constexpr double kSystemNoise = 0.1;

}  // namespace

Usage SystemUsage(const MachineSize& size, uint64_t seed, WallTime time) {
  const auto step = static_cast<uint64_t>(time.time_since_epoch() / kSystemNoiseStep);
  const double noise = 1 + kSystemNoise * (2 * Random(seed ^ step * 31).Fraction() - 1);
  return {std::max(size.cpus * kSystemCpuShare, kLeastSystemCpu) * noise,
          std::max(size.memory * kSystemMemoryShare, kLeastSystemMemory)};
}

}  // namespace koord::localcluster
