#pragma once
#include <memory>
#include <string>
#include <vector>

#include "koordlet/host/kernel.h"

namespace koord::koordlet {

// The kernel of a machine of which only files are there: an image in a directory, or a simulated
// one. The process ids in its files are not those of the machine that koordlet runs on, whose
// processes are left alone.
class ImageKernel final : public Kernel {
 public:
  int64_t page_size() const override { return 4096; }
  Duration jiffy() const override { return std::chrono::milliseconds(10); }

  bool HasCoreScheduling() const override { return false; }
  StatusOr<uint64_t> CoreCookie(int32_t pid) const override;
  Status CreateCoreCookie(int32_t pid) override;
  Status ShareCoreCookie(int32_t from, int32_t to) override;
  Status ClearCoreCookie(int32_t pid) override;
  Status MountResctrl() override;
  StatusOr<std::unique_ptr<CpiCounter>> CountCpi(const CgroupDir& cgroup_dir,
                                                 const CpuSet& cpus) override;
};

}  // namespace koord::koordlet
