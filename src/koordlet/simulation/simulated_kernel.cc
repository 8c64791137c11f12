#include "koordlet/simulation/simulated_kernel.h"

namespace koord::koordlet {
namespace {

Status Lacks(std::string_view what) {
  return absl::UnimplementedError(fmt::format("a simulated machine has no {}", what));
}

}  // namespace

StatusOr<uint64_t> SimulatedKernel::CoreCookie(int32_t /*pid*/) const {
  return Lacks("core scheduling");
}
Status SimulatedKernel::CreateCoreCookie(int32_t /*pid*/) { return Lacks("core scheduling"); }
Status SimulatedKernel::ShareCoreCookie(int32_t /*from*/, int32_t /*to*/) {
  return Lacks("core scheduling");
}
Status SimulatedKernel::ClearCoreCookie(int32_t /*pid*/) { return Lacks("core scheduling"); }
Status SimulatedKernel::MountResctrl() { return Lacks("resctrl"); }

StatusOr<std::unique_ptr<Kernel::CpiCounter>> SimulatedKernel::CountCpi(
    const std::string& /*cgroup_dir*/, const std::vector<int32_t>& /*cpus*/) {
  return Lacks("performance counters");
}

}  // namespace koord::koordlet
