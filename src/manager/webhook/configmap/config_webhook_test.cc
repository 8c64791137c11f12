#include "manager/webhook/configmap/config_webhook.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "manager/webhook/configmap/field_problems.h"
#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::config_webhook_test {
namespace {

const kube::ObjectKey kSloConfig{"koordinator-system", "slo-controller-config"};

struct ConfigCase {
  const char* name;
  const char* key;
  const char* value;
  const char* error;  // empty: allowed
};

class ConfigMapTest : public testing::TestWithParam<ConfigCase> {
 protected:
  static Request ConfigRequest(std::string_view key, std::string_view value) {
    Request request;
    request.operation = Operation::kCreate;
    request.resource = "configmaps";
    request.ns = kSloConfig.ns;
    request.name = kSloConfig.name;
    request.object = Yaml("{metadata: {name: slo-controller-config}}");
    kube::At(request.object, {"data", key}) = value;
    return request;
  }
  std::string Validate(const Request& request, const SloConfigCheck& options = {}) {
    const Response response = ValidateConfigMap(request, view_, kSloConfig, options);
    EXPECT_EQ(response.code, response.allowed ? 200 : 400);
    return response.message;
  }

  FakeView view_;
};

TEST_P(ConfigMapTest, IsJudged) {
  EXPECT_EQ(Validate(ConfigRequest(GetParam().key, GetParam().value)), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ConfigMapTest,
    testing::Values(
        ConfigCase{"good", "colocation-config",
                   R"({"enable":true,"cpuReclaimThresholdPercent":150,
                       "nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"x":"1"}}}]})",
                   ""},
        // V25
        ConfigCase{"overlap", "colocation-config",
                   R"({"nodeConfigs":[
                       {"name":"test1","nodeSelector":{"matchLabels":{"xxx":"xxx"}}},
                       {"name":"test2","nodeSelector":{"matchLabels":{"xxx":"xxx","yyy":"yyy"}}}]})",
                   R"(___{"reason":"NodeStrategiesOverlap","message":{"config":)"
                   R"("colocation-config","strategies":["test1","test2"]}}___)"},
        ConfigCase{"overlap_in_one_value", "cpu-burst-config",
                   R"({"nodeStrategies":[
                       {"name":"a","nodeSelector":{"matchExpressions":[
                         {"key":"k","operator":"In","values":["1","2"]}]}},
                       {"name":"b","nodeSelector":{"matchLabels":{"k":"2"}}}]})",
                   R"(___{"reason":"NodeStrategiesOverlap","message":{"config":)"
                   R"("cpu-burst-config","strategies":["a","b"]}}___)"},
        ConfigCase{"bounds", "colocation-config", R"({"metricAggregateDurationSeconds":0})",
                   R"(___{"reason":"ConfigParamInvalid","message":)"
                   R"({"ColocationCfg.ColocationStrategy.MetricAggregateDurationSeconds":)"
                   R"("MetricAggregateDurationSeconds must be 1 or greater"}}___)"},
        ConfigCase{"bounds_of_a_node_entry", "colocation-config",
                   R"({"nodeConfigs":[{"nodeSelector":{"matchLabels":{"x":"1"}},
                       "resourceDiffThreshold":0,"midCPUThresholdPercent":101}]})",
                   R"(___{"reason":"ConfigParamInvalid","message":)"
                   R"({"ColocationCfg.NodeConfigs[0].ColocationStrategy.MidCPUThresholdPercent":)"
                   R"("MidCPUThresholdPercent must be 100 or less",)"
                   R"("ColocationCfg.NodeConfigs[0].ColocationStrategy.ResourceDiffThreshold":)"
                   R"("ResourceDiffThreshold must be greater than 0"}}___)"},
        ConfigCase{
            "burst", "cpu-burst-config",
            R"({"clusterStrategy":{"cpuBurstPercent":10001,"sharePoolThresholdPercent":-1}})",
            R"(___{"reason":"ConfigParamInvalid","message":)"
            R"({"CPUBurstCfg.ClusterStrategy.CPUBurstConfig.CPUBurstPercent":)"
            R"("CPUBurstPercent must be 10,000 or less",)"
            R"("CPUBurstCfg.ClusterStrategy.SharePoolThresholdPercent":)"
            R"("SharePoolThresholdPercent must be 0 or greater"}}___)"},
        ConfigCase{"pair", "resource-threshold-config",
                   R"({"clusterStrategy":{"memoryEvictThresholdPercent":60,
                       "memoryEvictLowerPercent":60}})",
                   R"(___{"reason":"ConfigParamInvalid","message":)"
                   R"({"ResourceThresholdCfg.ClusterStrategy.MemoryEvictLowerPercent":)"
                   R"("MemoryEvictLowerPercent must be less than MemoryEvictThresholdPercent",)"
                   R"("ResourceThresholdCfg.ClusterStrategy.MemoryEvictThresholdPercent":)"
                   R"("MemoryEvictThresholdPercent must be greater than MemoryEvictLowerPercent"})"
                   R"(}___)"},
        ConfigCase{"whole_pair", "resource-threshold-config",
                   R"({"clusterStrategy":{"memoryEvictThresholdPercent":60,
                       "memoryEvictLowerPercent":50}})",
                   ""},
        ConfigCase{"half_a_pair_over_the_clusters", "resource-threshold-config",
                   R"({"clusterStrategy":{"memoryEvictThresholdPercent":70,
                       "memoryEvictLowerPercent":60},"nodeStrategies":[
                       {"nodeSelector":{"matchLabels":{"a":"1"}},
                        "memoryEvictThresholdPercent":80}]})",
                   R"(___{"reason":"ConfigParamInvalid","message":{"ResourceThresholdCfg.)"
                   R"(NodeStrategies[0].ResourceThresholdStrategy.MemoryEvictThresholdPercent":)"
                   R"("MemoryEvictThresholdPercent must be greater than MemoryEvictLowerPercent"})"
                   R"(}___)"},
        ConfigCase{"half_a_cache_range", "resource-qos-config",
                   R"({"clusterStrategy":{"beClass":{"resctrlQOS":{"catRangeEndPercent":30}}}})",
                   R"(___{"reason":"ConfigParamInvalid","message":{"ResourceQOSCfg.)"
                   R"(ClusterStrategy.BEClass.ResctrlQOS.ResctrlQOS.CATRangeEndPercent":)"
                   R"("CATRangeEndPercent must be greater than CATRangeStartPercent"}}___)"},
        // Eviction for want of CPU starts at 60 % at the most: koordlet takes no more.
        ConfigCase{"satisfaction_that_koordlet_refuses", "resource-threshold-config",
                   R"({"clusterStrategy":{"cpuEvictBESatisfactionLowerPercent":70,
                       "cpuEvictBESatisfactionUpperPercent":80}})",
                   R"(___{"reason":"ConfigParamInvalid","message":{"ResourceThresholdCfg.)"
                   R"(ClusterStrategy.CPUEvictBESatisfactionLowerPercent":)"
                   R"("CPUEvictBESatisfactionLowerPercent must be 60 or less"}}___)"},
        ConfigCase{"disk_without_weight", "resource-qos-config",
                   R"({"clusterStrategy":{"beClass":{"blkioQOS":{"blocks":[{"name":"/dev/vdb",
                       "type":"device","ioCfg":{"ioWeightPercent":0}}]}}}})",
                   R"(___{"reason":"ConfigParamInvalid","message":{"ResourceQOSCfg.)"
                   R"(ClusterStrategy.BEClass.BlkIOQOS.BlkIOQOS.Blocks[0].IOCfg.IOWeightPercent":)"
                   R"("IOWeightPercent must be 1 or greater"}}___)"},
        ConfigCase{"policy_that_koordlet_does_not_know", "resource-threshold-config",
                   R"({"clusterStrategy":{"cpuSuppressPolicy":"magic"}})",
                   R"(___{"reason":"ConfigParamInvalid","message":{"ResourceThresholdCfg.)"
                   R"(ClusterStrategy.CPUSuppressPolicy":)"
                   R"("CPUSuppressPolicy must be one of [cpuset cfsQuota]"}}___)"},
        ConfigCase{"policy_that_acts_as_the_default", "colocation-config",
                   R"({"cpuCalculatePolicy":"request"})", ""},
        ConfigCase{"other_case", "resource-qos-config",
                   R"({"clusterStrategy":{"beClass":{"resctrlQOS":{"MBAPercent":101}}}})",
                   R"(___{"reason":"ConfigParamInvalid","message":{"ResourceQOSCfg.)"
                   R"(ClusterStrategy.BEClass.ResctrlQOS.ResctrlQOS.MBAPercent":)"
                   R"("MBAPercent must be 100 or less"}}___)"},
        ConfigCase{"nested", "resource-qos-config",
                   R"({"clusterStrategy":{"beClass":{"cpuQOS":{"groupIdentity":3},
                       "resctrlQOS":{"catRangeStartPercent":50,"catRangeEndPercent":50}}}})",
                   R"(___{"reason":"ConfigParamInvalid","message":)"
                   R"({"ResourceQOSCfg.ClusterStrategy.BEClass.CPUQOS.CPUQOS.GroupIdentity":)"
                   R"("GroupIdentity must be 2 or less","ResourceQOSCfg.ClusterStrategy.BEClass.)"
                   R"(ResctrlQOS.ResctrlQOS.CATRangeEndPercent":"CATRangeEndPercent must be )"
                   R"(greater than CATRangeStartPercent","ResourceQOSCfg.ClusterStrategy.BEClass.)"
                   R"(ResctrlQOS.ResctrlQOS.CATRangeStartPercent":"CATRangeStartPercent must be )"
                   R"(less than CATRangeEndPercent"}}___)"},
        ConfigCase{"system", "system-config", R"({"clusterStrategy":{"watermarkScaleFactor":401}})",
                   R"(___{"reason":"ConfigParamInvalid","message":)"
                   R"({"SystemCfg.ClusterStrategy.WatermarkScaleFactor":)"
                   R"("WatermarkScaleFactor must be 400 or less"}}___)"},
        ConfigCase{"no_selector", "colocation-config", R"({"nodeConfigs":[{"name":"a"}]})",
                   R"(___{"reason":"ConfigParamInvalid","message":"nodeConfigs NodeSelector must )"
                   R"(not empty error! configType: colocation-config,nodeConfig name:a"}___)"},
        ConfigCase{"network_percent", "resource-qos-config",
                   R"({"clusterStrategy":{"lsClass":{"networkQOS":{"ingressLimit":101}}}})",
                   "ResourceQOSCfg.ClusterStrategy.LSClass.IngressLimit: Invalid value: 101: must "
                   "be percentage value just in 0-100'"},
        ConfigCase{"network_sum", "resource-qos-config",
                   R"({"clusterStrategy":{"lsClass":{"networkQOS":{"egressRequest":60}},
                       "beClass":{"networkQOS":{"egressRequest":41}}}})",
                   "ClusterStrategy total net bandwidth percentage already over 100"},
        ConfigCase{"network_kinds", "resource-qos-config",
                   R"({"nodeStrategies":[{"nodeSelector":{"matchLabels":{"a":"1"}},
                       "lsClass":{"networkQOS":{"egressRequest":60}},
                       "beClass":{"networkQOS":{"egressRequest":"10M"}}}]})",
                   "only one type can be used for percentages or quantity in nodeStrategy[0]"},
        ConfigCase{"network_amount_of_unknown_bandwidth", "resource-qos-config",
                   R"({"clusterStrategy":{"lsClass":{"networkQOS":{"egressRequest":"500M"}}}})",
                   ""},
        ConfigCase{"not_checked", "host-application-config", "no json", ""}),
    [](const auto& info) { return std::string(info.param.name); });

