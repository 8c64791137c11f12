#include "koordlet/app/registry.h"

#include <string_view>

#include "koordlet/hooks/batch_resource/batch_resource.h"
#include "koordlet/hooks/core_sched/core_sched.h"
#include "koordlet/hooks/cpu_normalization/cpu_normalization.h"
#include "koordlet/hooks/cpuset_allocator/cpuset_allocator.h"
#include "koordlet/hooks/gpu_env/gpu_env.h"
#include "koordlet/hooks/group_identity/group_identity.h"
#include "koordlet/hooks/oom_score/oom_score.h"
#include "koordlet/hooks/pod_resctrl/pod_resctrl.h"
#include "koordlet/hooks/rdma_device/rdma_device.h"

namespace koord::koordlet {
std::vector<std::unique_ptr<hooks::HookPlugin>> AllHooks(const hooks::HookEnv& env) {
  std::vector<std::unique_ptr<hooks::HookPlugin>> plugins;
  const auto add = [&]<class Plugin>(std::string_view gate) {
    if (env.gates.Enabled(gate)) plugins.push_back(std::make_unique<Plugin>(env));
  };
  add.operator()<hooks::GroupIdentity>("GroupIdentity");
  add.operator()<hooks::CpusetAllocator>("CPUSetAllocator");
  add.operator()<hooks::BatchResource>("BatchResource");
  add.operator()<hooks::CpuNormalization>("CPUNormalization");
  add.operator()<hooks::CoreSched>("CoreSched");
  add.operator()<hooks::GpuEnv>("GPUEnvInject");
  add.operator()<hooks::RdmaDevice>("RDMADeviceInject");
  add.operator()<hooks::OomScore>("OOMScoreAdj");
  add.operator()<hooks::PodResctrl>("Resctrl");
  return plugins;
}

}  // namespace koord::koordlet
