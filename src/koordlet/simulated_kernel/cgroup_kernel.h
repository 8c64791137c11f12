#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_set.h"
#include "koordlet/host/cgroups.h"
#include "koordlet/host/memory_tree.h"

namespace koord::koordlet {

// Plays the kernel's part in a tree of cgroups: fills new directories with its files, keeps what is
// written in the kernel's own words, and refuses what it refuses. So a test that runs on it shows
// that every write was legal when it was made:
//  - numbers outside of a file's range, quotas of less than a millisecond: InvalidArgument (EINVAL)
//  - a quota above the parent's or below a child's, in version 1: InvalidArgument (EINVAL)
//  - a burst above the quota or a quota below the burst, except on Anolis: InvalidArgument (EINVAL)
//  - an empty set of CPUs in version 1: FailedPrecondition (ENOSPC)
//  - CPUs that the parent lacks, in version 1: PermissionDenied (EACCES)
//  - CPUs that a child still has, in version 1: FailedPrecondition (EBUSY)
// Memory is rounded down to pages.
class CgroupKernel {
 public:
  struct Options {
    CgroupLayout layout;
    bool anolis = false;
    CpuSet cpus;
    int numa_nodes = 1;
  };

  // Takes over a tree whose root was filled before, or an empty one, which it fills.
  CgroupKernel(MemoryTree& tree, Options options);

  // With those above it. In version 1 in every subsystem.
  void AddDirectory(std::string_view dir);
  void RemoveDirectory(std::string_view dir);
  bool Has(CgroupFile file) const;  // whether this kernel makes such files

  // What the kernel says of itself; writes by others go through the tree.
  void Set(CgroupFile file, std::string_view dir, std::string_view text);
  std::string Get(CgroupFile file, std::string_view dir) const;

 private:
  struct Place;

  std::vector<std::string_view> Subsystems() const;
  std::string DefaultOf(CgroupFile file, std::string_view dir) const;
  void Fill(std::string_view dir);

  Status Write(std::string_view path, std::string_view text);
  StatusOr<Place> Locate(std::string_view path) const;
  Status WriteCpuset(const Place& place, std::string_view text);
  Status WriteQuota(const Place& place, std::string_view text);
  Status WriteBurst(const Place& place, std::string_view text);
  Status WriteMemory(const Place& place, std::string_view text);
  Status WriteDeviceLine(const Place& place, std::string_view text);
  Status WriteNumber(const Place& place, std::string_view text);

  int64_t BurstOf(std::string_view dir) const;
  Limit QuotaOf(std::string_view dir) const;
  bool QuotaFits(std::string_view dir, Limit quota) const;
  bool ChildrenFit(std::string_view dir, Limit quota) const;
  CpuSet CpusOf(std::string_view dir) const;
  void UpdateEffective(std::string_view dir);
  void UpdateEffective(std::string_view dir, const CpuSet& parent);

  MemoryTree& tree_;
  const Options options_;
  const Cgroups cgroups_;
};

}  // namespace koord::koordlet
