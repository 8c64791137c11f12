#include "manager/config/slo_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/config/colocation.h"

namespace koord::manager::slo_config_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SloConfig Parse(const ConfigData& data) {
  ParsedConfig parsed = ParseConfig(data, {});
  EXPECT_THAT(parsed.problems, IsEmpty());
  return std::move(parsed.config);
}

std::vector<std::string> MessagesOf(const ParsedConfig& parsed) {
  std::vector<std::string> messages;
  for (const ConfigProblem& problem : parsed.problems) {
    messages.push_back(
        fmt::format("{} {}: {}", problem.component, problem.reason, problem.message));
  }
  return messages;
}

kube::Node NodeWith(kube::Labels labels, kube::Annotations annotations = {}) {
  kube::Node node;
  node.metadata.labels = std::move(labels);
  node.metadata.annotations = std::move(annotations);
  return node;
}

// ---- Defaults

TEST(SloConfig, WithoutAnythingEverythingIsDefault) {
  const SloConfig config = Parse({});
  ASSERT_TRUE(config.colocation);
  EXPECT_FALSE(config.colocation_in_doubt);
  const ColocationStrategy& s = config.colocation->cluster;
  EXPECT_EQ(s.enable, false);
  EXPECT_EQ(s.metric_aggregate_duration_seconds, 300);
  EXPECT_EQ(s.metric_report_interval_seconds, 60);
  EXPECT_EQ(s.metric_aggregate_policy->durations, (std::vector<Duration>{5min, 10min, 30min}));
  EXPECT_EQ(s.metric_memory_collect_policy, "usageWithoutPageCache");
  EXPECT_EQ(s.cpu_reclaim_threshold_percent, 60);
  EXPECT_EQ(s.cpu_calculate_policy, "usage");
  EXPECT_EQ(s.memory_reclaim_threshold_percent, 65);
  EXPECT_EQ(s.memory_calculate_policy, "usage");
  EXPECT_EQ(s.degrade_time_minutes, 15);
  EXPECT_EQ(s.update_time_threshold_seconds, 300);
  EXPECT_EQ(s.resource_diff_threshold, 0.1);
  EXPECT_EQ(s.mid_reclaim_mode, std::nullopt);
  EXPECT_EQ(s.mid_cpu_threshold_percent, 100);
  EXPECT_EQ(s.mid_memory_threshold_percent, 100);
  EXPECT_EQ(s.mid_unallocated_percent, 0);
  EXPECT_EQ(s.batch_cpu_threshold_percent, std::nullopt);

  EXPECT_EQ(kube::Serialize(kube::Encode(config.threshold.cluster)),
            R"({"enable":false,"cpuSuppressThresholdPercent":65,"cpuSuppressPolicy":"cpuset",)"
            R"("memoryEvictThresholdPercent":70,"cpuEvictPolicy":"evictByRealLimit"})");
  EXPECT_EQ(kube::Serialize(kube::Encode(config.cpu_burst.cluster)),
            R"({"policy":"none","cpuBurstPercent":1000,"cfsQuotaBurstPercent":300,)"
            R"("cfsQuotaBurstPeriodSeconds":-1,"sharePoolThresholdPercent":50})");
  EXPECT_EQ(kube::Serialize(kube::Encode(config.system.cluster)),
            R"({"totalNetworkBandwidth":"0"})");
  EXPECT_EQ(kube::Serialize(kube::Encode(config.resource_qos.cluster)), "{}");
  EXPECT_THAT(config.host_applications.cluster.applications, IsEmpty());
  EXPECT_EQ(config.cpu_normalization->cluster.enable, false);
  EXPECT_EQ(config.amplification->cluster.enable, false);
}

TEST(SloConfig, WithoutAConfigMapTheColocationIsInDoubt) {
  EXPECT_TRUE(DefaultConfig().colocation_in_doubt);
  EXPECT_TRUE(DefaultConfig().colocation);
}

