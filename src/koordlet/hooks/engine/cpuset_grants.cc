#include "koordlet/hooks/engine/cpuset_grants.h"

#include <algorithm>
#include <tuple>

#include "base/cpu_set.h"

namespace koord::koordlet::hooks {
void CpusetGrants::Update(const NodeState& state) {
  pods_ = state.pods();
  owner_of_cpu_.clear();
  kept_.Clear();
  binds_all_pods_ = false;
  if (const auto& topology = state.topology(); topology != nullptr) {
    binds_all_pods_ = topology->binds_all_pods;
    kept_ = topology->KeptCpus();
  }
  std::vector<const NodePod*> candidates;
  for (const NodePod& pod : *pods_) {
    if (pod.is_active && !pod.cpuset.empty() &&
        MayHaveCpus(pod.raw_qos, pod.kube_qos, binds_all_pods_)) {
      candidates.push_back(&pod);
    }
  }
  std::ranges::sort(candidates, {}, [](const NodePod* pod) {
    return std::tuple(pod->pod->metadata.creation_timestamp, std::string_view(pod->uid()));
  });
  for (const NodePod* pod : candidates) Claim(*pod);
}

void CpusetGrants::Claim(const NodePod& pod) {
  const bool is_free = std::ranges::all_of(
      pod.cpuset, [this](int32_t cpu) { return !kept_.Contains(cpu) && OwnerOf(cpu) == nullptr; });
  if (!is_free) return;
  for (const int32_t cpu : pod.cpuset) {
    if (owner_of_cpu_.size() <= static_cast<size_t>(cpu)) owner_of_cpu_.resize(cpu + 1);
    owner_of_cpu_[cpu] = &pod;
  }
}

const NodePod* CpusetGrants::OwnerOf(int32_t cpu) const {
  return static_cast<size_t>(cpu) < owner_of_cpu_.size() ? owner_of_cpu_[cpu] : nullptr;
}

StatusOr<std::optional<std::string>> CpusetGrants::CpusetOf(const HookPod& pod) const {
  RETURN_IF_ERROR(pod.resource_status.status());
  if (!*pod.resource_status || (*pod.resource_status)->cpuset.empty()) {
    return std::optional<std::string>();
  }
  const std::string& text = (*pod.resource_status)->cpuset;
  const StatusOr<CpuSet> cpus = CpuSet::Parse(text);
  if (!cpus.ok()) return InvalidArgument("resource-status: cpuset: {}", Message(cpus.status()));
  if (cpus->empty()) return InvalidArgument("resource-status: cpuset names no CPU: {}", text);
  if (!trust_pod_authors_) RETURN_IF_ERROR(Check(pod, *cpus));
  return std::optional(text);
}

Status CpusetGrants::Check(const HookPod& pod, const CpuSet& cpus) const {
  if (!MayHaveCpus(pod.label_qos, pod.kube_qos, binds_all_pods_)) {
    return FailedPrecondition(
        "resource-status names CPUs, which only LSE, LSR and guaranteed pods may have");
  }
  for (const int32_t cpu : cpus) {
    if (kept_.Contains(cpu))
      return FailedPrecondition("CPU {} of resource-status is not the scheduler's to give", cpu);
    const NodePod* owner = OwnerOf(cpu);
    if (owner != nullptr && owner->uid() != pod.uid) {
      return FailedPrecondition("CPU {} of resource-status belongs to pod {}/{}", cpu,
                                owner->pod->metadata.ns, owner->pod->metadata.name);
    }
  }
  return absl::OkStatus();
}

}  // namespace koord::koordlet::hooks
