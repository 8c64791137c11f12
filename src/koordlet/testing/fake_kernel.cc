#include "koordlet/testing/fake_kernel.h"

namespace koord::koordlet {
namespace {

class FakeCounter final : public Kernel::CpiCounter {
 public:
  FakeCounter(const FakeKernel& kernel, std::string dir)
      : kernel_(kernel), dir_(std::move(dir)), start_(Total()) {}

  StatusOr<Kernel::CpiCount> Read() override {
    if (!kernel_.cpi.contains(dir_)) return NotFound("{}: no such cgroup", dir_);
    const Kernel::CpiCount now = Total();
    return Kernel::CpiCount{now.cycles - start_.cycles, now.instructions - start_.instructions};
  }

 private:
  Kernel::CpiCount Total() const {
    const auto it = kernel_.cpi.find(dir_);
    return it == kernel_.cpi.end() ? Kernel::CpiCount{} : it->second;
  }

  const FakeKernel& kernel_;
  const std::string dir_;
  const Kernel::CpiCount start_;
};

}  // namespace

Status FakeKernel::CheckProcess(int32_t pid) const {
  if (!has_core_scheduling) return absl::UnimplementedError("no core scheduling");
  if (!cookies.contains(pid)) return NotFound("no process {}", pid);
  return absl::OkStatus();
}

StatusOr<uint64_t> FakeKernel::CoreCookie(int32_t pid) const {
  RETURN_IF_ERROR(CheckProcess(pid));
  return cookies.at(pid);
}

Status FakeKernel::CreateCoreCookie(int32_t pid) {
  RETURN_IF_ERROR(CheckProcess(pid));
  cookies[pid] = next_cookie++;
  return absl::OkStatus();
}

Status FakeKernel::ShareCoreCookie(int32_t from, int32_t to) {
  RETURN_IF_ERROR(CheckProcess(from));
  RETURN_IF_ERROR(CheckProcess(to));
  cookies[to] = cookies[from];
  return absl::OkStatus();
}

Status FakeKernel::MountResctrl() {
  ++resctrl_mounts;
  return absl::UnimplementedError("no resctrl");
}

Status FakeKernel::ClearCoreCookie(int32_t pid) {
  RETURN_IF_ERROR(CheckProcess(pid));
  cookies[pid] = 0;
  return absl::OkStatus();
}

StatusOr<std::unique_ptr<Kernel::CpiCounter>> FakeKernel::CountCpi(const CgroupDir& cgroup_dir,
                                                                   const CpuSet& /*cpus*/) {
  if (!has_perf) return absl::UnimplementedError("no performance counters");
  if (!cpi.contains(cgroup_dir.path())) return NotFound("{}: no such cgroup", cgroup_dir);
  return std::make_unique<FakeCounter>(*this, cgroup_dir.path());
}

}  // namespace koord::koordlet
