#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_set.h"
#include "base/milli_cpu.h"
#include "base/status.h"
#include "koordlet/host/cgroup_file.h"
#include "koordlet/host/cgroup_layout.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/host/limit.h"

namespace koord::koordlet {

struct CpuStat {
  int64_t periods = 0;
  int64_t throttled = 0;
};
struct MemoryStat {  // bytes
  int64_t cache = 0;
  int64_t rss = 0;
  int64_t inactive_file = 0;
  int64_t active_file = 0;
  int64_t inactive_anon = 0;
  int64_t active_anon = 0;
  int64_t unevictable = 0;
};
struct NumaStat {  // pages
  // Of the lists that memory.stat has, too, in bytes.
  struct Lists {
    int64_t anon = 0;  // active and inactive
    int64_t file = 0;
    int64_t unevictable = 0;
  };
  std::vector<int64_t> by_node;
  std::optional<Lists> lists;  // none: version 2, or a kernel that counts no directories below
};
struct Pressure {  // percent
  struct Averages {
    double avg10 = 0;
    double avg60 = 0;
    double avg300 = 0;
  };
  Averages some;
  std::optional<Averages> full;  // none: this kernel does not say
};

// Parsers of what files hold; for those who keep files open.
StatusOr<int64_t> ParseCpuUsage(std::string_view text, CgroupVersion version);  // nanoseconds
StatusOr<CpuStat> ParseCpuStat(std::string_view text);
StatusOr<MemoryStat> ParseMemoryStat(std::string_view text, CgroupVersion version);
// The same for a file that is read again and again: it remembers where its lines are, which are a
// few of many.
using MemoryStatPlaces = std::array<uint32_t, 7>;
StatusOr<MemoryStat> ParseMemoryStat(std::string_view text, CgroupVersion version,
                                     MemoryStatPlaces& places);
StatusOr<NumaStat> ParseNumaStat(std::string_view text, CgroupVersion version);
StatusOr<Pressure> ParsePressure(std::string_view text);
StatusOr<std::vector<int32_t>> ParseIds(std::string_view text);  // processes, threads
StatusOr<Limit> ParseLimit(std::string_view text);               // a number; -1 or max: unlimited

// The control groups of a machine, in whichever version it has them. Typed readers; writers go
// through the ResourceExecutor.
class Cgroups {
 public:
  // Neither driver nor version is found out here: see Host.
  Cgroups(FileTree& tree, CgroupLayout layout);

  const CgroupLayout& layout() const { return layout_; }
  FileTree& tree() const { return tree_; }

  // Relative to the root of all: "cpu/kubepods.slice/cpu.cfs_quota_us". Unimplemented where this
  // version has no such thing.
  StatusOr<std::string> PathOf(CgroupFile file, const CgroupDir& dir) const;
  bool IsSupported(CgroupFile file, const CgroupDir& dir) const;
  bool HasDir(const CgroupDir& dir) const;  // v1: in the subsystem cpu
  // The names of the directories right below one.
  StatusOr<std::vector<std::string>> SubDirs(const CgroupDir& dir,
                                             std::string_view subsystem = "cpu") const;

  // The directory in a pod's of the container that holds its namespaces: the one that is none of
  // the pod's containers. None while the pod has no containers yet.
  StatusOr<std::optional<CgroupDir>> FindSandboxDir(
      const CgroupDir& pod_dir, std::span<const CgroupDir> container_dirs) const;

  // Reads what is in effect, which in version 2 is another file than is written for CPU sets.
  StatusOr<std::string> Read(CgroupFile file, const CgroupDir& dir) const;
  StatusOr<std::unique_ptr<OpenFile>> Open(CgroupFile file, const CgroupDir& dir) const;

  StatusOr<int64_t> ReadCpuUsage(const CgroupDir& dir) const;
  StatusOr<CpuStat> ReadCpuStat(const CgroupDir& dir) const;
  StatusOr<int64_t> ReadCpuShares(const CgroupDir& dir) const;  // v2: converted from the weight
  StatusOr<Limit> ReadCpuQuota(const CgroupDir& dir) const;
  StatusOr<int64_t> ReadCpuPeriod(const CgroupDir& dir) const;
  StatusOr<CpuSet> ReadCpuset(const CgroupDir& dir) const;  // v2: the effective one
  StatusOr<Limit> ReadMemoryLimit(const CgroupDir& dir) const;
  StatusOr<int64_t> ReadMemoryUsage(const CgroupDir& dir) const;
  StatusOr<MemoryStat> ReadMemoryStat(const CgroupDir& dir) const;
  StatusOr<Pressure> ReadPressure(CgroupFile file, const CgroupDir& dir) const;
  StatusOr<std::vector<int32_t>> ReadProcesses(const CgroupDir& dir) const;
  StatusOr<std::vector<int32_t>> ReadThreads(const CgroupDir& dir) const;

 private:
  std::string Join(std::string_view subsystem, std::string_view dir, std::string_view name) const;
  StatusOr<std::string> ReadPathOf(CgroupFile file, const CgroupDir& dir) const;
  bool IsIn(CgroupFile file, const CgroupFileInfo& info, const CgroupDir& dir) const;
  template <class Parse>
  auto ReadAs(CgroupFile file, const CgroupDir& dir, Parse parse) const
      -> decltype(parse(std::string_view()));
  StatusOr<int64_t> ReadNumber(CgroupFile file, const CgroupDir& dir) const;

  FileTree& tree_;
  const CgroupLayout layout_;
  mutable std::array<std::optional<bool>, kCgroupFileCount> probed_;  // in kubepods, in the root
};

// Amounts of Kubernetes in the kernel's units.
int64_t SharesOf(MilliCpu cpu);
Limit QuotaOf(MilliCpu cpu);  // per 100 ms
int64_t WeightOfShares(int64_t shares);
int64_t SharesOfWeight(int64_t weight);
inline constexpr int64_t kCpuPeriodMicros = 100000;

}  // namespace koord::koordlet
