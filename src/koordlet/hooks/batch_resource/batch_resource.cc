#include "koordlet/hooks/batch_resource/batch_resource.h"

#include <algorithm>

#include "api/extended_resources.h"
#include "koordlet/host/cgroups.h"

namespace koord::koordlet::hooks {
namespace {

constexpr int64_t kMaxMilli = 1'000'000'000;  // a million CPUs
constexpr int64_t kMaxBytes = int64_t{1} << 60;

int64_t BoundedSum(int64_t a, int64_t b, int64_t most) {
  return std::min(std::min(a, most) + b, most);
}

int64_t PositiveAmount(const kube::ResourceList& list, std::string_view name, int64_t most) {
  return std::clamp<int64_t>(kube::AmountOf(list, name).Value(), 0, most);
}

Limit LimitOf(const kube::ResourceRequirements& resources, std::string_view name, int64_t most) {
  const int64_t amount = PositiveAmount(resources.limits, name, most);
  return amount > 0 ? Limit::Of(amount) : Limit::Unlimited();
}

MilliCpu BatchCpu(const kube::ResourceList& list) {
  return MilliCpu(PositiveAmount(list, api::kBatchCpu, kMaxMilli));
}

MilliCpu TotalRequest(const BatchRequirements& members) {
  MilliCpu total;
  for (const auto& [name, resources] : members) {
    total = std::min(total + BatchCpu(resources.requests), MilliCpu(kMaxMilli));
  }
  return total;
}

Limit TotalLimit(const BatchRequirements& members, std::string_view name, int64_t most) {
  int64_t total = 0;
  for (const auto& [container, resources] : members) {
    const Limit own = LimitOf(resources, name, most);
    if (own.unlimited()) return own;
    total = BoundedSum(total, own.value(), most);
  }
  return Limit::Of(total);
}

}  // namespace

bool BatchResource::OnStateChange() {
  bool changed = ratio_.Update();
  if (env_.state.slo() != nullptr) {
    const auto& strategy = env_.state.slo()->resource_used_threshold_with_be;
    const bool by_quota =
        strategy && strategy->enable.value_or(false) && strategy->cpu_suppress_policy == "cfsQuota";
    changed |= by_quota != suppresses_by_quota_;
    suppresses_by_quota_ = by_quota;
  }
  return changed;
}

Limit BatchResource::BatchQuota(Limit milli) const {
  if (suppresses_by_quota_ || milli.unlimited()) return Limit::Unlimited();
  return ratio_.Normalize(QuotaOf(MilliCpu(milli.value())));
}

namespace {

// What the kubelet gives those who ask it for nothing.
template <class Result>
Status LeaveToKubelet(Result& result) {
  result.shares = SharesOf(MilliCpu());
  result.quota = result.memory = Limit::Unlimited();
  return absl::OkStatus();
}

}  // namespace

Status BatchResource::OnPod(HookStage, const HookPod& pod, PodResult& result) {
  if (pod.qos() != api::QosClass::kBe || pod.batch.empty()) return absl::OkStatus();
  if (env_.options.is_restoring) return LeaveToKubelet(result);
  result.shares = SharesOf(TotalRequest(pod.batch));
  result.quota = BatchQuota(TotalLimit(pod.batch, api::kBatchCpu, kMaxMilli));
  result.memory = TotalLimit(pod.batch, api::kBatchMemory, kMaxBytes);
  return absl::OkStatus();
}

Status BatchResource::OnContainer(HookStage, const HookContainer& container,
                                  ContainerResult& result) {
  if (container.pod->qos() != api::QosClass::kBe || !container.batch) return absl::OkStatus();
  if (env_.options.is_restoring) return LeaveToKubelet(result);
  const kube::ResourceRequirements& own = *container.batch;
  result.shares = SharesOf(BatchCpu(own.requests));
  result.quota = BatchQuota(LimitOf(own, api::kBatchCpu, kMaxMilli));
  result.memory = LimitOf(own, api::kBatchMemory, kMaxBytes);
  return absl::OkStatus();
}

}  // namespace koord::koordlet::hooks
