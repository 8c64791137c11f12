#pragma once
#include "koordlet/metrics/collectors/collector.h"

namespace koord::koordlet {

struct MemoryUse {  // bytes
  double used = 0;  // what a cgroup really needs
  double with_page_cache = 0;
};

inline MemoryUse UseOf(const MemoryStat& memory) {
  const double used = static_cast<double>(memory.inactive_anon) +
                      static_cast<double>(memory.active_anon) +
                      static_cast<double>(memory.unevictable);
  return {used, used + static_cast<double>(memory.active_file) +
                    static_cast<double>(memory.inactive_file)};
}
inline MemoryUse UseOf(const NumaStat::Lists& pages, int64_t page_size) {
  const double used = static_cast<double>(pages.anon) + static_cast<double>(pages.unevictable);
  const auto bytes = static_cast<double>(page_size);
  return {used * bytes, (used + static_cast<double>(pages.file)) * bytes};
}

// CPU of one cgroup, its files kept open.
class CgroupCpu {
 public:
  struct Sample {
    std::optional<double> cores;      // none in the first round
    std::optional<double> throttled;  // the part of its periods, from 0 to 1
  };
  enum class Throttling : uint8_t { kIgnored, kRead };

  // An error: it cannot be measured this time. Whether it was throttled may be missing alone.
  StatusOr<Sample> Read(const Cgroups& cgroups, const CgroupDir& dir, Throttling throttling,
                        SteadyTime now, Duration max_age, std::string& buffer);

 private:
  std::optional<double> UpdateThrottled(const StatusOr<CpuStat>& stat, SteadyTime now,
                                        Duration max_age);

  KeptFile usage_file_;
  KeptFile stat_file_;  // version 1 only: in version 2 it is the same file
  RateCounter usage_;
  CpuStat last_stat_;
  std::optional<SteadyTime> stat_at_;
};

// Memory of one cgroup, its file kept open.
class CgroupMemory {
 public:
  StatusOr<MemoryUse> Read(const Cgroups& cgroups, const CgroupDir& dir, std::string& buffer);

 private:
  KeptFile file_;
  MemoryStatPlaces places_{};
};

}  // namespace koord::koordlet
