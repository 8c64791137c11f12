#include "koordlet/host/host.h"

#include <algorithm>
#include <utility>

namespace koord::koordlet {

Host::Host(Trees trees, std::unique_ptr<Kernel> kernel, CgroupLayout layout)
    : trees_(std::move(trees)), kernel_(std::move(kernel)), cgroups_(*trees_.cgroup, layout) {}

StatusOr<CpuInfo> Host::ReadCpuInfo() const {
  return koordlet::ReadCpuInfo(sys(), proc(), resctrl());
}

StatusOr<std::vector<NumaNode>> Host::ReadNumaNodes() const {
  return koordlet::ReadNumaNodes(sys(), proc());
}

bool Host::is_anolis() const {
  const bool v1 = cgroups_.layout().version == CgroupVersion::kV1;
  if (cgroup_files().Exists(v1 ? "cpu/cpu.bvt_warp_ns" : "cpu.bvt_warp_ns")) return true;
  const std::string_view memory = v1 ? "memory" : "";
  const auto entries = cgroup_files().List(memory);
  if (!entries.ok()) return false;
  return std::ranges::any_of(*entries, [&](const FileTree::Entry& entry) {
    return entry.is_directory && cgroup_files().Exists(fmt::format(
                                     "{}{}/memory.wmark_ratio", v1 ? "memory/" : "", entry.name));
  });
}

}  // namespace koord::koordlet