TEST(SloConfig, AnEmptyColocationConfigStandsForTheDefaults) {
  const SloConfig config = Parse({{"colocation-config", ""}});
  EXPECT_FALSE(config.colocation_in_doubt);
  EXPECT_EQ(config.colocation->cluster, DefaultColocationStrategy());
}

// ---- Merging

TEST(SloConfig, MembersMatchWithoutRegardToCase) {
  const SloConfig config = Parse(
      {{"colocation-config", R"({"Enable":true,"CPUReclaimThresholdPercent":70,"new":1})"},
       {"resource-qos-config",
        R"({"clusterStrategy":{"beClass":{"resctrlQOS":{"enable":true,"MBAPercent":100}}}})"}});
  EXPECT_EQ(config.colocation->cluster.enable, true);
  EXPECT_EQ(config.colocation->cluster.cpu_reclaim_threshold_percent, 70);
  EXPECT_EQ(config.resource_qos.cluster.be_class->resctrl_qos->mba_percent, 100);
}

TEST(SloConfig, ObjectsMergeMapsMergeByKeyAndListsReplace) {
  const SloConfig config =
      Parse({{"cpu-normalization-config",
              R"({"enable":true,"ratioModel":{"a":{"baseRatio":1.1,"turboEnabledRatio":1.2},
            "b":{"baseRatio":1.3}},"nodeConfigs":[{"nodeSelector":{},
            "ratioModel":{"a":{"baseRatio":2}}}]})"},
             {"resource-qos-config",
              R"({"clusterStrategy":{"lsClass":{"cpuQOS":{"enable":true,"groupIdentity":2},
            "blkioQOS":{"blocks":[{"name":"x"},{"name":"y"}]}}},
            "nodeStrategies":[{"nodeSelector":{},"lsClass":{"cpuQOS":{"groupIdentity":1},
            "blkioQOS":{"blocks":[{"name":"z"}]}}}]})"},
             {"cpu-burst-config",
              R"({"clusterStrategy":{"policy":"auto"},"nodeStrategies":[{"nodeSelector":{},
            "policy":"","cpuBurstPercent":500}]})"}});
  const CpuNormalizationStrategy& normalization = config.cpu_normalization->For({});
  EXPECT_EQ(normalization.enable, true);
  EXPECT_EQ(normalization.ratio_model.at("a"), CpuModelRatios{.base_ratio = 2})
      << "a model's entry is replaced as a whole";
  EXPECT_EQ(normalization.ratio_model.at("b").base_ratio, 1.3);
  const api::ResourceQos& ls = *config.resource_qos.For({}).ls_class;
  EXPECT_EQ(ls.cpu_qos->enable, true);
  EXPECT_EQ(ls.cpu_qos->group_identity, 1);
  ASSERT_EQ(ls.blkio_qos->blocks.size(), 1u);
  EXPECT_EQ(ls.blkio_qos->blocks[0].name, "z");
  EXPECT_EQ(config.cpu_burst.For({}).policy, "auto") << "an empty text never overrides";
  EXPECT_EQ(config.cpu_burst.For({}).cpu_burst_percent, 500);
}

TEST(SloConfig, SelectorsChooseTheFirstEntryThatMatches) {
  const SloConfig config = Parse({{"resource-threshold-config",
                                   R"({"nodeStrategies":[
            {"name":"none","cpuSuppressThresholdPercent":1},
            {"name":"a","nodeSelector":{"matchLabels":{"a":"1"}},"cpuSuppressThresholdPercent":2},
            {"name":"also a","nodeSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]},
             "cpuSuppressThresholdPercent":3},
            {"name":"all","nodeSelector":{},"cpuSuppressThresholdPercent":4}]})"}});
  const auto percent = [&](const kube::Labels& labels) {
    return *config.threshold.For(labels).cpu_suppress_threshold_percent;
  };
  EXPECT_EQ(percent({{"a", "1"}}), 2);
  EXPECT_EQ(percent({{"a", "2"}}), 3);
  EXPECT_EQ(percent({}), 4) << "an empty selector is for all, an absent one for none";
}

