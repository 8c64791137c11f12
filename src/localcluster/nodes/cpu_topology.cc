#include "localcluster/nodes/cpu_topology.h"

#include <utility>
#include <vector>

namespace koord::localcluster {

model::CpuTopology CpuTopologyOf(const NodeShape& shape) {
  const int64_t per_numa = shape.cpus / shape.numa;
  const int64_t numa_per_socket = shape.numa / shape.sockets;
  std::vector<model::Processor> processors;
  processors.reserve(static_cast<size_t>(shape.cpus));
  for (int64_t cpu = 0; cpu < shape.cpus; ++cpu) {
    const int64_t numa = cpu / per_numa;
    const auto socket = static_cast<int32_t>(numa / numa_per_socket);
    processors.push_back({.cpu = static_cast<int32_t>(cpu),
                          .core = static_cast<int32_t>(cpu / shape.smt),
                          .socket = socket,
                          .node = static_cast<int32_t>(numa),
                          .l3 = socket});
  }
  return processors;
}

}  // namespace koord::localcluster
