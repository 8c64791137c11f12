#pragma once
#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

// Tells containers which GPUs they were given, through the environment.
//
// Where the pod shares a GPU and HAMi-core isolates it, that library is mounted into the container,
// loaded before everything else, and told how much memory and time the container may use.
class GpuEnv final : public HookPlugin {
 public:
  explicit GpuEnv(const HookEnv& env) : env_(env) {}

  std::string_view name() const override { return "gpu env inject"; }
  HookStages stages() const override { return {HookStage::kPreCreateContainer}; }

  Status OnContainer(HookStage stage, const HookContainer& container,
                     ContainerResult& result) override;

 private:
  Status AddHami(const HookContainer& container, const kube::ResourceList& resources,
                 ContainerResult& result) const;
  Status AddMonitor(const HookContainer& container, ContainerResult& result) const;

  const HookEnv& env_;
};

}  // namespace koord::koordlet::hooks
