#include "koordlet/hooks/registry.h"

#include "koordlet/hooks/batch_resource/batch_resource.h"
#include "koordlet/hooks/core_sched/core_sched.h"
#include "koordlet/hooks/cpu_normalization/cpu_normalization.h"
#include "koordlet/hooks/cpuset_allocator/cpuset_allocator.h"
#include "koordlet/hooks/gpu_env/gpu_env.h"
#include "koordlet/hooks/group_identity/group_identity.h"
#include "koordlet/hooks/oom_score/oom_score.h"
#include "koordlet/hooks/pod_resctrl/pod_resctrl.h"
#include "koordlet/hooks/rdma_device/rdma_device.h"
#include "koordlet/hooks/tc_network_qos/tc_network_qos.h"
#include "koordlet/hooks/terway_qos/terway_qos.h"

namespace koord::koordlet::hooks {

std::vector<std::unique_ptr<HookPlugin>> MakePlugins(const HookEnv& env, const HookTools& tools) {
  std::vector<std::unique_ptr<HookPlugin>> plugins;
  const auto add = [&](std::string_view gate, auto make) {
    if (env.gates.Enabled(gate)) plugins.push_back(make());
  };
  add("BatchResource", [&] { return std::make_unique<BatchResource>(env); });
  add("CPUNormalization", [&] { return std::make_unique<CpuNormalization>(env); });
  add("CPUSetAllocator", [&] { return std::make_unique<CpusetAllocator>(env); });
  add("CoreSched", [&] { return std::make_unique<CoreSched>(env); });
  add("GPUEnvInject", [&] { return std::make_unique<GpuEnv>(env); });
  add("GroupIdentity", [&] { return std::make_unique<GroupIdentity>(env); });
  add("OOMScoreAdj", [&] { return std::make_unique<OomScore>(env); });
  add("RDMADeviceInject", [&] { return std::make_unique<RdmaDevice>(env); });
  add("Resctrl", [&] { return std::make_unique<PodResctrl>(env); });
  add("TCNetworkQoS", [&] { return std::make_unique<TcNetworkQos>(env, tools.network); });
  add("TerwayQoS", [&] { return std::make_unique<TerwayQos>(env, tools.terway); });
  return plugins;
}

}  // namespace koord::koordlet::hooks
