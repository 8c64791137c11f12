#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "koordlet/host/cgroup_layout.h"

// What can be read and set in a cgroup, whatever the version calls it.
namespace koord::koordlet {

enum class CgroupFile : uint8_t {
  kCpuStat,
  kCpuShares,
  kCpuQuota,
  kCpuPeriod,
  kCpuBurst,
  kCpuBvt,
  kCpuIdle,
  kThreads,
  kProcesses,
  kCpuset,
  kCpuUsage,
  kCpuPressure,
  kMemoryPressure,
  kIoPressure,
  kMemoryLimit,
  kMemoryUsage,
  kMemoryStat,
  kMemoryNumaStat,
  kMemoryMin,
  kMemoryLow,
  kMemoryHigh,
  kMemoryWmarkRatio,
  kMemoryWmarkScaleFactor,
  kMemoryWmarkMinAdj,
  kMemoryPriority,
  kMemoryUsePriorityOom,
  kMemoryOomGroup,
  kMemoryIdlePageStats,
  kPageCacheLimitEnable,
  kPageCacheLimitSize,
  kPageCacheLimitSync,
  kBlkioReadIops,
  kBlkioReadBps,
  kBlkioWriteIops,
  kBlkioWriteBps,
  kBlkioCostWeight,
  kBlkioCostQos,
  kBlkioCostModel,
  kNetClassId,
};
inline constexpr int kCgroupFileCount = static_cast<int>(CgroupFile::kNetClassId) + 1;

// When a file counts as supported.
enum class CgroupCheck : uint8_t {
  kAlways,
  kInDirectory,  // it must be in the very directory
  kInKubepods,   // it must be in the directory of all pods
  kInRoot,       // it must be in the root of the hierarchy
};

struct CgroupFileInfo {
  std::string_view subsystem;  // of version 1; empty in version 2
  std::string_view name;       // "cpu.cfs_quota_us"
  CgroupCheck check = CgroupCheck::kAlways;
  // Values that may be written; "max" is the greatest of all.
  std::optional<int64_t> min;
  std::optional<int64_t> max;
};

// Null where this version has no such thing.
const CgroupFileInfo* InfoOf(CgroupFile file, CgroupVersion version);

}  // namespace koord::koordlet
