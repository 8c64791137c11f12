#pragma once
#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

// Memory that a cgroup really needs, and with the cache of its files.
inline double UsedMemory(const MemoryStat& memory) {
  return static_cast<double>(memory.inactive_anon) + static_cast<double>(memory.active_anon) +
         static_cast<double>(memory.unevictable);
}
inline double WithPageCache(const MemoryStat& memory) {
  return UsedMemory(memory) + static_cast<double>(memory.active_file) +
         static_cast<double>(memory.inactive_file);
}

// CPU and memory of one cgroup, its files kept open.
class CgroupUsage {
 public:
  struct Sample {
    std::optional<double> cores;  // none in the first round
    MemoryStat memory;
    std::optional<double> throttled;  // the part of its periods, from 0 to 1
  };

  // An error: it cannot be measured this time. Whether it was throttled may be missing alone.
  StatusOr<Sample> Read(const Cgroups& cgroups, std::string_view dir, SteadyTime now,
                        Duration max_age, std::string& buffer);

 private:
  std::optional<double> UpdateThrottled(const StatusOr<CpuStat>& stat, SteadyTime now,
                                        Duration max_age);

  KeptFile cpu_;
  KeptFile stat_;  // version 1 only: in version 2 it is the same file
  KeptFile memory_;
  MemoryStatPlaces memory_places_{};
  RateCounter usage_;
  CpuStat last_stat_;
  std::optional<SteadyTime> stat_at_;
};

}  // namespace koord::koordlet