// V19
TEST(SloConfig, ThresholdsAndSystemStrategiesOfNodes) {
  const SloConfig config = Parse(
      {{"resource-threshold-config",
        R"({"clusterStrategy":{"enable":true,"cpuSuppressThresholdPercent":60},"nodeStrategies":[
            {"nodeSelector":{"matchLabels":{"a":"1"}},"memoryEvictThresholdPercent":80}]})"},
       {"system-config",
        R"({"clusterStrategy":{"totalNetworkBandwidth":"100M","watermarkScaleFactor":150},
            "nodeStrategies":[
            {"nodeSelector":{"matchLabels":{"a":"1"}},"minFreeKbytesFactor":130},
            {"name":"silent","nodeSelector":{"matchLabels":{"a":"2"}}}]})"}});
  const auto& chosen = config.threshold.For({{"a", "1"}});
  EXPECT_EQ(chosen.enable, true);
  EXPECT_EQ(chosen.cpu_suppress_threshold_percent, 60);
  EXPECT_EQ(chosen.cpu_suppress_policy, "cpuset");
  EXPECT_EQ(chosen.memory_evict_threshold_percent, 80);
  EXPECT_EQ(chosen.cpu_evict_policy, "evictByRealLimit");
  EXPECT_EQ(config.threshold.For({}).memory_evict_threshold_percent, 70);

  const auto& system = config.system.For({{"a", "1"}});
  EXPECT_EQ(system.total_network_bandwidth.ToString(), "0") << "always written, so always reset";
  EXPECT_EQ(system.watermark_scale_factor, 150);
  EXPECT_EQ(system.min_free_kbytes_factor, 130);
  EXPECT_EQ(config.system.For({{"a", "2"}}).total_network_bandwidth.ToString(), "100M")
      << "an entry that says nothing keeps everything";
}

TEST(SloConfig, AListOfHostApplicationsReplacesTheClusters) {
  const SloConfig config = Parse({{"host-application-config",
                                   R"({"applications":[{"name":"nginx"}],"nodeConfigs":[
            {"nodeSelector":{"matchLabels":{"a":"1"}},"applications":[{"name":"x"},{"name":"y"}]},
            {"nodeSelector":{"matchLabels":{"a":"2"}}}]})"}});
  EXPECT_EQ(config.host_applications.For({}).applications.size(), 1u);
  EXPECT_EQ(config.host_applications.For({{"a", "1"}}).applications.size(), 2u);
  EXPECT_EQ(config.host_applications.For({{"a", "2"}}).applications.size(), 0u);
}

// ---- Bad content

