#pragma once
#include <cstdint>
#include <optional>
#include <vector>

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

// Milli-cores that the others leave of `threshold_percent` of the node, which may be negative and
// is never more than the node. What nobody accounts for is the system's.
int64_t BeMilliCores(int64_t capacity_milli, int64_t threshold_percent,
                     std::optional<int64_t> min_percent, const NodeCpuUse& use);

// The quota of all best-effort pods together; none: leave it as it is. Small changes are not worth
// a write, and it grows by at most a tenth of the node at a time.
std::optional<int64_t> NextBeQuota(int64_t be_milli, Limit current, int64_t capacity_cpus);

// How many processors; grows by at most a tenth of the node at a time, shrinks at once.
int64_t NextBeCpuCount(int64_t be_milli, int64_t current_cpus, int64_t all_cpus);

// `count` processors spread over sockets and NUMA nodes, whole cores first. Empty where there are
// not that many. Ascending.
std::vector<int32_t> PickCpus(int64_t count, std::vector<Processor> from);

// `count` processors taken in proportion from those of LSR pods, whose idle cycles BE may use, and
// those that nobody has for himself. Empty: there is no good choice.
std::vector<int32_t> ChooseBeCpus(int64_t count, const std::vector<Processor>& of_lsr,
                                  const std::vector<Processor>& shared);

}  // namespace koord::koordlet
