#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/config_document.h"
#include "kube/objects/resource_list.h"

namespace koord::scheduler {

// An extension of quotas that was compiled in. There is none, so that naming one is an error.
struct QuotaHookPlugin {
  std::string key;
  std::string factory_key;
  std::string factory_args;

  static void Fields(auto& self, auto&& field) {
    field("key", self.key);
    field("factoryKey", self.factory_key);
    field("factoryArgs", self.factory_args);
  }
  bool operator==(const QuotaHookPlugin&) const = default;
};

struct ElasticQuotaArgs {
  static constexpr std::string_view kPlugin = "ElasticQuota";

  // A quota that uses more than its runtime for so long has pods evicted; looked at this often.
  Duration delay_evict_time = 120s;
  Duration revoke_pod_interval = 1s;
  kube::ResourceList default_quota_group_max;  // of the built-in quotas, where they are created
  kube::ResourceList system_quota_group_max;
  std::string quota_group_namespace = "koordinator-system";  // where that is
  bool monitor_all_quotas = false;  // whether pods of quotas that use too much are evicted
  bool enable_check_parent_quota = false;
  bool enable_runtime_quota = true;  // otherwise max is all that counts
  bool enable_min_quota_scale = true;
  bool disable_default_quota_preemption = true;
  // Pods are woken exactly when their quota has room for them, so that these say nothing.
  bool enable_queue_hint = false;
  Duration quota_snapshot_update_interval = 120s;
  std::vector<QuotaHookPlugin> hook_plugins;

  static void Fields(auto& self, auto&& field) {
    field("delayEvictTime", kube::Always(self.delay_evict_time));
    field("revokePodInterval", kube::Always(self.revoke_pod_interval));
    field("defaultQuotaGroupMax", self.default_quota_group_max);
    field("systemQuotaGroupMax", self.system_quota_group_max);
    field("quotaGroupNamespace", self.quota_group_namespace);
    field("monitorAllQuotas", kube::Always(self.monitor_all_quotas));
    field("enableCheckParentQuota", kube::Always(self.enable_check_parent_quota));
    field("enableRuntimeQuota", kube::Always(self.enable_runtime_quota));
    field("enableMinQuotaScale", kube::Always(self.enable_min_quota_scale));
    field("disableDefaultQuotaPreemption", kube::Always(self.disable_default_quota_preemption));
    field("enableQueueHint", kube::Always(self.enable_queue_hint));
    field("quotaSnapshotUpdateInterval", kube::Always(self.quota_snapshot_update_interval));
    field("hookPlugins", self.hook_plugins);
  }
  bool operator==(const ElasticQuotaArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;
};

}  // namespace koord::scheduler
