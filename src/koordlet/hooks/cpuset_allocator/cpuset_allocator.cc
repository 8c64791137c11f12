#include "koordlet/hooks/cpuset_allocator/cpuset_allocator.h"

#include <algorithm>
#include <vector>

#include "api/extended_resources.h"
#include "base/cpu_set.h"

namespace koord::koordlet::hooks {
namespace {

using api::QosClass;
using Pools = std::vector<api::CpuSharedPool>;

void AppendCpus(std::string& text, const std::string& cpus) {
  if (cpus.empty()) return;
  if (!text.empty()) text += ',';
  text += cpus;
}

std::string AllCpusOf(const Pools& pools) {
  std::string text;
  for (const api::CpuSharedPool& pool : pools) AppendCpus(text, pool.cpuset);
  return text;
}

bool HasCpu(const api::NumaNodeResource& resources) {
  return kube::AmountOf(resources.resources, kube::kCpu).Sign() > 0 ||
         kube::AmountOf(resources.resources, api::kBatchCpu).Sign() > 0;
}

CpuSet CpusIn(const Pools& pools) {
  CpuSet all;
  for (const api::CpuSharedPool& pool : pools) {
    const auto cpus = CpuSet::Parse(pool.cpuset);
    if (cpus.ok()) all |= *cpus;
  }
  return all;
}

}  // namespace

CpusetAllocator::CpusetAllocator(const HookEnv& env)
    : env_(env),
      ls_cores_(env.registry.AddGauges("koordlet_cpuset_share_pool_cpu_cores",
                                       "CPUs that LS pods share", {"node"})),
      be_cores_(env.registry.AddGauges("koordlet_cpuset_be_share_pool_cpu_cores",
                                       "CPUs that BE pods share", {"node"})) {
  if (!env.gates.Enabled("PerCPUMetric")) return;
  ls_cpus_ = &env.registry.AddGauges("koordlet_cpuset_share_pool_info",
                                     "Each CPU that LS pods share", {"node", "cpu"});
  be_cpus_ = &env.registry.AddGauges("koordlet_cpuset_be_share_pool_info",
                                     "Each CPU that BE pods share", {"node", "cpu"});
}

bool CpusetAllocator::OnStateChange() {
  const auto& topology = env_.state.topology();
  if (topology == nullptr) return false;
  const bool same = topology_ != nullptr && *topology_ == *topology;
  topology_ = topology;
  if (!same) CountPools();
  return !same;
}

void CpusetAllocator::CountPools() {
  const std::string& node = env_.options.node_name;
  ls_cores_.With({node}).Set(static_cast<double>(CpusIn(topology_->ls_pools).size()));
  be_cores_.With({node}).Set(static_cast<double>(CpusIn(topology_->be_pools).size()));
  if (ls_cpus_ != nullptr) CountEachCpu();
}

void CpusetAllocator::CountEachCpu() {
  const auto record = [this](metrics::Gauges& gauges, const Pools& pools) {
    gauges.Clear();
    for (const int32_t cpu : CpusIn(pools)) {
      gauges.With({env_.options.node_name, fmt::format("{}", cpu)}).Set(1);
    }
  };
  record(*ls_cpus_, topology_->ls_pools);
  record(*be_cpus_, topology_->be_pools);
}

// None: the scheduler picked no NUMA nodes, or not for a class that follows them.
std::optional<std::string> CpusetAllocator::CpusOfNumaNodes(const HookPod& pod) const {
  if (!pod.resource_status.ok() || !*pod.resource_status) return std::nullopt;
  const auto& nodes = (*pod.resource_status)->numa_node_resources;
  if (std::ranges::none_of(nodes, HasCpu)) return std::nullopt;
  const bool is_be = pod.label_qos == QosClass::kBe;
  if (is_be && !env_.gates.Enabled("BECPUManager")) return std::nullopt;
  const Pools& pools = is_be ? topology_->be_pools : topology_->ls_pools;
  std::string text;
  for (const api::NumaNodeResource& node : nodes) {
    if (!HasCpu(node)) continue;
    for (const api::CpuSharedPool& pool : pools) {
      if (pool.node == node.node) AppendCpus(text, pool.cpuset);
    }
  }
  return text;
}

// All of the node's, unless the kubelet gives them out itself and puts them right by itself.
// Those of best-effort pods are no business of ours.
std::optional<std::string> CpusetAllocator::CpusOfKubelet(const HookPod& pod) const {
  if (pod.kube_qos == kube::PodQos::kBestEffort || topology_->kubelet_policy == "static") {
    return std::nullopt;
  }
  const auto info = env_.host.ReadCpuInfo();
  if (!info.ok()) return std::nullopt;
  return info->topology.cpus().ToString();
}

// None: whatever is set stays. Empty: nothing shall be set.
std::optional<std::string> CpusetAllocator::CpusOf(const HookPod& pod) const {
  if (pod.cpuset) return pod.cpuset;
  if (topology_ == nullptr) return std::nullopt;
  if (env_.options.is_restoring) return CpusOfKubelet(pod);
  if (auto cpus = CpusOfNumaNodes(pod)) return cpus;
  if (pod.label_qos == QosClass::kSystem && !topology_->system_qos_cpus.empty()) {
    return topology_->system_qos_cpus.ToString();
  }
  if (pod.label_qos == QosClass::kLs) return AllCpusOf(topology_->ls_pools);
  if (pod.kube_qos == kube::PodQos::kBestEffort) return "";
  if (topology_->kubelet_policy == "static") return std::nullopt;
  return AllCpusOf(topology_->ls_pools);
}

bool CpusetAllocator::LosesQuota(const HookPod& pod) const {
  if (!pod.cpuset || env_.options.disable_unset_cpu_quota) return false;
  if (pod.mode != HookMode::kReconciler) return true;
  return pod.qos() == QosClass::kLse || pod.qos() == QosClass::kLsr;
}

bool CpusetAllocator::MayHaveLostQuota(const HookPod& pod) const {
  if (pod.object == nullptr) return false;
  if (without_quota_.contains(pod.uid)) return true;
  return env_.options.is_restoring && (pod.qos() == QosClass::kLse || pod.qos() == QosClass::kLsr);
}

Status CpusetAllocator::OnPod(HookStage, const HookPod& pod, PodResult& result) {
  RETURN_IF_ERROR(pod.resource_status.status());
  if (LosesQuota(pod)) {
    result.quota = Limit::Unlimited();
    without_quota_.insert(pod.uid);
  } else if (MayHaveLostQuota(pod) && !result.quota) {
    result.quota = pod.original.quota.value_or(Limit::Unlimited());
  }
  return absl::OkStatus();
}

Status CpusetAllocator::OnContainer(HookStage, const HookContainer& container,
                                    ContainerResult& result) {
  const HookPod& pod = *container.pod;
  RETURN_IF_ERROR(pod.resource_status.status());
  if (auto cpus = CpusOf(pod)) result.cpuset = *std::move(cpus);
  if (LosesQuota(pod)) {
    result.quota = Limit::Unlimited();
  } else if (MayHaveLostQuota(pod) && !result.quota && !container.is_sandbox) {
    result.quota = container.original.quota.value_or(Limit::Unlimited());
  }
  return absl::OkStatus();
}

Status CpusetAllocator::OnHostApplication(const api::HostApplication& application,
                                          DirResult& result) {
  if (topology_ == nullptr) return absl::OkStatus();
  if (api::ParseQosClass(application.qos) != QosClass::kLs) {
    return InvalidArgument("only LS is supported for the CPUs of host applications, not {}",
                           application.qos.empty() ? "no class" : application.qos);
  }
  result.cpuset = AllCpusOf(topology_->ls_pools);
  return absl::OkStatus();
}

void CpusetAllocator::OnPass(std::span<const ReconciledPod> pods) {
  if (without_quota_.empty()) return;
  StringSet alive;
  for (const ReconciledPod& reconciled : pods) {
    if (without_quota_.contains(reconciled.pod.uid)) alive.insert(reconciled.pod.uid);
  }
  without_quota_ = std::move(alive);
}

}  // namespace koord::koordlet::hooks
