#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/int_or_string.h"
#include "kube/objects/meta.h"
#include "kube/quantity.h"

// What is asked of a node to keep latency-sensitive pods fast beside the others. The same structs
// are the values of slo-controller-config, the spec of NodeSLO, and parts of pod annotations;
// absent members take the value of the level above, in the end the built-in default.
namespace koord::api {

struct CpuQos {
  std::optional<bool> enable;
  std::optional<int64_t> group_identity;  // -1..2
  std::optional<int64_t> sched_idle;      // 0 or 1
  std::optional<bool> core_expeller;

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("groupIdentity", self.group_identity);
    field("schedIdle", self.sched_idle);
    field("coreExpeller", self.core_expeller);
  }
  bool operator==(const CpuQos&) const = default;
};

struct MemoryQos {
  std::optional<bool> enable;
  std::optional<int64_t> min_limit_percent;
  std::optional<int64_t> low_limit_percent;
  std::optional<int64_t> throttling_percent;
  std::optional<int64_t> wmark_ratio;
  std::optional<int64_t> wmark_scale_permill;
  std::optional<int64_t> wmark_min_adj;
  std::optional<int64_t> priority_enable;
  std::optional<int64_t> priority;
  std::optional<int64_t> oom_kill_group;
  std::optional<bool> page_cache_enable;
  std::optional<bool> page_cache_reclaim_sync;
  std::optional<int64_t> page_cache_limit_percent;
  std::optional<kube::Quantity> page_cache_limit_size;

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("minLimitPercent", self.min_limit_percent);
    field("lowLimitPercent", self.low_limit_percent);
    field("throttlingPercent", self.throttling_percent);
    field("wmarkRatio", self.wmark_ratio);
    field("wmarkScalePermill", self.wmark_scale_permill);
    field("wmarkMinAdj", self.wmark_min_adj);
    field("priorityEnable", self.priority_enable);
    field("priority", self.priority);
    field("oomKillGroup", self.oom_kill_group);
    field("pageCacheEnable", self.page_cache_enable);
    field("pageCacheReclaimSync", self.page_cache_reclaim_sync);
    field("pageCacheLimitPercent", self.page_cache_limit_percent);
    field("pageCacheLimitSize", self.page_cache_limit_size);
  }
  bool operator==(const MemoryQos&) const = default;
};

struct ResctrlQos {
  std::optional<bool> enable;
  std::optional<int64_t> cat_range_start_percent;
  std::optional<int64_t> cat_range_end_percent;
  std::optional<int64_t> mba_percent;

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("catRangeStartPercent", self.cat_range_start_percent);
    field("catRangeEndPercent", self.cat_range_end_percent);
    field("mbaPercent", self.mba_percent);
  }
  bool operator==(const ResctrlQos&) const = default;
};

struct IoConfig {
  std::optional<int64_t> read_iops;
  std::optional<int64_t> write_iops;
  std::optional<int64_t> read_bps;
  std::optional<int64_t> write_bps;
  std::optional<int64_t> io_weight_percent;
  std::optional<int64_t> read_latency;  // microseconds
  std::optional<int64_t> write_latency;
  std::optional<int64_t> read_latency_percent;
  std::optional<int64_t> write_latency_percent;
  std::optional<bool> enable_user_model;
  std::optional<int64_t> model_read_bps;
  std::optional<int64_t> model_write_bps;
  std::optional<int64_t> model_read_seq_iops;
  std::optional<int64_t> model_write_seq_iops;
  std::optional<int64_t> model_read_rand_iops;
  std::optional<int64_t> model_write_rand_iops;

  static void Fields(auto& self, auto&& field) {
    field("readIOPS", self.read_iops);
    field("writeIOPS", self.write_iops);
    field("readBPS", self.read_bps);
    field("writeBPS", self.write_bps);
    field("ioWeightPercent", self.io_weight_percent);
    field("readLatency", self.read_latency);
    field("writeLatency", self.write_latency);
    field("readLatencyPercent", self.read_latency_percent);
    field("writeLatencyPercent", self.write_latency_percent);
    field("enableUserModel", self.enable_user_model);
    field("modelReadBPS", self.model_read_bps);
    field("modelWriteBPS", self.model_write_bps);
    field("modelReadSeqIOPS", self.model_read_seq_iops);
    field("modelWriteSeqIOPS", self.model_write_seq_iops);
    field("modelReadRandIOPS", self.model_read_rand_iops);
    field("modelWriteRandIOPS", self.model_write_rand_iops);
  }
  bool operator==(const IoConfig&) const = default;
};

