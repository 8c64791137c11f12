#pragma once
#include <string_view>

#include "base/status.h"

namespace koord::koordlet {

// Opens a path below a directory by hand, one component after the other, for kernels that have no
// openat2. Links are refused, or followed as long as they stay below the directory. The answer is
// a descriptor, or -1 with errno: EXDEV and ELOOP as openat2 has them.
int WalkBeneath(int directory, std::string_view path, int flags, bool follow_links);

}  // namespace koord::koordlet
