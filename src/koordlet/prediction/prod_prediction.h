#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "base/milli_cpu.h"

// How much of what production pods have requested they will not need even at their peak. The
// arithmetic alone: the peaks come from the Predictor's models.
namespace koord::koordlet {

struct CpuAndMemory {
  MilliCpu cpu;
  int64_t memory = 0;  // bytes
  bool operator==(const CpuAndMemory&) const = default;
};

// A pod of class prod or none that is measured.
struct PredictedPod {
  CpuAndMemory request;
  bool is_young = false;             // too new to be judged by what it has used so far
  bool is_ending = false;            // terminating or terminated
  std::optional<CpuAndMemory> peak;  // p95 of cpu, p98 of memory; none: no model yet
};

struct PriorityPeaks {
  CpuAndMemory sys;
  CpuAndMemory prod;
  CpuAndMemory none;
};

struct ProdPrediction {
  std::optional<CpuAndMemory> reclaimable_by_pods;
  std::optional<CpuAndMemory> reclaimable_by_priority;
  std::optional<CpuAndMemory> reclaimable;  // the lesser of both; none: it cannot be said
  std::optional<CpuAndMemory> peak_by_pods;
  std::optional<CpuAndMemory> peak_by_priority;
  std::optional<CpuAndMemory> peak;  // the greater of both
};

// `margin_percent` is added to every peak. `allocatable`: none where the node is not known.
// `priorities`: none while one of their models is missing.
ProdPrediction PredictProd(std::span<const PredictedPod> pods,
                           const std::optional<PriorityPeaks>& priorities,
                           const std::optional<CpuAndMemory>& allocatable, int64_t margin_percent);

}  // namespace koord::koordlet
