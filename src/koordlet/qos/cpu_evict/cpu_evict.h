#pragma once
#include <vector>

#include "base/problem_log.h"
#include "koordlet/qos/cpu_evict/satisfaction.h"
#include "koordlet/qos/eviction/eviction.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

// Evicts pods when CPU runs short, for up to three reasons, each with a gate of its own:
//   BECPUEvict           best-effort pods have got far less CPU than they asked for
//   CPUAllocatableEvict  pods of low priority ask for more than the node has for them by now
//   CPUEvict             the whole node's use is too high
class CpuEvict final : public QosStrategy {
 public:
  explicit CpuEvict(const QosContext& context);

  std::string_view name() const override { return "CPUEvict"; }
  Duration interval() const override { return context_.options.cpu_evict_interval; }
  void Run() override;

 private:
  using Strategy = api::ResourceThresholdStrategy;

  void AddSatisfactionTask(const Strategy& strategy, std::vector<EvictionTask>& tasks);
  void AddAllocatableTask(const Strategy& strategy, std::vector<EvictionTask>& tasks);
  void AddUsageTask(const Strategy& strategy, std::vector<EvictionTask>& tasks);

  Duration Window(const Strategy& strategy) const;
  bool Covers(size_t samples, Duration window) const;
  std::vector<Victim> BeVictims() const;

  QosContext context_;
  ProblemLog problems_;
  CoolTime cool_time_;
};

}  // namespace koord::koordlet