using ConfigWebhookTest = ConfigMapTest;

TEST_F(ConfigWebhookTest, BoundsOfAPairAreGivenTogetherOrNotAtAll) {
  constexpr std::pair<const char*, const char*> kPairs[] = {
      {"memoryEvictThresholdPercent", "memoryEvictLowerPercent"},
      {"memoryAllocatableEvictThresholdPercent", "memoryAllocatableEvictLowerPercent"},
      {"cpuEvictBESatisfactionUpperPercent", "cpuEvictBESatisfactionLowerPercent"},
      {"cpuEvictThresholdPercent", "cpuEvictLowerPercent"},
      {"cpuAllocatableEvictThresholdPercent", "cpuAllocatableEvictLowerPercent"}};
  const auto judge = [&](const std::string& members) {
    return Validate(
        ConfigRequest("resource-threshold-config", R"({"clusterStrategy":{)" + members + "}}"));
  };
  for (const auto& [upper, lower] : kPairs) {
    const std::string high = fmt::format(R"("{}":50)", upper);
    const std::string low = fmt::format(R"("{}":40)", lower);
    EXPECT_EQ(judge(high + "," + low), "") << upper;
    const std::string type_upper = TypeFieldName(upper), type_lower = TypeFieldName(lower);
    EXPECT_EQ(judge(high), fmt::format(R"(___{{"reason":"ConfigParamInvalid","message":{{)"
                                       R"("ResourceThresholdCfg.ClusterStrategy.{0}":)"
                                       R"("{0} must be greater than {1}"}}}}___)",
                                       type_upper, type_lower));
    EXPECT_EQ(judge(low), fmt::format(R"(___{{"reason":"ConfigParamInvalid","message":{{)"
                                      R"("ResourceThresholdCfg.ClusterStrategy.{0}":)"
                                      R"("{0} must be less than {1}"}}}}___)",
                                      type_lower, type_upper));
  }
}

