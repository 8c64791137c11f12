#pragma once
#include <memory>
#include <string>
#include <vector>

#include "koordlet/host/cgroup_layout.h"
#include "koordlet/host/directory_tree.h"
#include "koordlet/host/kernel.h"

namespace koord::koordlet {

// The kernel that this program runs on.
class RealKernel final : public Kernel {
 public:
  // `cgroups` outlives it. An empty mount point: resctrl is never mounted.
  RealKernel(const DirectoryTree& cgroups, CgroupVersion version, std::string resctrl_mount_point);

  int64_t page_size() const override { return page_size_; }
  Duration jiffy() const override { return jiffy_; }

  bool HasCoreScheduling() const override;
  StatusOr<uint64_t> CoreCookie(int32_t pid) const override;
  Status CreateCoreCookie(int32_t pid) override;
  Status ShareCoreCookie(int32_t from, int32_t to) override;
  Status ClearCoreCookie(int32_t pid) override;

  Status MountResctrl() override;

  StatusOr<std::unique_ptr<CpiCounter>> CountCpi(const CgroupDir& cgroup_dir,
                                                 const CpuSet& cpus) override;

 private:
  const DirectoryTree& cgroups_;
  const CgroupVersion version_;
  const std::string resctrl_mount_point_;
  const int64_t page_size_;
  const Duration jiffy_;
};

}  // namespace koord::koordlet
