#include "koordlet/informers/node_slo_merge.h"

#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace koord::koordlet::node_slo_merge_test {
namespace {

api::NodeSloSpec Merge(const std::string& yaml) {
  return MergeNodeSlo(*kube::Decode<api::NodeSloSpec>(*kube::ParseYaml(yaml)));
}

TEST(MergeNodeSlo, HasADefaultForEverything) {
  const api::NodeSloSpec slo = Merge("{}");
  const auto& threshold = *slo.resource_used_threshold_with_be;
  EXPECT_EQ(threshold.enable, false);
  EXPECT_EQ(threshold.cpu_suppress_threshold_percent, 65);
  EXPECT_FALSE(threshold.cpu_suppress_min_percent.has_value());
  EXPECT_EQ(threshold.cpu_suppress_policy, "cpuset");
  EXPECT_EQ(threshold.memory_evict_threshold_percent, 70);
  EXPECT_FALSE(threshold.memory_evict_lower_percent.has_value());
  EXPECT_EQ(threshold.cpu_evict_policy, "evictByRealLimit");
  const auto& burst = *slo.cpu_burst_strategy;
  EXPECT_EQ(burst.policy, "none");
  EXPECT_EQ(burst.cpu_burst_percent, 1000);
  EXPECT_EQ(burst.cfs_quota_burst_percent, 300);
  EXPECT_EQ(burst.cfs_quota_burst_period_seconds, -1);
  EXPECT_EQ(burst.share_pool_threshold_percent, 50);
  EXPECT_EQ(slo.system_strategy->total_network_bandwidth.Value(), 0);
  EXPECT_FALSE(slo.system_strategy->min_free_kbytes_factor.has_value());
  EXPECT_EQ(slo.resource_qos_strategy->policies->cpu_policy, "groupIdentity");
  EXPECT_EQ(slo.resource_qos_strategy->policies->net_qos_policy, "tc");
}

struct ClassCase {
  const char* name;
  std::optional<api::ResourceQos> api::ResourceQosStrategy::*block;
  int64_t identity;
  bool expeller;
  int64_t cache_end;
  int64_t wmark_ratio, wmark_permill, wmark_adj;
};

TEST(MergeNodeSlo, GivesEnabledBlocksTheDefaultsOfTheirClass) {
  const ClassCase cases[] = {
      {"lsrClass", &api::ResourceQosStrategy::lsr_class, 2, true, 100, 95, 20, -25},
      {"lsClass", &api::ResourceQosStrategy::ls_class, 2, true, 100, 95, 20, -25},
      {"beClass", &api::ResourceQosStrategy::be_class, -1, false, 30, 95, 20, 50},
      {"systemClass", &api::ResourceQosStrategy::system_class, 0, false, 100, 0, 50, 0},
  };
  for (const ClassCase& each : cases) {
    const api::NodeSloSpec slo =
        Merge(std::string("resourceQOSStrategy: {") + each.name +
              ": {cpuQOS: {enable: true}, resctrlQOS: {enable: true}, memoryQOS: {enable: true}}}");
    const api::ResourceQos& qos = *((*slo.resource_qos_strategy).*each.block);
    EXPECT_EQ(qos.cpu_qos->group_identity, each.identity) << each.name;
    EXPECT_EQ(qos.cpu_qos->core_expeller, each.expeller) << each.name;
    EXPECT_EQ(qos.cpu_qos->sched_idle, 0) << each.name;
    EXPECT_EQ(qos.resctrl_qos->cat_range_start_percent, 0) << each.name;
    EXPECT_EQ(qos.resctrl_qos->cat_range_end_percent, each.cache_end) << each.name;
    EXPECT_EQ(qos.resctrl_qos->mba_percent, 100) << each.name;
    EXPECT_EQ(qos.memory_qos->wmark_ratio, each.wmark_ratio) << each.name;
    EXPECT_EQ(qos.memory_qos->wmark_scale_permill, each.wmark_permill) << each.name;
    EXPECT_EQ(qos.memory_qos->wmark_min_adj, each.wmark_adj) << each.name;
    EXPECT_EQ(qos.memory_qos->min_limit_percent, 0) << each.name;
    EXPECT_EQ(qos.network_qos->enable, false) << each.name;
    EXPECT_EQ(qos.blkio_qos->enable, false) << each.name;
  }
}

TEST(MergeNodeSlo, AShareOfTheNetworkThatIsNoneCountsAsNothing) {
  const api::NodeSloSpec slo = Merge(
      "resourceQOSStrategy: {lsClass: {networkQOS: {enable: true, egressRequest: 101, "
      "egressLimit: 40}}}");
  const api::NetworkQos& network = *slo.resource_qos_strategy->ls_class->network_qos;
  EXPECT_EQ(network.egress_request, kube::IntOrString(0));
  EXPECT_EQ(network.egress_limit, kube::IntOrString(40));
}

TEST(MergeNodeSlo, EmptiesBlocksThatAreSwitchedOff) {
  const api::NodeSloSpec slo = Merge(R"(
resourceQOSStrategy:
  beClass:
    cpuQOS: {enable: false, groupIdentity: -1, schedIdle: 1}
    resctrlQOS: {catRangeEndPercent: 20}
    memoryQOS: {enable: false, wmarkRatio: 80, minLimitPercent: 50}
)");
  const api::ResourceQos& be = *slo.resource_qos_strategy->be_class;
  EXPECT_EQ(be.cpu_qos->group_identity, 0);
  EXPECT_EQ(be.cpu_qos->sched_idle, 0);
  EXPECT_EQ(be.cpu_qos->core_expeller, false);
  EXPECT_EQ(be.resctrl_qos->cat_range_end_percent, 100);
  EXPECT_EQ(be.memory_qos->wmark_ratio, 0);
  EXPECT_EQ(be.memory_qos->wmark_scale_permill, 50);
  EXPECT_EQ(be.memory_qos->wmark_min_adj, 0);
  EXPECT_EQ(be.memory_qos->min_limit_percent, 0);
}

TEST(MergeNodeSlo, WhatIsSaidWinsAndEmptyTextSaysNothing) {
  const api::NodeSloSpec slo = Merge(R"(
resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: 0, cpuSuppressPolicy: ""}
cpuBurstStrategy: {policy: auto}
resourceQOSStrategy:
  cgroupRoot: {blkioQOS: {enable: true, blocks: [{name: /dev/vda, type: device}]}}
hostApplications: [{name: nginx, qos: LS}]
extensions: {someone: {}}
)");
  EXPECT_EQ(slo.resource_used_threshold_with_be->cpu_suppress_threshold_percent, 0);
  EXPECT_EQ(slo.resource_used_threshold_with_be->cpu_suppress_policy, "cpuset");
  EXPECT_EQ(slo.cpu_burst_strategy->policy, "auto");
  EXPECT_EQ(slo.cpu_burst_strategy->cpu_burst_percent, 1000);
  EXPECT_EQ(slo.resource_qos_strategy->cgroup_root->blkio_qos->blocks.size(), 1u);
  ASSERT_EQ(slo.host_applications.size(), 1u);
  EXPECT_EQ(slo.host_applications[0].name, "nginx");
  EXPECT_TRUE(slo.extensions.is_null()) << "no extension has a default, so none survives";
}