TEST_F(ConfigWebhookTest, NamesWhatCannotBeRead) {
  const std::string message = Validate(ConfigRequest("system-config", R"({"clusterStrategy":[]})"));
  EXPECT_TRUE(message.starts_with(
      R"(___{"reason":"ParseConfigFail","message":"Failed to parse System config in configmap )"
      R"(koordinator-system/slo-controller-config, err: clusterStrategy)"))
      << message;
}

TEST_F(ConfigWebhookTest, ANodeMayNotMatchTwice) {
  view_.nodes.push_back(Read<kube::Node>("{metadata: {name: n, labels: {a: '1', b: '1'}}}"));
  constexpr char kTwo[] =
      R"({"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"a":"1"}}},
                         {"name":"b","nodeSelector":{"matchLabels":{"b":"1"}}}]})";
  constexpr char kError[] =
      R"(___{"reason":"ExistNodeConfict","message":{"config":"colocation-config","strategies":)"
      R"(["a","b"],"exampleNodes":["n"]}}___)";
  EXPECT_EQ(Validate(ConfigRequest("colocation-config", kTwo)), kError);

  auto config = std::make_shared<kube::ConfigMap>();
  config->data["colocation-config"] = kTwo;
  view_.slo_config = config;
  Request request;
  request.operation = Operation::kUpdate;
  request.resource = "nodes";
  request.object = Yaml("{metadata: {name: n, labels: {a: '1', b: '1'}}}");
  request.old_object = Yaml("{metadata: {name: n, labels: {a: '1'}}}");
  EXPECT_EQ(ValidateNode(request, view_).message, kError);
  EXPECT_EQ(ValidateNode(request, view_).code, 400);
  request.old_object = request.object;
  EXPECT_TRUE(ValidateNode(request, view_).allowed) << "labels did not change";
  request.operation = Operation::kCreate;
  EXPECT_TRUE(ValidateNode(request, view_).allowed) << "a node could not join";
}