TEST(SloConfig, BadContentNamesKeyAndPathAndChangesNothing) {
  const ConfigData good = {
      {"colocation-config", R"({"enable":true,"cpuReclaimThresholdPercent":70})"},
      {"resource-threshold-config", R"({"clusterStrategy":{"cpuSuppressThresholdPercent":60}})"},
      {"cpu-normalization-config", R"({"enable":true})"},
      {"resource-amplification-config", R"({"enable":true})"}};
  const SloConfig before = Parse(good);
  const ParsedConfig after =
      ParseConfig({{"colocation-config", R"({"nodeConfigs":[{"cpuReclaimThresholdPercent":"x"}]})"},
                   {"resource-threshold-config", "{"},
                   {"resource-qos-config", R"({"clusterStrategy":{"lsClass":[]}})"},
                   {"cpu-burst-config", ""},
                   {"system-config", R"({"clusterStrategy":{"totalNetworkBandwidth":"fast"}})"},
                   {"host-application-config", R"({"applications":{}})"},
                   {"cpu-normalization-config", R"({"ratioModel":{"m":{"baseRatio":"1"}}})"},
                   {"resource-amplification-config", "[]"}},
                  before);
  EXPECT_THAT(
      MessagesOf(after),
      ElementsAre(
          testing::StartsWith("noderesource-controller ColocationCfgUnmarshalFailed: failed to "
                              "unmarshal colocation config, err: colocation-config: "
                              "nodeConfigs[0].cpuReclaimThresholdPercent: expected"),
          testing::StartsWith("nodeslo-controller SLOCfgUnmarshalFailed: failed to unmarshal "
                              "ThresholdCfg, err: resource-threshold-config: "),
          testing::StartsWith("nodeslo-controller SLOCfgUnmarshalFailed: failed to unmarshal "
                              "ResourceQOSCfg, err: resource-qos-config: clusterStrategy.lsClass:"),
          testing::StartsWith("nodeslo-controller SLOCfgUnmarshalFailed: failed to unmarshal "
                              "CPUBurstCfg, err: cpu-burst-config: "),
          testing::StartsWith("nodeslo-controller SLOCfgUnmarshalFailed: failed to unmarshal "
                              "SystemCfg, err: system-config: "
                              "clusterStrategy.totalNetworkBandwidth"),
          testing::StartsWith("nodeslo-controller SLOCfgUnmarshalFailed: failed to unmarshal "
                              "HostApplicationCfg, err: host-application-config: applications:"),
          testing::StartsWith("noderesource CPUNormalizationCfgUnmarshalFailed: failed to "
                              "unmarshal CPUNormalizationCfg, err: cpu-normalization-config: "
                              "ratioModel.m.baseRatio: expected"),
          testing::StartsWith("noderesource ResourceAmplificationCfgUnmarshalFailed: failed to "
                              "unmarshal amplificationCfg, err: resource-amplification-config")));
  EXPECT_TRUE(after.config.colocation_in_doubt);
  EXPECT_EQ(after.config.colocation->cluster.cpu_reclaim_threshold_percent, 70);
  EXPECT_EQ(after.config.threshold.cluster.cpu_suppress_threshold_percent, 60);
  EXPECT_EQ(after.config.cpu_normalization->cluster.enable, true);
  EXPECT_EQ(after.config.amplification->cluster.enable, true);
  EXPECT_EQ(after.config.cpu_burst.cluster, api::DefaultCpuBurstStrategy());
}

TEST(SloConfig, APartThatIsWrongLeavesTheOthersAlone) {
  const ParsedConfig parsed = ParseConfig(
      {{"colocation-config", "no json"},
       {"resource-threshold-config", R"({"clusterStrategy":{"cpuSuppressThresholdPercent":60}})"}},
      {});
  EXPECT_FALSE(parsed.config.colocation) << "there never was a good one";
  EXPECT_EQ(parsed.config.threshold.cluster.cpu_suppress_threshold_percent, 60);
}

TEST(SloConfig, AColocationThatMakesNoSenseIsRefused) {
  const SloConfig before = Parse({{"colocation-config", R"({"degradeTimeMinutes":7})"}});
  struct Case {
    const char* document;
    const char* error;
  };
  for (const Case& each : std::initializer_list<Case>{
           {R"({"degradeTimeMinutes":0})", "degradeTimeMinutes: must be at least 1, found 0"},
           {R"({"resourceDiffThreshold":0})",
            "resourceDiffThreshold: must be more than 0 and at most 1, found 0"},
           {R"({"midCPUThresholdPercent":101})",
            "midCPUThresholdPercent: must be between 0 and 100, found 101"},
           {R"({"metricMemoryCollectPolicy":""})", "metricMemoryCollectPolicy: must not be empty"},
           {R"({"cpuReclaimThresholdPercent":-1})",
            "cpuReclaimThresholdPercent: must be at least 0, found -1"}}) {
    const ParsedConfig parsed = ParseConfig({{"colocation-config", each.document}}, before);
    EXPECT_THAT(MessagesOf(parsed),
                ElementsAre(fmt::format("noderesource-controller ColocationCfgInvalid: invalid "
                                        "colocation config, err: colocation-config: {}",
                                        each.error)));
    EXPECT_TRUE(parsed.config.colocation_in_doubt);
    EXPECT_EQ(parsed.config.colocation->cluster.degrade_time_minutes, 7);
  }
  EXPECT_THAT(
      ParseConfig({{"colocation-config", R"({"cpuReclaimThresholdPercent":150})"}}, {}).problems,
      IsEmpty())
      << "more than 100 percent is over-commitment";
}

