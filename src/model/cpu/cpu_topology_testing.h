#pragma once
#include <vector>

#include "model/cpu/cpu_topology.h"

namespace koord::model {

// How the threads of a core are numbered: one after the other, or as Linux does on most machines,
// first all first threads.
enum class Threads : uint8_t { kAdjacent, kFarApart };

// A machine of sockets x NUMA nodes per socket x cores per NUMA node x threads per core.
inline CpuTopology Machine(int32_t sockets, int32_t nodes, int32_t cores, int32_t threads,
                           Threads numbering = Threads::kAdjacent) {
  std::vector<Processor> processors;
  const int32_t all_cores = sockets * nodes * cores;
  for (int32_t core = 0; core < all_cores; ++core) {
    for (int32_t thread = 0; thread < threads; ++thread) {
      const int32_t cpu =
          numbering == Threads::kAdjacent ? core * threads + thread : thread * all_cores + core;
      const int32_t node = core / cores;
      processors.push_back({.cpu = cpu, .core = core, .socket = node / nodes, .node = node});
    }
  }
  return processors;
}

}  // namespace koord::model
