#include "scheduler/config/elastic_quota_args.h"

#include <limits>

namespace koord::scheduler {
namespace {

using kube::ConfigField;

// Larger than any cluster, and small enough to be added up a few times.
kube::ResourceList Unlimited() {
  const kube::Quantity most(std::numeric_limits<int64_t>::max() / 5,
                            kube::Quantity::Format::kDecimalSi);
  return {{std::string(kube::kCpu), most}, {std::string(kube::kMemory), most}};
}

void CheckAmounts(const kube::ResourceList& amounts, std::string_view name, const ConfigField& at) {
  for (const auto& [resource, amount] : amounts) {
    if (amount.Sign() >= 0) continue;
    at.Member(name).Error(
        "elasticQuotaArgs error, {} should be a positive value, resourceName:{}, got {}", name,
        resource, amount.ToString());
  }
}

void CheckHook(const QuotaHookPlugin& hook, size_t index, const ConfigField& at) {
  if (hook.key.empty()) {
    at.Error("failed to initialize index-{} hook plugin: key is empty", index);
  } else if (hook.factory_key.empty()) {
    at.Error("failed to initialize hook plugin {}: factory key is empty", hook.key);
  } else {
    at.Error("failed to initialize hook plugin {}: factory {} not found", hook.key,
             hook.factory_key);
  }
}

}  // namespace

void ElasticQuotaArgs::SetDefaults() {
  if (default_quota_group_max.empty()) default_quota_group_max = Unlimited();
  if (system_quota_group_max.empty()) system_quota_group_max = Unlimited();
}

void ElasticQuotaArgs::Check(const ConfigField& at) const {
  if (delay_evict_time < Duration::zero()) {
    at.Member("delayEvictTime")
        .Error("elasticQuotaArgs error, DelayEvictTime should be a positive value");
  }
  if (revoke_pod_interval < Duration::zero()) {
    at.Member("revokePodInterval")
        .Error("elasticQuotaArgs error, RevokePodInterval should be a positive value");
  }
  CheckAmounts(default_quota_group_max, "defaultQuotaGroupMax", at);
  CheckAmounts(system_quota_group_max, "systemQuotaGroupMax", at);
  for (size_t i = 0; i < hook_plugins.size(); ++i) {
    CheckHook(hook_plugins[i], i, at.Member("hookPlugins").Item(i));
  }
}

}  // namespace koord::scheduler
