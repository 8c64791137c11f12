#pragma once
#include <string>
#include <string_view>

#include "koordlet/prediction/decaying_histogram.h"
#include "koordlet/prediction/prod_prediction.h"

namespace koord::koordlet {

struct UsageShapes {
  HistogramShape cpu;
  HistogramShape memory;
};

// What one pod, a class of pods or the node uses.
class UsageModel {
 public:
  explicit UsageModel(const UsageShapes& shapes) : cpu_(shapes.cpu), memory_(shapes.memory) {}

  void Add(double cores, double bytes, WallTime time);
  // p95 of cpu and p98 of memory.
  CpuAndMemory Peak() const;
  WallTime last_update() const { return last_update_; }
  size_t bytes() const { return sizeof(*this) + cpu_.bytes() + memory_.bytes(); }

  // {"UID", "CPU", "Memory", "LastUpdated"}
  std::string ToCheckpoint(std::string_view key) const;
  static StatusOr<UsageModel> FromCheckpoint(const UsageShapes& shapes, std::string_view key,
                                             std::string_view text, WallTime now);

 private:
  DecayingHistogram cpu_;
  DecayingHistogram memory_;
  WallTime last_update_{};
};

}  // namespace koord::koordlet