struct BlockConfig {
  std::string name;
  std::string type;  // device, volumegroup, podvolume
  IoConfig io_config;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("type", self.type);
    field("ioCfg", self.io_config);
  }
  bool operator==(const BlockConfig&) const = default;
};

struct BlkioQos {
  std::optional<bool> enable;
  std::vector<BlockConfig> blocks;

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("blocks", self.blocks);
  }
  bool operator==(const BlkioQos&) const = default;
};

// A number is a percentage of the node's bandwidth, a text a quantity of bits per second.
struct NetworkQos {
  std::optional<bool> enable;
  std::optional<kube::IntOrString> ingress_request;
  std::optional<kube::IntOrString> ingress_limit;
  std::optional<kube::IntOrString> egress_request;
  std::optional<kube::IntOrString> egress_limit;

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("ingressRequest", self.ingress_request);
    field("ingressLimit", self.ingress_limit);
    field("egressRequest", self.egress_request);
    field("egressLimit", self.egress_limit);
  }
  bool operator==(const NetworkQos&) const = default;
};

struct ResourceQos {
  std::optional<CpuQos> cpu_qos;
  std::optional<MemoryQos> memory_qos;
  std::optional<BlkioQos> blkio_qos;
  std::optional<ResctrlQos> resctrl_qos;
  std::optional<NetworkQos> network_qos;

  static void Fields(auto& self, auto&& field) {
    field("cpuQOS", self.cpu_qos);
    field("memoryQOS", self.memory_qos);
    field("blkioQOS", self.blkio_qos);
    field("resctrlQOS", self.resctrl_qos);
    field("networkQOS", self.network_qos);
  }
  bool operator==(const ResourceQos&) const = default;
};

struct QosPolicies {
  std::optional<std::string> cpu_policy;      // groupIdentity, coreSched
  std::optional<std::string> net_qos_policy;  // tc, terway-qos

  static void Fields(auto& self, auto&& field) {
    field("cpuPolicy", self.cpu_policy);
    field("netQOSPolicy", self.net_qos_policy);
  }
  bool operator==(const QosPolicies&) const = default;
};

// LSE pods use lsr_class.
struct ResourceQosStrategy {
  std::optional<QosPolicies> policies;
  std::optional<ResourceQos> lsr_class;
  std::optional<ResourceQos> ls_class;
  std::optional<ResourceQos> be_class;
  std::optional<ResourceQos> system_class;
  std::optional<ResourceQos> cgroup_root;

  static void Fields(auto& self, auto&& field) {
    field("policies", self.policies);
    field("lsrClass", self.lsr_class);
    field("lsClass", self.ls_class);
    field("beClass", self.be_class);
    field("systemClass", self.system_class);
    field("cgroupRoot", self.cgroup_root);
  }
  bool operator==(const ResourceQosStrategy&) const = default;
};

// When best-effort pods are throttled or evicted.
struct ResourceThresholdStrategy {
  std::optional<bool> enable;
  std::optional<int64_t> cpu_suppress_threshold_percent;
  std::optional<int64_t> cpu_suppress_min_percent;
  std::string cpu_suppress_policy;  // cpuset, cfsQuota
  std::optional<int64_t> memory_evict_threshold_percent;
  std::optional<int64_t> memory_evict_lower_percent;
  std::optional<int64_t> memory_allocatable_evict_threshold_percent;
  std::optional<int64_t> memory_allocatable_evict_lower_percent;
  std::optional<int64_t> cpu_evict_be_satisfaction_upper_percent;
  std::optional<int64_t> cpu_evict_be_satisfaction_lower_percent;
  std::optional<int64_t> cpu_evict_be_usage_threshold_percent;
  std::optional<int64_t> cpu_evict_time_window_seconds;
  std::optional<int64_t> cpu_evict_threshold_percent;
  std::optional<int64_t> cpu_evict_lower_percent;
  std::optional<int64_t> cpu_allocatable_evict_threshold_percent;
  std::optional<int64_t> cpu_allocatable_evict_lower_percent;
  std::string cpu_evict_policy;  // evictByRealLimit, evictByAllocatable
  std::optional<int32_t> evict_enabled_priority_threshold;
  std::optional<int32_t> allocatable_evict_priority_threshold;

