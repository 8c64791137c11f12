#pragma once
#include <string>

#include "base/status.h"
#include "kube/json.h"

namespace koord::cli {

// A machine's devices as text: by NUMA node and PCIe switch, how much of each is taken, and by
// whom. From what the scheduler's DeviceShare says of a node (see docs/devices.md). No line is
// longer than `width`, which is at least 60.
StatusOr<std::string> DrawDevices(const kube::Json& node, size_t width = 100);

}  // namespace koord::cli
