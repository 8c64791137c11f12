#include "koordlet/metrics/collectors/cgroup_usage.h"

namespace koord::koordlet {

std::optional<double> CgroupCpu::UpdateThrottled(const StatusOr<CpuStat>& stat, SteadyTime now,
                                                 Duration max_age) {
  if (!stat.ok()) return std::nullopt;
  std::optional<double> throttled;
  if (stat_at_.has_value() && now - *stat_at_ <= max_age && stat->periods >= last_stat_.periods &&
      stat->throttled >= last_stat_.throttled) {
    const int64_t periods = stat->periods - last_stat_.periods;
    throttled = periods == 0 ? 0
                             : static_cast<double>(stat->throttled - last_stat_.throttled) /
                                   static_cast<double>(periods);
  }
  last_stat_ = *stat;
  stat_at_ = now;
  return throttled;
}

StatusOr<CgroupCpu::Sample> CgroupCpu::Read(const Cgroups& cgroups, const CgroupDir& dir,
                                            Throttling throttling, SteadyTime now, Duration max_age,
                                            std::string& buffer) {
  const CgroupVersion version = cgroups.layout().version;
  ASSIGN_OR_RETURN(const std::string_view text,
                   usage_file_.Read(cgroups, CgroupFile::kCpuUsage, dir, buffer));
  if (usage_file_.is_new()) usage_ = {};
  ASSIGN_OR_RETURN(const int64_t nanos, ParseCpuUsage(text, version));
  Sample sample{.cores = usage_.Update(nanos, now, max_age), .throttled = {}};
  if (throttling == Throttling::kIgnored) return sample;
  if (usage_file_.is_new()) stat_at_.reset();
  if (version == CgroupVersion::kV2) {
    sample.throttled = UpdateThrottled(ParseCpuStat(text), now, max_age);
    return sample;
  }
  const auto stat = stat_file_.Read(cgroups, CgroupFile::kCpuStat, dir, buffer);
  if (stat.ok()) sample.throttled = UpdateThrottled(ParseCpuStat(*stat), now, max_age);
  return sample;
}

StatusOr<MemoryUse> CgroupMemory::Read(const Cgroups& cgroups, const CgroupDir& dir,
                                       std::string& buffer) {
  ASSIGN_OR_RETURN(const std::string_view text,
                   file_.Read(cgroups, CgroupFile::kMemoryStat, dir, buffer));
  ASSIGN_OR_RETURN(const MemoryStat memory,
                   ParseMemoryStat(text, cgroups.layout().version, places_));
  return UseOf(memory);
}

}  // namespace koord::koordlet
