#pragma once
#include <deque>
#include <span>
#include <vector>

#include "base/clock.h"
#include "localcluster/nodes/pod_load.h"

namespace koord::localcluster {

// A node's measurements of itself, every 15 seconds.
struct UsageSample {
  WallTime time;
  Usage node;
  Usage system;  // what is not pods
  Usage prod;    // pods of production, or of no band
};

// What one machine uses besides its pods, and what it has.
struct MachineSize {
  double cpus = 0;
  double memory = 0;  // bytes
};

// The operating system and the node's agents.
Usage SystemUsage(const MachineSize& size, uint64_t seed, WallTime time);

class UsageHistory {
 public:
  static constexpr Duration kStep = std::chrono::seconds(15);

  // Measures up to `now`: all moments since the last measurement, or since `born` or the `keep`
  // before now, whichever is later, if there is none. So a simulation that starts again has its
  // history back. Forgets what is older than `keep`.
  void MeasureUntil(WallTime now, Duration keep, WallTime born, const MachineSize& size,
                    uint64_t seed, std::span<const PodLoad> pods);

  // The samples of the last `span` before `now`, oldest first.
  std::vector<UsageSample> Last(Duration span, WallTime now) const;

 private:
  std::deque<UsageSample> samples_;
};

// What a pod used on average during the last `span`; none if it was not measured in that time.
std::optional<Usage> AverageOf(const PodLoad& pod, Duration span, WallTime now);

// The moments at which nodes measure, in (after, until].
std::vector<WallTime> MeasuringTimes(WallTime after, WallTime until);

}  // namespace koord::localcluster
