#include "koordlet/host/cgroup_file.h"

#include <array>
#include <limits>

namespace koord::koordlet {
namespace {

constexpr CgroupCheck kAlways = CgroupCheck::kAlways;
constexpr CgroupCheck kInDirectory = CgroupCheck::kInDirectory;
constexpr CgroupCheck kInKubepods = CgroupCheck::kInKubepods;
constexpr CgroupCheck kInRoot = CgroupCheck::kInRoot;
constexpr std::nullopt_t kAny = std::nullopt;
constexpr int64_t kMaxQuota = (int64_t{1} << 44) - 1;  // microseconds
constexpr int64_t kMaxUint32 = std::numeric_limits<uint32_t>::max();

struct FileRow {
  CgroupFile file;
  CgroupFileInfo v1;  // without a name: this version has no such thing
  CgroupFileInfo v2;
};

constexpr CgroupFileInfo kNone = {};

constexpr FileRow kRows[] = {
    {CgroupFile::kCpuStat, {"cpu", "cpu.stat"}, {"", "cpu.stat"}},
    {CgroupFile::kCpuShares,
     {"cpu", "cpu.shares", kAlways, 2, 262144},
     {"", "cpu.weight", kAlways, 1, 10000}},
    {CgroupFile::kCpuQuota,
     {"cpu", "cpu.cfs_quota_us", kAlways, -1, kMaxQuota},
     {"", "cpu.max", kAlways, -1, kMaxQuota}},
    {CgroupFile::kCpuPeriod,
     {"cpu", "cpu.cfs_period_us", kAlways, 1000, 1000000},
     {"", "cpu.max", kAlways, 1000, 1000000}},
    {CgroupFile::kCpuBurst,
     {"cpu", "cpu.cfs_burst_us", kInDirectory, 0, 100000000},
     {"", "cpu.max.burst", kInKubepods, 0, kAny}},
    {CgroupFile::kCpuBvt,
     {"cpu", "cpu.bvt_warp_ns", kInDirectory, -1, 2},
     {"", "cpu.bvt_warp_ns", kInDirectory, -1, 2}},
    {CgroupFile::kCpuIdle,
     {"cpu", "cpu.idle", kInKubepods, 0, 1},
     {"", "cpu.idle", kInKubepods, 0, 1}},
    {CgroupFile::kThreads, {"cpu", "tasks"}, {"", "cgroup.threads"}},
    {CgroupFile::kProcesses, {"cpu", "cgroup.procs"}, {"", "cgroup.procs"}},
    {CgroupFile::kCpuset, {"cpuset", "cpuset.cpus"}, {"", "cpuset.cpus"}},
    {CgroupFile::kCpuUsage, {"cpuacct", "cpuacct.usage"}, {"", "cpu.stat"}},
    {CgroupFile::kCpuPressure,
     {"cpuacct", "cpu.pressure", kInKubepods},
     {"", "cpu.pressure", kInKubepods}},
    {CgroupFile::kMemoryPressure,
     {"cpuacct", "memory.pressure", kInKubepods},
     {"", "memory.pressure", kInKubepods}},
    {CgroupFile::kIoPressure,
     {"cpuacct", "io.pressure", kInKubepods},
     {"", "io.pressure", kInKubepods}},
    {CgroupFile::kMemoryLimit,
     {"memory", "memory.limit_in_bytes", kAlways, -1, kAny},
     {"", "memory.max", kAlways, -1, kAny}},
    {CgroupFile::kMemoryUsage, {"memory", "memory.usage_in_bytes"}, {"", "memory.current"}},
    {CgroupFile::kMemoryStat, {"memory", "memory.stat"}, {"", "memory.stat"}},
    {CgroupFile::kMemoryNumaStat, {"memory", "memory.numa_stat"}, {"", "memory.numa_stat"}},
    {CgroupFile::kMemoryMin,
     {"memory", "memory.min", kInKubepods, 0, kAny},
     {"", "memory.min", kAlways, 0, kAny}},
    {CgroupFile::kMemoryLow,
     {"memory", "memory.low", kInKubepods, 0, kAny},
     {"", "memory.low", kAlways, 0, kAny}},
    {CgroupFile::kMemoryHigh,
     {"memory", "memory.high", kInKubepods, 0, kAny},
     {"", "memory.high", kAlways, 0, kAny}},
    {CgroupFile::kMemoryWmarkRatio,
     {"memory", "memory.wmark_ratio", kInKubepods, 0, 100},
     {"", "memory.wmark_ratio", kInDirectory, 0, 100}},
    {CgroupFile::kMemoryWmarkScaleFactor,
     {"memory", "memory.wmark_scale_factor", kInKubepods, 1, 1000},
     {"", "memory.wmark_scale_factor", kInDirectory, 1, 1000}},
    {CgroupFile::kMemoryWmarkMinAdj,
     {"memory", "memory.wmark_min_adj", kInKubepods, -25, 50},
     {"", "memory.wmark_min_adj", kInDirectory, -25, 50}},
    {CgroupFile::kMemoryPriority,
     {"memory", "memory.priority", kInKubepods, 0, 12},
     {"", "memory.priority", kInDirectory, 0, 12}},
    {CgroupFile::kMemoryUsePriorityOom,
     {"memory", "memory.use_priority_oom", kInKubepods, 0, 1},
     {"", "memory.use_priority_oom", kInDirectory, 0, 1}},
    {CgroupFile::kMemoryOomGroup,
     {"memory", "memory.oom.group", kInKubepods, 0, 1},
     {"", "memory.oom.group", kInDirectory, 0, 1}},
    {CgroupFile::kMemoryIdlePageStats, {"memory", "memory.idle_page_stats", kInKubepods}, kNone},
    {CgroupFile::kPageCacheLimitEnable,
     kNone,
     {"", "memory.pagecache_limit.enable", kInDirectory, 0, 1}},
    {CgroupFile::kPageCacheLimitSize,
     kNone,
     {"", "memory.pagecache_limit.size", kInDirectory, 0, kAny}},
    {CgroupFile::kPageCacheLimitSync,
     kNone,
     {"", "memory.pagecache_limit.sync", kInDirectory, 0, 1}},
    {CgroupFile::kBlkioReadIops,
     {"blkio", "blkio.throttle.read_iops_device", kInKubepods, 0, kAny},
     kNone},
    {CgroupFile::kBlkioReadBps,
     {"blkio", "blkio.throttle.read_bps_device", kInKubepods, 0, kAny},
     kNone},
    {CgroupFile::kBlkioWriteIops,
     {"blkio", "blkio.throttle.write_iops_device", kInKubepods, 0, kAny},
     kNone},
    {CgroupFile::kBlkioWriteBps,
     {"blkio", "blkio.throttle.write_bps_device", kInKubepods, 0, kAny},
     kNone},
    {CgroupFile::kBlkioCostWeight, {"blkio", "blkio.cost.weight", kInKubepods, 1, 100}, kNone},
    {CgroupFile::kBlkioCostQos, {"blkio", "blkio.cost.qos", kInRoot}, kNone},
    {CgroupFile::kBlkioCostModel, {"blkio", "blkio.cost.model", kInRoot}, kNone},
    {CgroupFile::kNetClassId, {"net_cls", "net_cls.classid", kInKubepods, 0, kMaxUint32}, kNone},
};

// Rows are found by their number.
constexpr bool InOrder() {
  for (int i = 0; i < kCgroupFileCount; ++i) {
    if (static_cast<int>(kRows[i].file) != i) return false;
  }
  return std::size(kRows) == kCgroupFileCount;
}
static_assert(InOrder());

}  // namespace

const CgroupFileInfo* InfoOf(CgroupFile file, CgroupVersion version) {
  const FileRow& row = kRows[static_cast<int>(file)];
  const CgroupFileInfo& info = version == CgroupVersion::kV1 ? row.v1 : row.v2;
  return info.name.empty() ? nullptr : &info;
}

}  // namespace koord::koordlet
