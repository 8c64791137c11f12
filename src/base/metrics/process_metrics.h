#pragma once
#include <string>

#include "base/metrics/metrics.h"

namespace koord::metrics {

// What every program tells about its own process, under the names of Prometheus' client libraries:
// CPU time, memory, open files, start. Read from /proc when somebody asks; what cannot be read is
// left out. `proc` is for tests.
void AddProcessMetrics(Registry& registry, const std::string& proc = "/proc");

}  // namespace koord::metrics