TEST(SloConfig, ANodeEntryThatMakesNoSenseTakesTheClustersStrategy) {
  const ParsedConfig parsed = ParseConfig({{"colocation-config",
                                            R"({"enable":true,"degradeTimeMinutes":7,"nodeConfigs":[
            {"nodeSelector":{"matchLabels":{"a":"1"}},"degradeTimeMinutes":-1,"enable":false},
            {"nodeSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}]})"}},
                                          {});
  EXPECT_THAT(MessagesOf(parsed),
              ElementsAre(testing::HasSubstr("colocation-config: nodeConfigs[1].nodeSelector: "),
                          testing::HasSubstr("colocation-config: nodeConfigs[0].degradeTimeMinutes:"
                                             " must be at least 1, found -1")));
  EXPECT_EQ(parsed.config.colocation->For({{"a", "1"}}), parsed.config.colocation->cluster);
  EXPECT_FALSE(parsed.config.colocation_in_doubt);
}

// ---- One node

// V18
TEST(Colocation, AnnotationAndLabelsOfANodeCountMost) {
  const SloConfig config = Parse({{"colocation-config",
                                   R"({"enable":true,"cpuReclaimThresholdPercent":65,"nodeConfigs":[
            {"nodeSelector":{"matchLabels":{"xxx":"yyy"}},"cpuReclaimThresholdPercent":70}]})"}});
  const kube::Node node =
      NodeWith({{"xxx", "yyy"}, {"node.koordinator.sh/memory-reclaim-ratio", "0.29"}},
               {{"node.koordinator.sh/colocation-strategy", R"({"degradeTimeMinutes":30})"}});
  const NodeColocation colocation = ColocationOf(*config.colocation, node);
  EXPECT_TRUE(colocation.enabled);
  EXPECT_EQ(colocation.strategy.cpu_reclaim_threshold_percent, 70);
  EXPECT_EQ(colocation.strategy.memory_reclaim_threshold_percent, 28);
  EXPECT_EQ(colocation.strategy.degrade_time_minutes, 30);

  const StrategySources sources = ColocationSourcesOf(*config.colocation, node);
  EXPECT_EQ(sources.at("enable"), "colocation-config, cluster");
  EXPECT_EQ(sources.at("cpuReclaimThresholdPercent"), "colocation-config, nodeConfigs[0]");
  EXPECT_EQ(sources.at("memoryReclaimThresholdPercent"),
            "label node.koordinator.sh/memory-reclaim-ratio");
  EXPECT_EQ(sources.at("degradeTimeMinutes"), "annotation node.koordinator.sh/colocation-strategy");
  EXPECT_EQ(sources.at("midUnallocatedPercent"), "default");
}

TEST(Colocation, BadValuesOnANodeAreIgnored) {
  const SloConfig config = Parse({{"colocation-config", R"({"enable":true})"}});
  for (const char* ratio : {"x", "-0.5", ""}) {
    const NodeColocation colocation = ColocationOf(
        *config.colocation, NodeWith({{"node.koordinator.sh/cpu-reclaim-ratio", ratio}},
                                     {{"node.koordinator.sh/colocation-strategy", "{"}}));
    EXPECT_EQ(colocation.strategy, config.colocation->cluster) << ratio;
  }
}

TEST(Colocation, ANodeMayOptOutButNotIn) {
  struct Case {
    const char* cluster;
    const char* node;
    bool enabled;
  };
  for (const Case& each :
       std::initializer_list<Case>{{R"({"enable":true})", "{}", true},
                                   {R"({"enable":true})", R"({"enable":false})", false},
                                   {R"({"enable":false})", R"({"enable":true})", false},
                                   {"{}", R"({"enable":true})", false}}) {
    const SloConfig config = Parse({{"colocation-config", each.cluster}});
    const kube::Node node = NodeWith({}, {{"node.koordinator.sh/colocation-strategy", each.node}});
    EXPECT_EQ(ColocationOf(*config.colocation, node).enabled, each.enabled)
        << each.cluster << each.node;
  }
}

}  // namespace
}  // namespace koord::manager::slo_config_test
