#include "model/cpu/cpu_counts.h"

#include <utility>

namespace koord::model {

void CpuCounts::Add(const CpuSet& cpus) {
  CpuSet rest = cpus;
  for (CpuSet& layer : layers_) {
    CpuSet next = layer & rest;
    layer |= rest;
    rest = std::move(next);
    if (rest.empty()) return;
  }
  if (!rest.empty()) layers_.push_back(std::move(rest));
}

void CpuCounts::Remove(const CpuSet& cpus) {
  CpuSet rest = cpus;
  for (auto layer = layers_.rbegin(); layer != layers_.rend() && !rest.empty(); ++layer) {
    const CpuSet gone = *layer & rest;
    *layer -= gone;
    rest -= gone;
  }
  while (!layers_.empty() && layers_.back().empty()) layers_.pop_back();
}

size_t CpuCounts::CountOf(int32_t cpu) const {
  size_t count = 0;
  while (count < layers_.size() && layers_[count].Contains(cpu)) ++count;
  return count;
}

const CpuSet& CpuCounts::AtLeast(size_t holders) const {
  static const CpuSet kNone;
  return holders <= layers_.size() ? layers_[holders - 1] : kNone;
}

}  // namespace koord::model
