#include "koordlet/metrics/collectors/cgroup_usage.h"

namespace koord::koordlet {

std::optional<double> CgroupUsage::UpdateThrottled(const StatusOr<CpuStat>& stat, SteadyTime now,
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

StatusOr<CgroupUsage::Sample> CgroupUsage::Read(const Cgroups& cgroups, std::string_view dir,
                                                SteadyTime now, Duration max_age,
                                                std::string& buffer) {
  const CgroupVersion version = cgroups.layout().version;
  Sample sample;
  ASSIGN_OR_RETURN(const std::string_view cpu_text,
                   cpu_.Read(cgroups, CgroupFile::kCpuUsage, dir, buffer));
  ASSIGN_OR_RETURN(const int64_t nanos, ParseCpuUsage(cpu_text, version));
  if (version == CgroupVersion::kV2) {
    sample.throttled = UpdateThrottled(ParseCpuStat(cpu_text), now, max_age);
  } else {
    const auto text = stat_.Read(cgroups, CgroupFile::kCpuStat, dir, buffer);
    if (text.ok()) sample.throttled = UpdateThrottled(ParseCpuStat(*text), now, max_age);
  }
  ASSIGN_OR_RETURN(const std::string_view memory_text,
                   memory_.Read(cgroups, CgroupFile::kMemoryStat, dir, buffer));
  ASSIGN_OR_RETURN(sample.memory, ParseMemoryStat(memory_text, version, memory_places_));
  sample.cores = usage_.Update(nanos, now, max_age);
  return sample;
}

}  // namespace koord::koordlet
