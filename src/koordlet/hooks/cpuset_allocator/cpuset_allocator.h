#pragma once
#include <memory>
#include <optional>
#include <string>

#include "base/string_map.h"
#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

// Says on which CPUs a container runs.
//
// A pod that the scheduler gave CPUs of its own has these, and loses its CPU quota, which would
// only throttle it on CPUs that nobody else uses. Others share the pools of the topology object: of
// the NUMA nodes that the scheduler picked, else all of them. Best-effort pods are left to whoever
// suppresses them, and so is what the kubelet pins itself.
class CpusetAllocator final : public HookPlugin {
 public:
  explicit CpusetAllocator(const HookEnv& env);

  std::string_view name() const override { return "CPUSetAllocator"; }
  HookStages stages() const override {
    return {HookStage::kPreRunPodSandbox, HookStage::kPreCreateContainer,
            HookStage::kPreUpdateContainerResources};
  }

  Status OnPod(HookStage stage, const HookPod& pod, PodResult& result) override;
  Status OnContainer(HookStage stage, const HookContainer& container,
                     ContainerResult& result) override;
  Status OnHostApplication(const api::HostApplication& application, DirResult& result) override;
  bool OnStateChange() override;
  void OnPass(std::span<const ReconciledPod> pods) override;

 private:
  std::optional<std::string> CpusOf(const HookPod& pod) const;
  std::optional<std::string> CpusOfNumaNodes(const HookPod& pod) const;
  std::optional<std::string> CpusOfKubelet(const HookPod& pod) const;
  bool MayHaveLostQuota(const HookPod& pod) const;
  bool LosesQuota(const HookPod& pod) const;
  void CountPools();
  void CountEachCpu();

  const HookEnv& env_;
  std::shared_ptr<const TopologyView> topology_;
  StringSet without_quota_;  // uids of pods that lost theirs
  metrics::Gauges& ls_cores_;
  metrics::Gauges& be_cores_;
  metrics::Gauges* ls_cpus_ = nullptr;
  metrics::Gauges* be_cpus_ = nullptr;
};

}  // namespace koord::koordlet::hooks
