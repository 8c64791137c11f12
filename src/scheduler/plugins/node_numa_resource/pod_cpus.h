#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "model/cpu/cpu_accumulator.h"
#include "model/numa/numa_hints.h"
#include "scheduler/cluster/pod_shape.h"
#include "scheduler/framework/verdict.h"

namespace koord::scheduler {

inline constexpr std::string_view kMustBeInteger = "the requested CPUs must be integer";

// What a pod wants of CPUs and NUMA nodes, wherever it goes.
struct PodCpus {
  // Success, Skip (it asks for nothing), or why it can go nowhere.
  Verdict verdict;
  bool binds = false;  // asks for CPUs of its own
  std::optional<model::CpuBindPolicy> required;
  model::CpuBindPolicy preferred = model::CpuBindPolicy::kFullPcpus;  // of pods that bind
  model::CpuExclusivePolicy exclusive = model::CpuExclusivePolicy::kNone;
  model::NumaPolicy policy = model::NumaPolicy::kNone;
  bool exclusive_numa_nodes = false;  // singleNUMANodeExclusive, as it is applied
  int64_t milli_cpu = 0;

  int64_t cpus() const { return milli_cpu / 1000; }
  bool is_integer() const { return milli_cpu % 1000 == 0; }
};

PodCpus PodCpusOf(const PodShape& shape, std::string_view default_bind_policy);

}  // namespace koord::scheduler
