#include "koordlet/host/host.h"

#include <utility>

namespace koord::koordlet {

Host::Host(Trees trees, std::unique_ptr<Kernel> kernel, CgroupLayout layout)
    : trees_(std::move(trees)), kernel_(std::move(kernel)), cgroups_(*trees_.cgroup, layout) {}

}  // namespace koord::koordlet
