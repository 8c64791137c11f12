#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "koordlet/host/cgroups.h"

// What the kernel's counters look like in its files.
namespace koord::koordlet {

std::string CpuStatText(CgroupVersion version, int64_t cpu_nanos, const CpuStat& stat);
std::string MemoryStatText(CgroupVersion version, const MemoryStat& memory);
// Memory that is spread evenly over the NUMA nodes.
std::string NumaStatText(CgroupVersion version, const MemoryStat& memory, int numa_nodes,
                         int64_t page_size);
// One of so many equal parts.
MemoryStat ShareOf(const MemoryStat& memory, int parts);
int64_t MemoryUsageOf(const MemoryStat& memory);

// /proc/stat of a machine: all processors together, and each.
struct ProcessorTime {
  int32_t cpu = 0;
  int64_t nanos = 0;
};
std::string ProcStatText(int64_t nanos, std::span<const ProcessorTime> processors,
                         int64_t tick_nanos);
// /proc/meminfo, or with a prefix that of a NUMA node.
std::string MemInfoText(std::string_view prefix, int64_t total, const MemoryStat& memory);

}  // namespace koord::koordlet
