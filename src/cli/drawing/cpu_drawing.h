#pragma once
#include <string>

#include "base/status.h"
#include "kube/json.h"

namespace koord::cli {

// A machine's processors as text: sockets, NUMA nodes and cores, who holds which thread, and below
// who that is. From what the scheduler's NodeNUMAResource says of a node (see docs/cpus.md). No
// line is longer than `width`, which is at least 60.
StatusOr<std::string> DrawCpus(const kube::Json& node, size_t width = 100);

}  // namespace koord::cli
