#pragma once
#include <optional>

#include "koordlet/hooks/engine/hook_plugin.h"
#include "koordlet/hooks/engine/normalization_ratio.h"

namespace koord::koordlet::hooks {

// Gives pods on a fast node less CPU time for the same limit, so that a limit means the same amount
// of work everywhere.
//
// Only pods that share CPUs: LS, or of no class. The node's annotation says how much faster it is;
// when it goes away, and when koordlet finds quotas at its start that are lower than the limits,
// the limits are put back. Scales the same file as CPU burst does; use one of the two.
class CpuNormalization final : public HookPlugin {
 public:
  explicit CpuNormalization(const HookEnv& env) : env_(env), ratio_(env) {}

  std::string_view name() const override { return "CPUNormalization"; }
  HookStages stages() const override {
    return {HookStage::kPreRunPodSandbox, HookStage::kPreCreateContainer,
            HookStage::kPreUpdateContainerResources};
  }

  Status OnPod(HookStage stage, const HookPod& pod, PodResult& result) override;
  Status OnContainer(HookStage stage, const HookContainer& container,
                     ContainerResult& result) override;
  bool OnStateChange() override;
  void AfterRewrite() override { is_restoring_ = false; }
  void OnPass(std::span<const ReconciledPod> pods) override;

 private:
  std::optional<Limit> QuotaOf(const HookPod& pod, std::optional<Limit> original) const;
  std::vector<Update> LowQuotas(std::span<const ReconciledPod> pods, bool of_containers) const;

  const HookEnv& env_;
  NormalizationRatio ratio_;
  bool is_restoring_ = false;  // the ratio has just been taken away
  bool has_looked_for_low_quotas_ = false;
};

}  // namespace koord::koordlet::hooks
