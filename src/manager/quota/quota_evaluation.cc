#include "manager/quota/quota_evaluation.h"

#include <algorithm>
#include <array>
#include <vector>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/pod_annotations.h"
#include "base/strings.h"
#include "kube/objects/pod_resources.h"

namespace koord::manager {
namespace {

using kube::ResourceList;

constexpr std::array<std::string_view, 14> kEvaluated{
    kube::kCpu,      kube::kMemory,       kube::kEphemeralStorage,
    "requests.cpu",  "requests.memory",   "requests.ephemeral-storage",
    api::kBatchCpu,  api::kBatchMemory,   api::kMidCpu,
    api::kMidMemory, api::kGpu,           api::kNvidiaGpu,
    api::kGpuShared, api::kGpuMemoryRatio};

// The pod is as good as gone.
bool IsOver(const kube::Pod& pod, WallTime now) {
  if (kube::IsTerminal(pod)) return true;
  if (!pod.metadata.deletion_timestamp) return false;
  const std::chrono::seconds grace(pod.metadata.deletion_grace_period_seconds.value_or(0));
  return now > *pod.metadata.deletion_timestamp + grace;
}

std::string Listed(const ResourceList& list, const std::vector<std::string_view>& names) {
  std::vector<std::string> parts;
  for (const std::string_view name : names) {
    const auto it = list.find(name);
    if (it != list.end()) parts.push_back(fmt::format("{}={}", name, it->second.ToString()));
  }
  return Join(parts, ",");
}

}  // namespace

bool IsEvaluated(const api::ElasticQuota& quota) {
  return std::ranges::any_of(kEvaluated,
                             [&](std::string_view name) { return quota.spec.max.contains(name); });
}

ResourceList ChargeOf(const kube::Pod& pod, const api::ElasticQuota& quota, WallTime now) {
  if (IsOver(pod, now)) return {};
  ResourceList charge = kube::PodRequests(pod);
  std::erase_if(charge, [&](const auto& entry) {
    return entry.second.IsZero() || !quota.spec.max.contains(entry.first);
  });
  return charge;
}

Status CheckNotNegative(const kube::Pod& pod) {
  const auto check = [](const ResourceList& list, std::string_view of) -> Status {
    for (const auto& [name, amount] : list) {
      if (amount.Sign() >= 0) continue;
      return InvalidArgument("{}: {} must not be negative, found {}", of, name, amount.ToString());
    }
    return absl::OkStatus();
  };
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const kube::Container& container : *containers) {
      const std::string of =
          fmt::format("resources.requests of container {}", Quote(container.name));
      RETURN_IF_ERROR(check(container.resources.requests, of));
    }
  }
  RETURN_IF_ERROR(check(pod.spec.overhead, "spec.overhead"));
  // What containers ask for is not all that counts: there are requests of the whole pod, too.
  return check(kube::PodRequests(pod), "the pod's requests");
}

void ReplaceResources(kube::Pod& pod) {
  const std::string_view text =
      kube::ValueOf(pod.metadata.annotations, api::kAnnotationReplaceResources);
  if (text.empty()) return;
  const api::ResourceReplacements replacements = api::ParseReplaceResources(text);
  for (auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (kube::Container& container : containers->Mutable()) {
      api::Apply(replacements, container.resources.requests);
      api::Apply(replacements, container.resources.limits);
    }
  }
  api::Apply(replacements, pod.spec.overhead.Mutable());
}

StatusOr<QuotaBalance> BalanceOf(const api::ElasticQuota& quota) {
  QuotaBalance balance;
  ASSIGN_OR_RETURN(balance.limit, api::QuotaAmounts(quota, api::kAnnotationQuotaAdmission));
  if (balance.limit.empty()) balance.limit = quota.spec.max;
  ASSIGN_OR_RETURN(balance.used, api::QuotaAmounts(quota, api::kAnnotationQuotaChildRequest));
  for (auto& [name, amount] : balance.used) amount = std::max(amount, kube::Quantity());
  return balance;
}

Status CheckCharge(const kube::ObjectKey& quota, const QuotaBalance& balance,
                   const ResourceList& charge) {
  std::vector<std::string_view> exceeded;
  for (const auto& [name, amount] : charge) {
    const auto limit = balance.limit.find(name);
    if (limit == balance.limit.end()) continue;
    if (kube::AmountOf(balance.used, name) + amount > limit->second) exceeded.push_back(name);
  }
  if (exceeded.empty()) return absl::OkStatus();
  return FailedPrecondition("exceeded quota: {}, requested: {}, used: {}, limited: {}",
                            quota.ToString(), Listed(charge, exceeded),
                            Listed(balance.used, exceeded), Listed(balance.limit, exceeded));
}

}  // namespace koord::manager
