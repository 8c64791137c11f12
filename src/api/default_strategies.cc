#include "api/default_strategies.h"

namespace koord::api {
namespace {

CpuQos CpuQosOf(int64_t identity, bool expeller) {
  return {.enable = false, .group_identity = identity, .sched_idle = 0, .core_expeller = expeller};
}

ResctrlQos ResctrlQosOf(int64_t end_percent) {
  return {.enable = false,
          .cat_range_start_percent = 0,
          .cat_range_end_percent = end_percent,
          .mba_percent = 100};
}

MemoryQos MemoryQosOf(int64_t ratio, int64_t permill, int64_t min_adj) {
  MemoryQos qos;
  qos.enable = false;
  qos.min_limit_percent = 0;
  qos.low_limit_percent = 0;
  qos.throttling_percent = 0;
  qos.wmark_ratio = ratio;
  qos.wmark_scale_permill = permill;
  qos.wmark_min_adj = min_adj;
  qos.priority_enable = 0;
  qos.priority = 0;
  qos.oom_kill_group = 0;
  return qos;
}

NetworkQos NoNetworkQos() {
  const kube::IntOrString zero(0);
  return {.enable = false,
          .ingress_request = zero,
          .ingress_limit = zero,
          .egress_request = zero,
          .egress_limit = zero};
}

ResourceQos ClassOf(const CpuQos& cpu, const ResctrlQos& resctrl, const MemoryQos& memory) {
  return {.cpu_qos = cpu,
          .memory_qos = memory,
          .blkio_qos = BlkioQos{.enable = false, .blocks = {}},
          .resctrl_qos = resctrl,
          .network_qos = NoNetworkQos()};
}

NodeSloSpec MakeDefaults() {
  NodeSloSpec spec;
  spec.resource_used_threshold_with_be = DefaultThresholdStrategy();

  ResourceQosStrategy qos;
  qos.policies = QosPolicies{.cpu_policy = "groupIdentity", .net_qos_policy = "tc"};
  const ResourceQos latency_sensitive =
      ClassOf(CpuQosOf(2, true), ResctrlQosOf(100), MemoryQosOf(95, 20, -25));
  qos.lsr_class = latency_sensitive;
  qos.ls_class = latency_sensitive;
  qos.be_class = ClassOf(CpuQosOf(-1, false), ResctrlQosOf(30), MemoryQosOf(95, 20, 50));
  qos.system_class = ClassOf(CpuQosOf(0, false), ResctrlQosOf(100), MemoryQosOf(0, 50, 0));
  qos.cgroup_root = ResourceQos{.cpu_qos = {},
                                .memory_qos = {},
                                .blkio_qos = BlkioQos{.enable = false, .blocks = {}},
                                .resctrl_qos = {},
                                .network_qos = {}};
  spec.resource_qos_strategy = qos;

  spec.cpu_burst_strategy = DefaultCpuBurstStrategy();
  spec.system_strategy = SystemStrategy{};
  return spec;
}

}  // namespace

ResourceThresholdStrategy DefaultThresholdStrategy() {
  ResourceThresholdStrategy strategy;
  strategy.enable = false;
  strategy.cpu_suppress_threshold_percent = 65;
  strategy.cpu_suppress_policy = "cpuset";
  strategy.memory_evict_threshold_percent = 70;
  strategy.cpu_evict_policy = "evictByRealLimit";
  return strategy;
}

CpuBurstStrategy DefaultCpuBurstStrategy() {
  CpuBurstStrategy strategy;
  strategy.policy = "none";
  strategy.cpu_burst_percent = 1000;
  strategy.cfs_quota_burst_percent = 300;
  strategy.cfs_quota_burst_period_seconds = -1;
  strategy.share_pool_threshold_percent = 50;
  return strategy;
}

MetricCollectPolicy DefaultMetricCollectPolicy() {
  return {.aggregate_duration_seconds = kDefaultMetricAggregate / 1s,
          .report_interval_seconds = kDefaultMetricInterval / 1s,
          .node_aggregate_policy =
              AggregatePolicy{{kDefaultMetricDurations.begin(), kDefaultMetricDurations.end()}},
          .node_memory_collect_policy = "usageWithoutPageCache"};
}

const NodeSloSpec& DefaultNodeSlo() {
  static const NodeSloSpec& spec = *new NodeSloSpec(MakeDefaults());
  return spec;
}

const CpuQos& NoCpuQos() {
  static const CpuQos& none = *new CpuQos(CpuQosOf(0, false));
  return none;
}

const ResctrlQos& NoResctrlQos() {
  static const ResctrlQos& none = *new ResctrlQos(ResctrlQosOf(100));
  return none;
}

const MemoryQos& NoMemoryQos() {
  static const MemoryQos& none = *new MemoryQos(MemoryQosOf(0, 50, 0));
  return none;
}

const MemoryQos& DefaultMemoryQos(QosClass qos) {
  const ResourceQosStrategy& strategy = *DefaultNodeSlo().resource_qos_strategy;
  if (qos == QosClass::kBe) return *strategy.be_class->memory_qos;
  if (qos == QosClass::kSystem) return *strategy.system_class->memory_qos;
  return *strategy.ls_class->memory_qos;
}

}  // namespace koord::api
