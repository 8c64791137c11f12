#include "koordlet/host/image_kernel.h"

namespace koord::koordlet {
namespace {

Status NothingRuns() { return absl::UnimplementedError("this machine consists of files"); }

}  // namespace

StatusOr<uint64_t> ImageKernel::CoreCookie(int32_t) const { return NothingRuns(); }
Status ImageKernel::CreateCoreCookie(int32_t) { return NothingRuns(); }
Status ImageKernel::ShareCoreCookie(int32_t, int32_t) { return NothingRuns(); }
Status ImageKernel::ClearCoreCookie(int32_t) { return NothingRuns(); }
Status ImageKernel::MountResctrl() { return NothingRuns(); }

StatusOr<std::unique_ptr<Kernel::CpiCounter>> ImageKernel::CountCpi(const CgroupDir&,
                                                                    const CpuSet&) {
  return NothingRuns();
}

}  // namespace koord::koordlet
