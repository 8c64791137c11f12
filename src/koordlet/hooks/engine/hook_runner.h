#pragma once
#include <memory>
#include <span>
#include <vector>

#include "koordlet/hooks/engine/cpuset_grants.h"
#include "koordlet/hooks/engine/hook_plugin.h"
#include "koordlet/hooks/engine/result_writer.h"

namespace koord::koordlet::hooks {

// Runs the hooks of a stage for whoever is about to create, change or remove something.
//
// Hooks run in the order of their names. One that fails is logged and counted, and either ends the
// stage with its error or is passed over, as the failure policy says.
class HookRunner {
 public:
  // Two plugins with one name are a bug that ends the program.
  HookRunner(const HookEnv& env, std::vector<std::unique_ptr<HookPlugin>> plugins);

  // Stages that somebody takes part in, disabled ones aside.
  std::vector<HookStage> stages() const;
  std::span<const std::unique_ptr<HookPlugin>> plugins() const { return plugins_; }
  ResultWriter& writer() { return writer_; }
  CpusetGrants& grants() { return grants_; }
  const HookEnv& env() const { return env_; }

  // A pod as a runtime describes it, with the CPUs that it may have.
  HookPod MakePod(SandboxDescription description);
  HookContainer MakeContainer(const HookPod& pod, ContainerDescription description) const;

  // What is set in `result` holds also when the answer is an error.
  Status RunPod(HookStage stage, const HookPod& pod, PodResult& result);
  Status RunContainer(HookStage stage, const HookContainer& container, ContainerResult& result);

 private:
  template <class Call>
  Status Run(HookStage stage, std::string_view object, Call call);

  const HookEnv& env_;
  std::vector<std::unique_ptr<HookPlugin>> plugins_;  // by name
  ResultWriter writer_;
  CpusetGrants grants_;
  PodPolicy policy_;
  metrics::Histograms& durations_;
};

}  // namespace koord::koordlet::hooks
