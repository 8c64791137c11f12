#pragma once
#include "koordlet/host/kernel.h"

namespace koord::koordlet {

// The kernel of a simulated machine: it has files, and nothing of what only hardware can do.
class SimulatedKernel final : public Kernel {
 public:
  int64_t page_size() const override { return 4096; }
  Duration jiffy() const override { return std::chrono::milliseconds(10); }

  bool HasCoreScheduling() const override { return false; }
  StatusOr<uint64_t> CoreCookie(int32_t pid) const override;
  Status CreateCoreCookie(int32_t pid) override;
  Status ShareCoreCookie(int32_t from, int32_t to) override;
  Status ClearCoreCookie(int32_t pid) override;
  Status MountResctrl() override;
  StatusOr<std::unique_ptr<CpiCounter>> CountCpi(const std::string& cgroup_dir,
                                                 const std::vector<int32_t>& cpus) override;
};

}  // namespace koord::koordlet
