#include "koordlet/app/registry.h"

#include <algorithm>
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
#include "koordlet/qos/blkio/blkio_qos.h"
#include "koordlet/qos/cpu_burst/cpu_burst.h"
#include "koordlet/qos/cpu_evict/cpu_evict.h"
#include "koordlet/qos/cpu_suppress/cpu_suppress.h"
#include "koordlet/qos/memory_evict/memory_evict.h"
#include "koordlet/qos/memory_qos/memory_qos.h"
#include "koordlet/qos/resctrl/resctrl_qos.h"
#include "koordlet/qos/system_config/system_config.h"

namespace koord::koordlet {
namespace {

bool AnyEnabled(const FeatureGates& gates, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return gates.Enabled(name); });
}

}  // namespace

std::vector<std::unique_ptr<QosStrategy>> AllStrategies(const QosContext& context) {
  std::vector<std::unique_ptr<QosStrategy>> strategies;
  const auto add = [&]<class Strategy>(std::initializer_list<std::string_view> gates) {
    if (AnyEnabled(context.gates, gates)) strategies.push_back(std::make_unique<Strategy>(context));
  };
  add.operator()<CpuSuppress>({"BECPUSuppress"});
  add.operator()<CpuEvict>({"BECPUEvict", "CPUAllocatableEvict", "CPUEvict"});
  add.operator()<MemoryEvict>({"BEMemoryEvict", "MemoryAllocatableEvict", "MemoryEvict"});
  add.operator()<CpuBurst>({"CPUBurst"});
  add.operator()<MemoryQosStrategy>({"CgroupReconcile"});
  add.operator()<BlkioQosStrategy>({"BlkIOReconcile"});
  add.operator()<ResctrlQosStrategy>({"RdtResctrl"});
  add.operator()<SystemConfig>({"SystemConfig"});
  return strategies;
}

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
