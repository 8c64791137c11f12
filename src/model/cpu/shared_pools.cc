#include "model/cpu/shared_pools.h"

#include <map>
#include <utility>

namespace koord::model {

std::vector<api::CpuSharedPool> SharedPoolsOf(const CpuTopology& topology, const CpuSet& taken,
                                              const CpuSet& kept_back) {
  std::map<std::pair<int32_t, int32_t>, CpuSet> pools;
  for (const Processor& each : topology.processors()) {
    if (!taken.Contains(each.cpu)) pools[{each.socket, each.node}].Add(each.cpu);
  }
  std::vector<api::CpuSharedPool> result;
  for (const auto& [where, cpus] : pools) {
    result.push_back(
        {.socket = where.first, .node = where.second, .cpuset = (cpus - kept_back).ToString()});
  }
  return result;
}

}  // namespace koord::model
