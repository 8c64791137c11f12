#pragma once
#include "koordlet/hooks/engine/hook_plugin.h"
#include "koordlet/hooks/engine/normalization_ratio.h"

namespace koord::koordlet::hooks {

// Gives best-effort pods the batch resources that they ask for.
//
// Kubernetes does not know what batch-cpu and batch-memory mean, so the cgroups of such pods would
// have no limits and the least of all shares. Shares follow the requests, quota and memory limit
// the limits; a container without a limit has none, and then neither has its pod. While all BE pods
// together are throttled by quota, none has a quota of its own.
class BatchResource final : public HookPlugin {
 public:
  explicit BatchResource(const HookEnv& env) : env_(env), ratio_(env) {}

  std::string_view name() const override { return "BatchResource"; }
  HookStages stages() const override {
    return {HookStage::kPreRunPodSandbox, HookStage::kPreCreateContainer,
            HookStage::kPreUpdateContainerResources};
  }

  Status OnPod(HookStage stage, const HookPod& pod, PodResult& result) override;
  Status OnContainer(HookStage stage, const HookContainer& container,
                     ContainerResult& result) override;
  bool OnStateChange() override;

 private:
  Limit BatchQuota(Limit milli) const;

  const HookEnv& env_;
  NormalizationRatio ratio_;
  bool suppresses_by_quota_ = false;
};

}  // namespace koord::koordlet::hooks
