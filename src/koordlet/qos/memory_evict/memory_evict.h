#pragma once
#include <vector>

#include "koordlet/qos/eviction/eviction.h"
#include "koordlet/qos/eviction/victims.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

// Evicts pods before the kernel kills processes at random, for up to three reasons, each with a
// gate of its own:
//   BEMemoryEvict           the node's use is too high: best-effort pods go
//   MemoryAllocatableEvict  pods of low priority ask for more than the node has for them by now
//   MemoryEvict             the node's use is too high: pods up to a priority go
class MemoryEvict final : public QosStrategy {
 public:
  explicit MemoryEvict(const QosContext& context);

  std::string_view name() const override { return "memoryEvict"; }
  Duration interval() const override { return context_.options.memory_evict_interval; }
  void Run() override;

 private:
  using Strategy = api::ResourceThresholdStrategy;

  // Bytes to free; none: memory is not short, or nobody knows.
  std::optional<int64_t> Release(const Strategy& strategy, int64_t capacity) const;
  std::vector<Victim> BeVictims() const;

  QosContext context_;
  CoolTime cool_time_;
};

}  // namespace koord::koordlet
