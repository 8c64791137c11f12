#pragma once
#include <string>
#include <string_view>

#include "base/scope.h"
#include "koordlet/qos/eviction/eviction_record.h"
#include "koordlet/qos/framework/qos_strategy.h"
#include "koordlet/runtime/container_stopper.h"

namespace koord::koordlet {

// Kills the containers of pods at once, without asking anybody: what is short is short now. The
// kubelet starts them again, if anybody does.
class RuntimeEvictor final : public PodEvictor {
 public:
  // All of it outlives the evictor.
  RuntimeEvictor(ContainerStopper& stopper, EvictionRecord& record)
      : stopper_(stopper), record_(record) {}

  Result Evict(const NodePod& pod, std::string_view reason, std::string_view message) override;
  bool WasRefused(std::string_view) const override { return false; }

 private:
  ContainerStopper& stopper_;
  EvictionRecord& record_;
};

}  // namespace koord::koordlet
