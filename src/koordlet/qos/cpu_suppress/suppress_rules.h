#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/cpu_set.h"
#include "base/milli_cpu.h"
#include "koordlet/host/cpu_topology.h"
#include "koordlet/host/limit.h"

// How much CPU best-effort pods may have, and which processors. Numbers in, numbers out.
namespace koord::koordlet {

inline constexpr int64_t kMinBeQuotaMicros = 2000;
inline constexpr int64_t kMinBeCpus = 2;

// In cores.
struct NodeCpuUse {
  double node = 0;
  double pods = 0;
  double pods_not_be = 0;  // neither labelled BE nor BestEffort
  double host_apps = 0;
  double host_apps_not_be = 0;  // all but BE ones below the directory of best-effort pods
  double reserved = 0;          // kept for the system, whatever it uses
};

// What the others leave of `threshold_percent` of the node, which may be negative and
// is never more than the node. What nobody accounts for is the system's.
MilliCpu BeCpuLeft(MilliCpu capacity, int64_t threshold_percent, std::optional<int64_t> min_percent,
                   const NodeCpuUse& use);

// The quota of all best-effort pods together; none: leave it as it is. Small changes are not worth
// a write, and it grows by at most a tenth of the node at a time.
std::optional<int64_t> NextBeQuota(MilliCpu be, Limit current, int64_t capacity_cpus);

// How many processors; grows by at most a tenth of the node at a time, shrinks at once.
int64_t NextBeCpuCount(MilliCpu be, int64_t current_cpus, int64_t all_cpus);

// `count` processors spread over sockets and NUMA nodes, whole cores first. Empty where there are
// not that many.
CpuSet PickCpus(int64_t count, std::vector<Processor> from);

// `count` processors taken in proportion from those of LSR pods, whose idle cycles BE may use, and
// those that nobody has for himself. Empty: there is no good choice.
CpuSet ChooseBeCpus(int64_t count, const std::vector<Processor>& of_lsr,
                    const std::vector<Processor>& shared);

}  // namespace koord::koordlet