  static void Fields(auto& self, auto&& field) {
    field("enable", self.enable);
    field("cpuSuppressThresholdPercent", self.cpu_suppress_threshold_percent);
    field("cpuSuppressMinPercent", self.cpu_suppress_min_percent);
    field("cpuSuppressPolicy", self.cpu_suppress_policy);
    field("memoryEvictThresholdPercent", self.memory_evict_threshold_percent);
    field("memoryEvictLowerPercent", self.memory_evict_lower_percent);
    field("memoryAllocatableEvictThresholdPercent",
          self.memory_allocatable_evict_threshold_percent);
    field("memoryAllocatableEvictLowerPercent", self.memory_allocatable_evict_lower_percent);
    field("cpuEvictBESatisfactionUpperPercent", self.cpu_evict_be_satisfaction_upper_percent);
    field("cpuEvictBESatisfactionLowerPercent", self.cpu_evict_be_satisfaction_lower_percent);
    field("cpuEvictBEUsageThresholdPercent", self.cpu_evict_be_usage_threshold_percent);
    field("cpuEvictTimeWindowSeconds", self.cpu_evict_time_window_seconds);
    field("cpuEvictThresholdPercent", self.cpu_evict_threshold_percent);
    field("cpuEvictLowerPercent", self.cpu_evict_lower_percent);
    field("cpuAllocatableEvictThresholdPercent", self.cpu_allocatable_evict_threshold_percent);
    field("cpuAllocatableEvictLowerPercent", self.cpu_allocatable_evict_lower_percent);
    field("cpuEvictPolicy", self.cpu_evict_policy);
    field("evictEnabledPriorityThreshold", self.evict_enabled_priority_threshold);
    field("allocatableEvictPriorityThreshold", self.allocatable_evict_priority_threshold);
  }
  bool operator==(const ResourceThresholdStrategy&) const = default;
};

// How far a container may go beyond its CPU limit for a while; also of a single pod.
struct CpuBurstConfig {
  std::string policy;  // none, cpuBurstOnly, cfsQuotaBurstOnly, auto
  std::optional<int64_t> cpu_burst_percent;
  std::optional<int64_t> cfs_quota_burst_percent;
  std::optional<int64_t> cfs_quota_burst_period_seconds;

  static void Fields(auto& self, auto&& field) {
    field("policy", self.policy);
    field("cpuBurstPercent", self.cpu_burst_percent);
    field("cfsQuotaBurstPercent", self.cfs_quota_burst_percent);
    field("cfsQuotaBurstPeriodSeconds", self.cfs_quota_burst_period_seconds);
  }
  bool operator==(const CpuBurstConfig&) const = default;
};

struct CpuBurstStrategy : CpuBurstConfig {
  std::optional<int64_t> share_pool_threshold_percent;

  static void Fields(auto& self, auto&& field) {
    CpuBurstConfig::Fields(self, field);
    field("sharePoolThresholdPercent", self.share_pool_threshold_percent);
  }
  bool operator==(const CpuBurstStrategy&) const = default;
};

// Settings of the kernel as a whole.
struct SystemStrategy {
  std::optional<int64_t> min_free_kbytes_factor;
  std::optional<int64_t> watermark_scale_factor;
  std::optional<int64_t> memcg_reap_background;
  std::optional<int64_t> sched_group_identity_enabled;
  std::optional<int64_t> sched_idle_saver_wmark;
  std::map<std::string, bool, std::less<>> sched_features;
  std::optional<int64_t> page_cache_limit_enabled;
  kube::Quantity total_network_bandwidth;  // bits per second; always written

  static void Fields(auto& self, auto&& field) {
    field("minFreeKbytesFactor", self.min_free_kbytes_factor);
    field("watermarkScaleFactor", self.watermark_scale_factor);
    field("memcgReapBackGround", self.memcg_reap_background);
    field("schedGroupIdentityEnabled", self.sched_group_identity_enabled);
    field("schedIdleSaverWmark", self.sched_idle_saver_wmark);
    field("schedFeatures", self.sched_features);
    field("pageCacheLimitEnabled", self.page_cache_limit_enabled);
    field("totalNetworkBandwidth", self.total_network_bandwidth);
  }
  bool operator==(const SystemStrategy&) const = default;
};

struct CgroupPath {
  std::string base;  // CgroupRoot, Kubepods, KubepodsBurstable, KubepodsBesteffort
  std::string parent_dir;
  std::string relative_path;

  static void Fields(auto& self, auto&& field) {
    field("base", self.base);
    field("parentDir", self.parent_dir);
    field("relativePath", self.relative_path);
  }
  bool operator==(const CgroupPath&) const = default;
};

// A process group outside of Kubernetes that is treated like a pod.
struct HostApplication {
  std::string name;
  std::string priority;  // "koord-prod", ...
  std::string qos;       // "LS", ...
  std::optional<CgroupPath> cgroup_path;
  kube::Json strategy;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("priority", self.priority);
    field("qos", self.qos);
    field("cgroupPath", self.cgroup_path);
    field("strategy", self.strategy);
  }
  bool operator==(const HostApplication&) const = default;
};

}  // namespace koord::api
