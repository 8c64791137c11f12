#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "koordlet/host/kernel.h"

namespace koord::koordlet {

// A kernel whose answers a test decides.
class FakeKernel final : public Kernel {
 public:
  int64_t page = 4096;
  Duration tick = std::chrono::milliseconds(10);
  bool has_core_scheduling = true;
  bool has_perf = true;
  int resctrl_mounts = 0;               // how often it was asked for
  std::map<int32_t, uint64_t> cookies;  // of processes; 0: none of its own
  std::map<std::string, CpiCount> cpi;  // by cgroup directory, since ever
  uint64_t next_cookie = 1;

  int64_t page_size() const override { return page; }
  Duration jiffy() const override { return tick; }

  bool HasCoreScheduling() const override { return has_core_scheduling; }
  StatusOr<uint64_t> CoreCookie(int32_t pid) const override;
  Status CreateCoreCookie(int32_t pid) override;
  Status ShareCoreCookie(int32_t from, int32_t to) override;
  Status ClearCoreCookie(int32_t pid) override;
  Status MountResctrl() override;
  StatusOr<std::unique_ptr<CpiCounter>> CountCpi(const CgroupDir& cgroup_dir,
                                                 const CpuSet& cpus) override;

 private:
  Status CheckProcess(int32_t pid) const;
};

}  // namespace koord::koordlet