TEST_F(ConfigWebhookTest, OnlyChangesOfTheOneConfigMapAreJudged) {
  Request request = ConfigRequest("colocation-config", "bad");
  request.operation = Operation::kUpdate;
  request.old_object = request.object;
  EXPECT_EQ(Validate(request), "");
  request = ConfigRequest("colocation-config", "bad");
  kube::At(request.object, {"metadata", "name"}) = "other";
  EXPECT_EQ(Validate(request), "");
  request = ConfigRequest("colocation-config", "bad");
  request.operation = Operation::kDelete;
  EXPECT_EQ(Validate(request), "");
}

TEST_F(ConfigWebhookTest, NamesOfEntriesOnRequest) {
  constexpr char kUnnamed[] = R"({"nodeConfigs":[{"nodeSelector":{"matchLabels":{"a":"1"}}}]})";
  constexpr char kTwice[] =
      R"({"nodeConfigs":[{"name":"x","nodeSelector":{"matchLabels":{"a":"1"}}},
                         {"name":"x","nodeSelector":{"matchLabels":{"a":"2"}}}]})";
  EXPECT_EQ(Validate(ConfigRequest("colocation-config", kUnnamed)), "");
  EXPECT_EQ(Validate(ConfigRequest("colocation-config", kUnnamed), {.check_names = true}),
            R"(___{"reason":"ConfigParamInvalid","message":)"
            R"("nodeConfig Name need! configType:colocation-config"}___)");
  EXPECT_EQ(Validate(ConfigRequest("colocation-config", kTwice), {.check_names = true}),
            R"(___{"reason":"ConfigParamInvalid","message":"nodeConfig Name confilict, )"
            R"(configType:colocation-config,nodeConfig Name:x! "}___)");
}

TEST_F(ConfigWebhookTest, AmountsMustFitTheBandwidth) {
  Request request =
      ConfigRequest("resource-qos-config",
                    R"({"clusterStrategy":{"lsClass":{"networkQOS":{"egressRequest":"500M"}}}})");
  kube::At(request.object, {"data", "system-config"}) =
      R"({"clusterStrategy":{"totalNetworkBandwidth":"400M"}})";
  EXPECT_EQ(Validate(request),
            "total net bandwidth over total network bandwidth in clusterStrategy");
  kube::At(request.object, {"data", "system-config"}) =
      R"({"clusterStrategy":{"totalNetworkBandwidth":"600M"}})";
  EXPECT_EQ(Validate(request), "");
}

TEST(FieldProblemsTest, NamesFieldsAsTheTypesDo) {
  EXPECT_EQ(TypeFieldName("cpuSuppressThresholdPercent"), "CPUSuppressThresholdPercent");
  EXPECT_EQ(TypeFieldName("cfsQuotaBurstPercent"), "CFSQuotaBurstPercent");
  EXPECT_EQ(TypeFieldName("lsrClass"), "LSRClass");
  EXPECT_EQ(TypeFieldName("beClass"), "BEClass");
  EXPECT_EQ(TypeFieldName("memoryQOS"), "MemoryQOS");
}

}  // namespace
}  // namespace koord::manager::webhook::config_webhook_test