TEST(MergeNodeSlo, RefusesNonsenseFieldByField) {
  const api::NodeSloSpec slo = Merge(R"(
resourceUsedThresholdWithBE:
  enable: true
  cpuSuppressThresholdPercent: -70
  memoryEvictThresholdPercent: 9223372036854775807
  memoryEvictLowerPercent: 60
  cpuSuppressPolicy: magic
cpuBurstStrategy: {policy: always, cfsQuotaBurstPercent: -1, cpuBurstPercent: 200}
resourceQOSStrategy:
  beClass:
    cpuQOS: {enable: true, groupIdentity: 17}
    memoryQOS: {enable: true, throttlingPercent: 101, wmarkRatio: 90}
    blkioQOS:
      enable: true
      blocks:
      - {name: a, type: device, ioCfg: {readIOPS: 5}}
      - {name: b, type: device, ioCfg: {readIOPS: -5, writeIOPS: 10, ioWeightPercent: 0}}
)");
  const auto& threshold = *slo.resource_used_threshold_with_be;
  EXPECT_EQ(threshold.enable, true);
  EXPECT_EQ(threshold.cpu_suppress_threshold_percent, 65);
  EXPECT_EQ(threshold.memory_evict_threshold_percent, 70);
  EXPECT_EQ(threshold.memory_evict_lower_percent, 60);
  EXPECT_EQ(threshold.cpu_suppress_policy, "cpuset");
  EXPECT_EQ(slo.cpu_burst_strategy->policy, "none");
  EXPECT_EQ(slo.cpu_burst_strategy->cfs_quota_burst_percent, 300);
  EXPECT_EQ(slo.cpu_burst_strategy->cpu_burst_percent, 200);
  EXPECT_EQ(slo.resource_qos_strategy->be_class->cpu_qos->group_identity, -1);
  EXPECT_EQ(slo.resource_qos_strategy->be_class->memory_qos->throttling_percent, 0);
  EXPECT_EQ(slo.resource_qos_strategy->be_class->memory_qos->wmark_ratio, 90);
  const auto& blocks = slo.resource_qos_strategy->be_class->blkio_qos->blocks;
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].io_config.read_iops, 5);
  EXPECT_EQ(blocks[1].io_config.read_iops, std::nullopt);
  EXPECT_EQ(blocks[1].io_config.write_iops, 10);
  EXPECT_EQ(blocks[1].io_config.io_weight_percent, std::nullopt);
}

// What the ConfigMap's webhook refuses must not act on a node either, however it got there.
TEST(MergeNodeSlo, HasTheBoundsOfTheConfiguration) {
  const api::NodeSloSpec slo = Merge(R"(
resourceUsedThresholdWithBE:
  memoryEvictThresholdPercent: 80
  cpuEvictBESatisfactionLowerPercent: 70
  cpuEvictBESatisfactionUpperPercent: 100
  memoryAllocatableEvictThresholdPercent: 20000
  allocatableEvictPriorityThreshold: -1
cpuBurstStrategy: {cpuBurstPercent: 0, cfsQuotaBurstPercent: 99}
systemStrategy: {watermarkScaleFactor: 401, minFreeKbytesFactor: 0}
)");
  const auto& threshold = *slo.resource_used_threshold_with_be;
  EXPECT_EQ(threshold.memory_evict_threshold_percent, 80) << "its lower bound has a default";
  EXPECT_EQ(threshold.cpu_evict_be_satisfaction_lower_percent, std::nullopt);
  EXPECT_EQ(threshold.cpu_evict_be_satisfaction_upper_percent, std::nullopt);
  EXPECT_EQ(threshold.memory_allocatable_evict_threshold_percent, 20000);
  EXPECT_EQ(threshold.allocatable_evict_priority_threshold, std::nullopt);
  EXPECT_EQ(slo.cpu_burst_strategy->cpu_burst_percent, 1000);
  EXPECT_EQ(slo.cpu_burst_strategy->cfs_quota_burst_percent, 300);
  EXPECT_EQ(slo.system_strategy->watermark_scale_factor, std::nullopt);
  EXPECT_EQ(slo.system_strategy->min_free_kbytes_factor, std::nullopt);
}

}  // namespace
}  // namespace koord::koordlet::node_slo_merge_test
