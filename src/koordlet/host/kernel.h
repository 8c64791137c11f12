#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/cpu_set.h"
#include "base/status.h"
#include "koordlet/host/cgroup_dir.h"

namespace koord::koordlet {

// What koordlet asks of the kernel other than by files. Simulated machines answer by themselves.
class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual int64_t page_size() const = 0;
  virtual Duration jiffy() const = 0;

  // Core scheduling (prctl PR_SCHED_CORE): tasks share an SMT core only with tasks of their cookie.
  virtual bool HasCoreScheduling() const = 0;
  virtual StatusOr<uint64_t> CoreCookie(int32_t pid) const = 0;
  virtual Status CreateCoreCookie(int32_t pid) = 0;              // for its thread group
  virtual Status ShareCoreCookie(int32_t from, int32_t to) = 0;  // to a thread group
  virtual Status ClearCoreCookie(int32_t pid) = 0;               // of its thread group

  // Where the resctrl tree of the host is, unless it is there already.
  virtual Status MountResctrl() = 0;

  // Cycles and instructions of a cgroup since the counter was made; null where perf does not work.
  struct CpiCount {
    double cycles = 0;
    double instructions = 0;
  };
  class CpiCounter {
   public:
    virtual ~CpiCounter() = default;
    virtual StatusOr<CpiCount> Read() = 0;
  };
  virtual StatusOr<std::unique_ptr<CpiCounter>> CountCpi(const CgroupDir& cgroup_dir,
                                                         const CpuSet& cpus) = 0;
};

}  // namespace koord::koordlet
