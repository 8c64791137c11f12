#include "localcluster/nodes/cpu_topology.h"

#include <fmt/format.h>

namespace koord::localcluster {

std::vector<LogicalCpu> CpuTopologyOf(const NodeShape& shape) {
  const int64_t per_numa = shape.cpus / shape.numa;
  const int64_t numa_per_socket = shape.numa / shape.sockets;
  std::vector<LogicalCpu> cpus;
  cpus.reserve(static_cast<size_t>(shape.cpus));
  for (int64_t id = 0; id < shape.cpus; ++id) {
    const int64_t numa = id / per_numa;
    cpus.push_back({.id = static_cast<int32_t>(id),
                    .core = static_cast<int32_t>(id / shape.smt),
                    .socket = static_cast<int32_t>(numa / numa_per_socket),
                    .numa = static_cast<int32_t>(numa)});
  }
  return cpus;
}

std::string FormatCpuList(const std::vector<int32_t>& sorted) {
  std::string list;
  for (size_t i = 0; i < sorted.size();) {
    size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    if (!list.empty()) list += ',';
    list +=
        last == i ? fmt::format("{}", sorted[i]) : fmt::format("{}-{}", sorted[i], sorted[last]);
    i = last + 1;
  }
  return list;
}

}  // namespace koord::localcluster
