#include "koordlet/hooks/cpu_normalization/cpu_normalization.h"

#include <vector>

#include "koordlet/hooks/engine/result_writer.h"

namespace koord::koordlet::hooks {
namespace {

bool IsNormalized(const HookPod& pod) {
  return !pod.cpuset &&
         (pod.label_qos == api::QosClass::kLs || pod.label_qos == api::QosClass::kNone);
}

}  // namespace

bool CpuNormalization::OnStateChange() {
  const bool was_normalized = ratio_.value().has_value();
  if (!ratio_.Update()) return false;
  is_restoring_ = was_normalized && !ratio_.value();
  return true;
}

std::optional<Limit> CpuNormalization::QuotaOf(const HookPod& pod,
                                               std::optional<Limit> original) const {
  if (!ratio_.value() && !is_restoring_) return std::nullopt;
  if (!IsNormalized(pod) || !original || original->unlimited() || original->value() <= 0) {
    return std::nullopt;
  }
  return ratio_.Normalize(*original);
}

Status CpuNormalization::OnPod(HookStage, const HookPod& pod, PodResult& result) {
  if (const auto quota = QuotaOf(pod, pod.original.quota)) result.quota = quota;
  return absl::OkStatus();
}

Status CpuNormalization::OnContainer(HookStage, const HookContainer& container,
                                     ContainerResult& result) {
  if (container.is_sandbox) return absl::OkStatus();
  if (const auto quota = QuotaOf(*container.pod, container.original.quota)) result.quota = quota;
  return absl::OkStatus();
}

std::vector<Update> CpuNormalization::LowQuotas(std::span<const ReconciledPod> pods,
                                                bool of_containers) const {
  std::vector<Update> updates;
  const auto check = [&](const HookPod& pod, std::string_view container, const CgroupDir& dir,
                         const std::optional<Limit>& original) {
    if (!original || !IsNormalized(pod)) return;
    const auto now = env_.host.cgroups().ReadCpuQuota(dir);
    if (!now.ok() || *now >= *original) return;
    Update& update = updates.emplace_back(
        Update{CgroupTarget{CgroupFile::kCpuQuota, dir}, LimitText(*original), {}});
    update.about.type = AuditEvent::Type::kPod;
    update.about.level = 3;
    update.about.ns = pod.ns;
    update.about.name = pod.name;
    update.about.container = container;
    update.about.reason = "RuntimeHook";
  };
  for (const ReconciledPod& reconciled : pods) {
    if (!of_containers) {
      check(reconciled.pod, {}, reconciled.pod.dir, reconciled.pod.original.quota);
      continue;
    }
    for (const HookContainer& container : reconciled.containers) {
      check(reconciled.pod, container.name, container.dir, container.original.quota);
    }
  }
  return updates;
}

// Left behind by a koordlet that ran while the node was normalized.
void CpuNormalization::OnPass(std::span<const ReconciledPod> pods) {
  if (has_looked_for_low_quotas_ || env_.state.node() == nullptr || !env_.state.has_pods()) return;
  has_looked_for_low_quotas_ = true;
  if (ratio_.value()) return;
  const std::vector<Update> levels[] = {LowQuotas(pods, false), LowQuotas(pods, true)};
  if (!levels[0].empty() || !levels[1].empty()) env_.executor.ApplyLevels(levels);
}

}  // namespace koord::koordlet::hooks
