#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "localcluster/nodes/node_shape.h"

namespace koord::localcluster {

// One logical processor. Ids are given out core by core, cores NUMA node by NUMA node, so that the
// threads of a core are neighbours and a NUMA node is one range of ids.
struct LogicalCpu {
  int32_t id = 0;
  int32_t core = 0;
  int32_t socket = 0;
  int32_t numa = 0;

  bool operator==(const LogicalCpu&) const = default;
};

std::vector<LogicalCpu> CpuTopologyOf(const NodeShape& shape);

// "0-3,8,10-11"
std::string FormatCpuList(const std::vector<int32_t>& sorted);

}  // namespace koord::localcluster
