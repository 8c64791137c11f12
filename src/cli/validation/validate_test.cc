#include "cli/validation/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/log.h"
#include "base/source_dir/source_dir.h"
#include "base/strings.h"
#include "manager/config/slo_config.h"
#include "manager/webhook/configmap/slo_config_check.h"

namespace koord::validation::validate_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ValidateTest : public testing::Test {
 protected:
  ValidateTest() {
    log::SetSink([](std::string_view) {});
  }
  ~ValidateTest() override { log::SetSink(nullptr); }

  static std::vector<std::string> Lines(const std::vector<SourceFile>& files) {
    std::vector<std::string> lines;
    for (const Finding& each : Validate(files)) lines.push_back(ToString(each));
    return lines;
  }
  static std::vector<std::string> Lines(std::string text) {
    return Lines({SourceFile{"f", std::move(text)}});
  }
  // Without what is said of everything that has no effect yet.
  static std::vector<std::string> LinesOfEffect(std::string text) {
    std::vector<std::string> lines = Lines(std::move(text));
    std::erase_if(lines, [](const std::string& line) {
      return line.find("has no effect in this version") != std::string::npos;
    });
    return lines;
  }
  // Each key with its JSON, which stands on the lines behind it.
  static std::string ConfigMap(const std::vector<std::pair<std::string, std::string>>& keys) {
    std::string text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: slo-controller-config\n"
        "  namespace: koordinator-system\ndata:\n";
    for (const auto& [key, json] : keys) text += "  " + key + ": |\n    " + json + "\n";
    return text;
  }
};

constexpr char kGoodPod[] =
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n"
    "    image: i\n";

TEST_F(ValidateTest, WhatIsRightIsNotSpokenOf) {
  EXPECT_THAT(Lines(kGoodPod), IsEmpty());
  EXPECT_THAT(Lines(""), IsEmpty());
  EXPECT_THAT(
      Lines(ConfigMap({{"colocation-config", R"({"enable":true})"},
                       {"resource-threshold-config", R"({"clusterStrategy":{"enable":true}})"}})),
      IsEmpty());
}

TEST_F(ValidateTest, WhatTheApiServerWouldRefuse) {
  struct Case {
    const char* name;
    std::string text;
    std::string expected;
  };
  const Case cases[] = {
      {"no YAML", "a: [\n", "f:"},
      {"no kind", "apiVersion: v1\nmetadata: {name: x}\n", "f:1: error: kind is missing"},
      {"unknown field", std::string(kGoodPod) + "    imagePullPolicie: Always\n",
       "f:9: error: spec.containers[0].imagePullPolicie: unknown field (did you mean "
       "imagePullPolicy?)"},
      {"wrong type",
       "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: many\n",
       "f:5: error: spec.replicas: expected"},
      {"missing field", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n",
       "f:4: error: spec.containers: Required value"},
      {"unknown kind", "apiVersion: apps/v1\nkind: Deploymnt\nmetadata: {name: d}\n",
       "f:2: error: kind: apps/v1 has no kind Deploymnt (did you mean Deployment?)"},
      {"unknown version", "apiVersion: apps/v2\nkind: Deployment\nmetadata: {name: d}\n",
       "f:1: error: apiVersion: there is no apps/v2 (did you mean apps/v1?)"},
      {"foreign kind", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: d}\n",
       "f:1: warning: apiVersion: example.com/v1 Widget is not known here and was not checked"},
      {"custom resource",
       "apiVersion: slo.koordinator.sh/v1alpha1\nkind: NodeSLO\nmetadata: {name: n}\nspec:\n"
       "  resourceUsedThresholdWithBE:\n    cpuSuppressThresholdPercnt: 65\n",
       "f:6: error: spec.resourceUsedThresholdWithBE.cpuSuppressThresholdPercnt: unknown field "
       "(did you mean cpuSuppressThresholdPercent?)"},
      {"custom resource, bad value",
       "apiVersion: config.koordinator.sh/v1alpha1\nkind: ClusterColocationProfile\n"
       "metadata: {name: n}\nspec:\n  qosClass: BEST\n",
       "f:5: error: spec.qosClass: Unsupported value: \"BEST\""},
      {"in a list",
       "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n"
       "  metadata: {name: p}\n  spec: {}\n",
       "f:7: error: spec.containers: Required value"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(Lines(each.text), Contains(HasSubstr(each.expected))) << each.name;
  }
}

TEST_F(ValidateTest, KindsMayBeDefinedInTheFiles) {
  const SourceFile definition{
      "crd",
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
      "metadata: {name: widgets.example.com}\nspec:\n  group: example.com\n  scope: Cluster\n"
      "  names: {kind: Widget, plural: widgets}\n  versions:\n  - name: v1\n    served: true\n"
      "    storage: true\n    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: "
      "object, properties: {size: {type: integer}}}}}}\n"};
  const SourceFile widget{
      "w", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {sice: 3}\n"};
  EXPECT_THAT(Lines({widget, definition}),
              ElementsAre("w:4: error: spec.sice: unknown field (did you mean size?)"));
}

TEST_F(ValidateTest, PodsByTheRulesOfTheWebhooks) {
  const auto pod = [](const std::string& labels, const std::string& spec) {
    return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels:\n    " + labels +
           "\nspec:\n  " + spec + "\n";
  };
  const std::string container = "containers: [{name: c, image: i, resources: {requests: {cpu: ";
  EXPECT_THAT(Lines(pod("koordinator.sh/qosClass: BEE", container + "1}}}]")),
              ElementsAre("f:6: error: metadata.labels.koordinator.sh/qosClass: \"BEE\" is not one "
                          "of LSE, LSR, LS, BE, SYSTEM"));
  EXPECT_THAT(Lines(pod("koordinator.sh/qosClass: LSR",
                        "priorityClassName: koord-prod\n  " + container + "1500m}}}]")),
              Contains(HasSubstr("error: spec.containers.resources.requests: Invalid value: "
                                 "\"1500m\": the requested CPUs of LSR Pod must be integer")));
  EXPECT_THAT(Lines(pod("koordinator.sh/qosClass: BE",
                        "priorityClassName: koord-prod\n  " + container + "1}}}]")),
              Contains(HasSubstr("error: metadata.labels: Forbidden: koordinator.sh/qosClass=BE "
                                 "and priorityClass=koord-prod cannot be used in combination")));
  // A profile may set the priority.
  EXPECT_THAT(Lines(pod("koordinator.sh/qosClass: BE", container + "1}}}]")),
              ElementsAre(HasSubstr("warning: metadata.labels: Forbidden: ")));
  EXPECT_THAT(Lines(pod("koordinator.sh/qosclas: BE", container + "1}}}]")),
              ElementsAre("f:6: warning: metadata.labels.koordinator.sh/qosclas: unknown key (did "
                          "you mean koordinator.sh/qosClass?)"));
}

TEST_F(ValidateTest, PriorityClassesAreTheClusters) {
  for (const char* spec : {"priorityClassName: mine", "priorityClassName: koord-batch",
                           "priorityClassName: mine\n  priority: 1000"}) {
    EXPECT_THAT(Lines("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  " +
                      std::string(spec) + "\n  containers: [{name: c, image: i}]\n"),
                IsEmpty())
        << spec;
  }
}

TEST_F(ValidateTest, TemplatesAreLookedAtLikePods) {
  EXPECT_THAT(
      Lines(
          "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n"
          "    metadata:\n      annotations:\n        koordinator.sh/cpuQOS: '{\"enabel\": true}'\n"
          "    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i}]\n"),
      ElementsAre("f:8: error: spec.template.metadata.annotations.koordinator.sh/cpuQOS.enabel: "
                  "unknown field (did you mean enable?)"));
}

TEST_F(ValidateTest, SchedulersKeysAreNotForUsers) {
  EXPECT_THAT(
      Lines("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n"
            "    scheduling.koordinator.sh/resource-status: '{\"cpuset\":\"0-3\"}'\n"
            "spec: {containers: [{name: c, image: i}]}\n"),
      ElementsAre(HasSubstr("f:6: error: "
                            "metadata.annotations.scheduling.koordinator.sh/resource-status: ")));
}

TEST_F(ValidateTest, Nodes) {
  const auto node = [](const std::string& metadata) {
    return "apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n  " + metadata +
           "\nstatus: {capacity: {cpu: 4, memory: 8Gi}, allocatable: {cpu: 4, memory: 8Gi}}\n";
  };
  EXPECT_THAT(Lines(node("annotations: {node.koordinator.sh/reservation: '{\"resources\":{\"cpu\":"
                         "\"8\"}}'}")),
              ElementsAre(HasSubstr("reserves 8 of cpu, of which the node has 4")));
  EXPECT_THAT(Lines(node("annotations: {node.koordinator.sh/reservation: "
                         "'{\"reservedCPUs\":\"0-7\"}'}")),
              ElementsAre(HasSubstr("reserves 8 of cpu, of which the node has 4")));
  EXPECT_THAT(Lines(node("labels: {node.koordinator.sh/cpu-reclaim-ratio: lots}")),
              ElementsAre(HasSubstr("\"lots\" is not a ratio such as 0.65")));
  EXPECT_THAT(
      Lines(node("annotations: {node.koordinator.sh/resource-amplification-ratio: "
                 "'{\"cpu\":0.4,\"memory\":2}'}")),
      ElementsAre("f:5: error: "
                  "metadata.annotations.node.koordinator.sh/resource-amplification-ratio: "
                  "annotation node.koordinator.sh/resource-amplification-ratio has no effect on "
                  "cpu: the ratio must be at least 1, found 0.4"));
  EXPECT_THAT(Lines(node("annotations: {node.koordinator.sh/colocation-strategy: "
                         "'{\"midCPUThresholdPercent\":101}'}")),
              ElementsAre(HasSubstr("colocation-strategy.midCPUThresholdPercent: must be between 0 "
                                    "and 100, found 101")));
}

TEST_F(ValidateTest, NodeSlos) {
  EXPECT_THAT(Lines("apiVersion: slo.koordinator.sh/v1alpha1\nkind: NodeSLO\nmetadata: {name: n}\n"
                    "spec:\n  resourceUsedThresholdWithBE:\n    memoryEvictThresholdPercent: 80\n"
                    "  systemStrategy:\n    watermarkScaleFactor: 401\n"),
              Contains(HasSubstr("f:8: error: spec.systemStrategy.watermarkScaleFactor: must be "
                                 "between 10 and 400, found 401; koordlet takes the default")));
}

TEST_F(ValidateTest, SloConfigByItself) {
  struct Case {
    const char* name;
    const char* key;
    const char* json;
    const char* expected;
  };
  const Case cases[] = {
      {"unknown field", "colocation-config", R"({"cpuReclaimTresholdPercent":60})",
       "f:8: error: data.colocation-config.cpuReclaimTresholdPercent: unknown field (did you mean "
       "cpuReclaimThresholdPercent?)"},
      {"not JSON", "colocation-config", R"({"enable":)",
       "f:7: error: data.colocation-config: is not JSON"},
      {"wrong type", "resource-threshold-config",
       R"({"clusterStrategy":{"cpuSuppressThresholdPercent":"65"}})",
       "data.resource-threshold-config.clusterStrategy.cpuSuppressThresholdPercent: expected an "
       "integer"},
      {"out of range", "colocation-config", R"({"resourceDiffThreshold":2})",
       "f:8: error: data.colocation-config.resourceDiffThreshold: must be more than 0 and at most "
       "1, found 2"},
      {"nested out of range", "resource-qos-config",
       R"({"clusterStrategy":{"beClass":{"cpuQOS":{"groupIdentity":3}}}})",
       "error: data.resource-qos-config.clusterStrategy.beClass.cpuQOS.groupIdentity: must be "
       "between -1 and 2, found 3"},
      {"not a policy", "colocation-config", R"({"memoryCalculatePolicy":"requests"})",
       "error: data.colocation-config.memoryCalculatePolicy: \"requests\" is not one of usage, "
       "request, maxUsageRequest"},
      {"order", "resource-threshold-config",
       R"({"clusterStrategy":{"memoryEvictThresholdPercent":70,"memoryEvictLowerPercent":75}})",
       "memoryEvictThresholdPercent: must be more than memoryEvictLowerPercent, found 70"},
      {"half a pair", "resource-threshold-config",
       R"({"clusterStrategy":{"memoryEvictLowerPercent":75}})",
       "clusterStrategy.memoryEvictLowerPercent: needs memoryEvictThresholdPercent beside it: give "
       "both or neither"},
      {"half a pair over the cluster's", "resource-threshold-config",
       R"({"clusterStrategy":{"cpuEvictBESatisfactionLowerPercent":40,"cpuEvictBESatisfactionUpperPercent":60},"nodeStrategies":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"cpuEvictBESatisfactionUpperPercent":50}]})",
       "nodeStrategies[0].cpuEvictBESatisfactionUpperPercent: needs "
       "cpuEvictBESatisfactionLowerPercent beside it"},
      {"what koordlet would refuse", "resource-threshold-config",
       R"({"clusterStrategy":{"cpuEvictBESatisfactionLowerPercent":70,"cpuEvictBESatisfactionUpperPercent":80}})",
       "cpuEvictBESatisfactionLowerPercent: must be between 1 and 60, found 70"},
      {"empty selector", "colocation-config", R"({"nodeConfigs":[{"name":"a","nodeSelector":{}}]})",
       "error: data.colocation-config.nodeConfigs[0].nodeSelector: is empty: an entry must say "
       "which nodes it is for"},
      {"bad selector", "cpu-burst-config",
       R"({"nodeStrategies":[{"name":"a","nodeSelector":{"matchLabels":{"a b":"c"}}}]})",
       "error: data.cpu-burst-config.nodeStrategies[0].nodeSelector: "},
      {"network", "resource-qos-config",
       R"({"clusterStrategy":{"lsClass":{"networkQOS":{"egressRequest":60}},"beClass":{"networkQOS":{"egressRequest":60}}}})",
       "error: data.resource-qos-config: ClusterStrategy total net bandwidth percentage already "
       "over 100"},
      {"no selector", "colocation-config", R"({"nodeConfigs":[{"name":"a","enable":false}]})",
       "nodeConfigs[0]: nodeSelector is missing: the entry is for no node"},
      {"overlap", "colocation-config",
       R"({"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"x":"x"}}},{"name":"b","nodeSelector":{"matchLabels":{"x":"x","y":"y"}}}]})",
       "data.colocation-config: a node may match several entries at once, of which only the first "
       "counts: \"a\", \"b\""},
      {"unknown key", "colocation-conf", "{}",
       "f:7: error: data.colocation-conf: unknown key (did you mean colocation-config?)"},
      {"amplified by less than one", "resource-amplification-config",
       R"({"enable":true,"resourceAmplificationRatio":{"cpu":0.5}})",
       "resourceAmplificationRatio.cpu: must be 1 or more"},
      {"CPUs worth too much", "cpu-normalization-config",
       R"({"enable":true,"ratioModel":{"X":{"baseRatio":7}}})",
       "ratioModel.X.baseRatio: 7 is not between 1 and 5"},
      {"host application", "host-application-config", R"({"applications":[{"nam":"x"}]})",
       "applications[0].nam: unknown field (did you mean name?)"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(Lines(ConfigMap({{each.key, each.json}})), Contains(HasSubstr(each.expected)))
        << each.name;
  }
}

TEST_F(ValidateTest, AWrongOrderIsSaidOnce) {
  EXPECT_THAT(
      Lines(ConfigMap(
          {{"resource-threshold-config",
            R"({"clusterStrategy":{"cpuEvictThresholdPercent":80,"cpuEvictLowerPercent":85}})"}})),
      ElementsAre(
          HasSubstr("cpuEvictThresholdPercent: must be more than cpuEvictLowerPercent, found 80")));
}

// Whatever is written: what the webhook lets in is no error here, and what it refuses is one.
TEST_F(ValidateTest, JudgesAsTheWebhookDoes) {
  struct Member {
    const char* key;
    const char* strategy;  // with %s for the members
    const char* members;   // with # for the number
  };
  constexpr char kNested[] = R"({"clusterStrategy":{%s}})";
  const Member members[] = {
      {"colocation-config", "{%s}", R"("cpuReclaimThresholdPercent":#)"},
      {"colocation-config", "{%s}", R"("midStaticCPUReservedPercent":#)"},
      {"colocation-config", "{%s}", R"("degradeTimeMinutes":#)"},
      {"colocation-config", "{%s}", R"("MidCPUThresholdPercent":#)"},
      {"resource-threshold-config", kNested, R"("memoryEvictThresholdPercent":#)"},
      {"resource-threshold-config", kNested, R"("memoryEvictLowerPercent":#)"},
      {"resource-threshold-config", kNested, R"("cpuEvictLowerPercent":#)"},
      {"resource-threshold-config", kNested,
       R"("cpuEvictThresholdPercent":100,"cpuEvictLowerPercent":#)"},
      {"resource-threshold-config", kNested,
       R"("cpuEvictBESatisfactionUpperPercent":99,"cpuEvictBESatisfactionLowerPercent":#)"},
      {"resource-threshold-config", kNested,
       R"("cpuAllocatableEvictLowerPercent":1,"cpuAllocatableEvictThresholdPercent":#)"},
      {"resource-threshold-config", kNested, R"("CPUEvictTimeWindowSeconds":#)"},
      {"resource-threshold-config", kNested, R"("allocatableEvictPriorityThreshold":#)"},
      {"cpu-burst-config", kNested, R"("cpuBurstPercent":#)"},
      {"cpu-burst-config", kNested, R"("cfsQuotaBurstPercent":#)"},
      {"cpu-burst-config", kNested, R"("cfsQuotaBurstPeriodSeconds":#)"},
      {"system-config", kNested, R"("watermarkScaleFactor":#)"},
      {"system-config", kNested, R"("minFreeKbytesFactor":#)"},
      {"resource-qos-config", kNested, R"("beClass":{"resctrlQOS":{"MBAPercent":#}})"},
      {"resource-qos-config", kNested, R"("lsClass":{"resctrlQOS":{"catRangeEndPercent":#}})"},
      {"resource-qos-config", kNested, R"("cgroupRoot":{"memoryQOS":{"wmarkMinAdj":#}})"},
  };
  std::vector<SourceFile> files;  // each named after what it says
  std::set<std::string> refused, in_error;
  for (const Member& member : members) {
    for (const int value : {-26, -2, -1, 0, 1, 9, 10, 60, 61, 99, 100, 101, 400, 401, 7999, 8000}) {
      std::string json = member.strategy;
      json.replace(json.find("%s"), 2, member.members);
      json.replace(json.find('#'), 1, std::to_string(value));
      files.push_back({json, ConfigMap({{member.key, json}})});
      kube::ConfigMap config;
      config.data[member.key] = json;
      if (!manager::webhook::CheckSloConfig(config, nullptr, {}, {}).ok()) refused.insert(json);
    }
  }
  for (const Finding& finding : Validate(files)) {
    if (finding.severity == Severity::kError) in_error.insert(finding.file);
  }
  EXPECT_THAT(in_error, testing::ContainerEq(refused));
}

TEST_F(ValidateTest, NamesInJsonMatchWithoutRegardToCase) {
  EXPECT_THAT(
      Lines(ConfigMap(
          {{"resource-qos-config",
            R"({"clusterStrategy":{"beClass":{"resctrlQOS":{"enable":true,"MBAPercent":50}}}})"},
           {"resource-threshold-config",
            R"({"clusterStrategy":{"enable":true,"CPUEvictTimeWindowSeconds":60}})"}})),
      IsEmpty());
  // Each is found where it is written.
  EXPECT_THAT(Lines(ConfigMap({{"resource-qos-config",
                                "{\"ClusterStrategy\":{\"BEClass\":\n"
                                "    {\"resctrlQOS\":{\n    \"MBAPercent\":500,\n"
                                "    \"MBAPercnt\":50}}}}"}})),
              ElementsAre(HasSubstr("f:10: error: data.resource-qos-config.clusterStrategy.beClass."
                                    "resctrlQOS.mbaPercent: must be between 0 and 100, found 500"),
                          HasSubstr("f:11: error: data.resource-qos-config.ClusterStrategy.BEClass."
                                    "resctrlQOS.MBAPercnt: unknown field (did you mean "
                                    "mbaPercent?)")));
  EXPECT_THAT(Lines("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n"
                    "    koordinator.sh/cpuBurst: '{\"Policy\":\"auto\",\"CPUBurstPercent\":200}'\n"
                    "spec: {containers: [{name: c, image: i}]}\n"),
              IsEmpty());
}

TEST_F(ValidateTest, ThresholdsThatFight) {
  struct Case {
    const char* name;
    const char* colocation;
    const char* threshold;
    const char* expected;
  };
  const Case cases[] = {
      {"lent beyond where memory is taken back",
       R"({"enable":true,"memoryReclaimThresholdPercent":80})",
       R"({"clusterStrategy":{"enable":true}})",
       "warning: data.colocation-config.memoryReclaimThresholdPercent: nodes are filled up to 80 "
       "%, but best-effort pods are evicted from 70 % on"},
      {"taken back before all is lent", R"({"enable":true})",
       R"({"clusterStrategy":{"enable":true,"cpuSuppressThresholdPercent":50}})",
       "warning: data.resource-threshold-config.clusterStrategy.cpuSuppressThresholdPercent: nodes "
       "are filled up to 60 %, but best-effort pods are slowed down from 50 % on"},
      {"for some nodes only",
       R"({"enable":true,"nodeConfigs":[{"name":"a","nodeSelector":{"matchLabels":{"a":"b"}},"cpuReclaimThresholdPercent":90}]})",
       R"({"clusterStrategy":{"enable":true}})",
       "data.colocation-config.nodeConfigs[0].cpuReclaimThresholdPercent: nodes are filled up to "
       "90 %"},
      {"lent without protection", R"({"enable":true})", R"({"clusterStrategy":{"enable":false}})",
       "data.colocation-config.enable: idle resources are lent, but resource-threshold-config is "
       "not enabled"},
      {"reports that are too rare", R"({"metricReportIntervalSeconds":600})", "{}",
       "metricReportIntervalSeconds: a node's report counts for 900 s and comes every 600 s"},
      {"evicted before slowed down", "{}",
       R"({"clusterStrategy":{"cpuEvictThresholdPercent":60,"cpuEvictLowerPercent":55}})",
       "clusterStrategy.cpuEvictThresholdPercent: pods are evicted at 60 % before they are slowed "
       "down at 65 %"},
      {"nothing to take away", "{}", R"({"clusterStrategy":{"cpuSuppressMinPercent":70}})",
       "clusterStrategy.cpuSuppressMinPercent: best-effort pods always keep 70 %"},
      {"a cap that is never reached", R"({"batchCPUThresholdPercent":70})", "{}",
       "batchCPUThresholdPercent: 70 % is never reached: cpuReclaimThresholdPercent lends at most "
       "60 %"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(Lines(ConfigMap({{"colocation-config", each.colocation},
                                 {"resource-threshold-config", each.threshold}})),
                Contains(HasSubstr(each.expected)))
        << each.name;
  }
}

TEST_F(ValidateTest, AnEntryForTheSameNodesIsComparedWithItsPartner) {
  const std::string selector = R"("name":"a","nodeSelector":{"matchLabels":{"a":"b"}})";
  EXPECT_THAT(Lines(ConfigMap(
                  {{"colocation-config", R"({"enable":true,"nodeConfigs":[{)" + selector +
                                             R"(,"memoryReclaimThresholdPercent":80}]})"},
                   {"resource-threshold-config",
                    R"({"clusterStrategy":{"enable":true},"nodeStrategies":[{)" + selector +
                        R"(,"memoryEvictThresholdPercent":85,"memoryEvictLowerPercent":80}]})"}})),
              IsEmpty());
}

TEST_F(ValidateTest, Quotas) {
  const auto quota = [](const std::string& name, const std::string& labels,
                        const std::string& spec) {
    return "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: ElasticQuota\nmetadata: "
           "{name: " +
           name + ", labels: {" + labels + "}}\nspec: {" + spec + "}\n";
  };
  const std::string parent = "quota.scheduling.koordinator.sh/parent: ";
  // The child stands before its parent.
  EXPECT_THAT(LinesOfEffect(quota("c", parent + "p", "max: {cpu: 4}, min: {cpu: 2}") +
                            quota("p", "quota.scheduling.koordinator.sh/is-parent: 'true'",
                                  "max: {cpu: 8}, min: {cpu: 4}")),
              IsEmpty());
  EXPECT_THAT(LinesOfEffect(quota("c", parent + "p", "max: {cpu: 8}, min: {cpu: 6}") +
                            quota("p", "quota.scheduling.koordinator.sh/is-parent: 'true'",
                                  "max: {cpu: 8}, min: {cpu: 4}")),
              ElementsAre(HasSubstr("error: spec: checkMinQuotaSum all brothers' MinQuota > parent "
                                    "MinQuota, parent: p")));
  EXPECT_THAT(LinesOfEffect(quota("q", "", "max: {cpu: 1}, min: {cpu: 2}")),
              ElementsAre(HasSubstr("error: spec: resourceKey cpu of quota q min 2 > max 1")));
  EXPECT_THAT(LinesOfEffect(quota("c", parent + "elsewhere", "max: {cpu: 4}, min: {cpu: 2}")),
              ElementsAre(HasSubstr("warning: metadata.labels.quota.scheduling.koordinator.sh/"
                                    "parent: quota elsewhere is not in these files")));
}

TEST_F(ValidateTest, Profiles) {
  const auto profile = [](const std::string& spec) {
    return "apiVersion: config.koordinator.sh/v1alpha1\nkind: ClusterColocationProfile\n"
           "metadata: {name: p}\nspec:\n  " +
           spec + "\n";
  };
  EXPECT_THAT(Lines(profile("{qosClass: BE, priorityClassName: koord-batch}")), IsEmpty());
  EXPECT_THAT(Lines(profile("{qosClass: BE, priorityClassName: koord-prod}")),
              ElementsAre(HasSubstr("BE and priorityClassName koord-prod cannot be used in "
                                    "combination: every pod that matches is refused")));
  EXPECT_THAT(Lines(profile("probability: often")),
              ElementsAre(HasSubstr("f:5: error: spec.probability: ")));
  EXPECT_THAT(Lines(profile("probability: 30%")), IsEmpty());
  for (const char* probability : {"150", "150%", "-1"}) {
    EXPECT_THAT(Lines(profile(std::string("probability: ") + probability)),
                ElementsAre(HasSubstr("f:5: error: spec.probability: must be a number from 0 to "
                                      "100 or a percentage such as 30%, found ")))
        << probability;
  }
}

TEST_F(ValidateTest, WhatProfilesSelectAndGive) {
  const auto profile = [](const std::string& spec) {
    return "apiVersion: config.koordinator.sh/v1alpha1\nkind: ClusterColocationProfile\n"
           "metadata: {name: p}\nspec:\n  " +
           spec + "\n";
  };
  const std::pair<const char*, const char*> cases[] = {
      {"selector: {matchLabels: {a b: c}}", "f:5: error: spec.selector"},
      {"selector: {matchExpressions: [{key: a, operator: Within, values: [b]}]}",
       "f:5: error: spec.selector"},
      {"namespaceSelector: {matchExpressions: [{key: a, operator: In}]}",
       "f:5: error: spec.namespaceSelector"},
      {"labels: {a b: c}", "f:5: error: spec.labels.a b: \"a b\": "},
      {"labels: {a: b c}", "f:5: error: spec.labels.a: \"b c\": "},
      {"annotations: {a b: c}", "f:5: error: spec.annotations.a b: \"a b\": "},
      {"labelKeysMapping: {a: b c}", "f:5: error: spec.labelKeysMapping.a: \"b c\": "},
      {"labels: {koordinator.sh/qosClass: BEE}",
       "f:5: error: spec.labels.koordinator.sh/qosClass: \"BEE\" is not one of"},
  };
  for (const auto& [spec, expected] : cases) {
    EXPECT_THAT(Lines(profile(spec)), Contains(HasSubstr(expected))) << spec;
  }
}

TEST_F(ValidateTest, SaysWhatHasNoEffectYet) {
  EXPECT_THAT(
      Lines(
          "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n"
          "  selector: {matchLabels: {a: b}}\n  template:\n    metadata:\n      labels:\n"
          "        a: b\n        quota.scheduling.koordinator.sh/name: q\n    spec:\n"
          "      containers:\n      - name: c\n        image: i\n        resources:\n"
          "          limits: {koordinator.sh/gpu-core: 50, koordinator.sh/gpu-memory-ratio: 50}\n"),
      ElementsAre(HasSubstr("f:10: warning: "
                            "spec.template.metadata.labels.quota.scheduling.koordinator.sh/name: "
                            "label quota.scheduling.koordinator.sh/name has no effect in this "
                            "version: "),
                  HasSubstr("f:16: warning: spec.template.spec.containers[0].resources.limits."
                            "koordinator.sh/gpu-core: resource koordinator.sh/gpu-core has no "
                            "effect in this version: "),
                  HasSubstr("f:16: warning: ")));
  EXPECT_THAT(Lines("apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n"
                    "metadata: {name: g}\nspec: {minMember: 2}\n"),
              ElementsAre(HasSubstr("f:2: warning: kind: PodGroup is accepted but has no effect in "
                                    "this version: ")));
}

TEST_F(ValidateTest, UnknownKeysAreQuestionedOnlyIfTheyAreNearOthers) {
  const auto pod = [](const std::string& label) {
    return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels: {" + label +
           ": 'true'}\nspec: {containers: [{name: c, image: i}]}\n";
  };
  EXPECT_THAT(Lines(pod("koordinator.sh/mutated")), IsEmpty());
  EXPECT_THAT(Lines(pod("shedulin.koordinator.sh/core-sched-group-idd")), IsEmpty());
  EXPECT_THAT(Lines(pod("koordinator.sh/core-sched-group-idd")),
              ElementsAre(HasSubstr("(did you mean koordinator.sh/core-sched-group-id?)")));
}

TEST_F(ValidateTest, PatchesAreNoObjects) {
  EXPECT_THAT(Lines("- op: remove\n  path: /spec/x\n"), IsEmpty());
  EXPECT_THAT(Lines("- op: remove\n"), ElementsAre(HasSubstr("expected an object")));
}

TEST_F(ValidateTest, KeysOfTheLocalClusterAreItsOwn) {
  EXPECT_THAT(Lines("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n"
                    "  labels: {local.koordinator.sh/load: x}\n"
                    "  annotations: {local.koordinator.sh/load: flat=1}\n"
                    "spec: {containers: [{name: c, image: i}]}\n"),
              IsEmpty());
}

TEST_F(ValidateTest, SchedulerConfigurationAsTheSchedulerReadsIt) {
  EXPECT_THAT(
      Lines("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            "profiles:\n- schedulerName: koord-scheduler\n  pluginConfig:\n"
            "  - name: LoadAwareScheduling\n    args: {usageThreshhold: {cpu: 65}}\n"),
      ElementsAre(HasSubstr("f:7: error: profiles[0].pluginConfig[0].args.usageThreshhold: unknown "
                            "field (did you mean usageThresholds?)")));
}

TEST_F(ValidateTest, PluginsOfSchedulers) {
  constexpr char kConfig[] =
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles:\n- schedulerName: koord-scheduler\n  pluginConfig:\n"
      "  - name: LoadAwareSchedulin\n    args: {}\n  - name: NodeDeclaredFeatures\n    args: {}\n"
      "  plugins:\n    multiPoint:\n      enabled:\n      - name: DeviceShare\n"
      "      - name: LoadAwareSched\n      disabled:\n      - name: NodePort\n";
  EXPECT_THAT(
      Lines(kConfig),
      ElementsAre(HasSubstr("f:6: error: profiles[0].pluginConfig[0].name: there is no plugin "
                            "\"LoadAwareSchedulin\" (did you mean LoadAwareScheduling?)"),
                  HasSubstr("f:8: warning: profiles[0].pluginConfig[1].name: plugin "
                            "NodeDeclaredFeatures "
                            "has no effect in this version"),
                  HasSubstr("f:13: warning: profiles[0].plugins.multiPoint.enabled[0].name: plugin "
                            "DeviceShare has no effect in this version"),
                  HasSubstr("f:14: error: profiles[0].plugins.multiPoint.enabled[1].name: plugin "
                            "\"LoadAwareSched\" does not exist"),
                  HasSubstr("f:16: error: profiles[0].plugins.multiPoint.disabled[0].name: there "
                            "is no plugin \"NodePort\" (did you mean NodePorts?)")));
}

TEST_F(ValidateTest, ConfigurationsInsideOfConfigMaps) {
  EXPECT_THAT(
      Lines("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: koord-scheduler-config}\ndata:\n"
            "  koord-scheduler-config: |\n    apiVersion: kubescheduler.config.k8s.io/v1\n"
            "    kind: KubeSchedulerConfiguration\n    parallelizm: 4\n"),
      ElementsAre(HasSubstr("f:8: error: data.koord-scheduler-config.parallelizm: unknown field "
                            "(did you mean parallelism?)")));
}

TEST_F(ValidateTest, DeschedulerConfiguration) {
  const auto lines = Lines(
      "apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\n"
      "deschedulingIntervall: 10s\nmaxNoOfPodsToEvictTotal: many\nprofiles:\n- name: d\n"
      "  plugins:\n    balance:\n      enabled:\n      - name: LowNodeLod\n  pluginConfig:\n"
      "  - name: LowNodeLoad\n    args:\n      highTresholds: {cpu: 70}\n"
      "      nodePools:\n      - name: p\n        lowThreshold: {cpu: 1}\n"
      "  - name: MigrationController\n    args: {evictQPS: '10', defaultJobTTl: 5m}\n");
  EXPECT_THAT(
      lines,
      ElementsAre(HasSubstr("f:2: warning: kind: DeschedulerConfiguration is accepted but has no "
                            "effect in this version: "),
                  HasSubstr("f:3: error: deschedulingIntervall: unknown field (did you mean "
                            "deschedulingInterval?)"),
                  HasSubstr("f:4: error: maxNoOfPodsToEvictTotal: expected"),
                  HasSubstr("f:10: error: profiles[0].plugins.balance.enabled[0].name: there is no "
                            "plugin \"LowNodeLod\" (did you mean LowNodeLoad?)"),
                  HasSubstr("f:14: error: profiles[0].pluginConfig[0].args.highTresholds: unknown "
                            "field (did you mean highThresholds?)"),
                  HasSubstr("f:17: error: profiles[0].pluginConfig[0].args.nodePools[0]."
                            "lowThreshold: unknown field (did you mean lowThresholds?)"),
                  HasSubstr("f:19: error: profiles[0].pluginConfig[1].args.defaultJobTTl: unknown "
                            "field (did you mean defaultJobTTL?)")));
  // The one that upstream's chart installs.
  EXPECT_THAT(
      LinesOfEffect("apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\n"
                    "deschedulingInterval: 10s\ndryRun: false\nprofiles:\n"
                    "- name: koord-descheduler\n  plugins:\n    deschedule: {disabled: [{name: "
                    "'*'}]}\n    evict: {disabled: [{name: '*'}], enabled: [{name: "
                    "MigrationController}]}\n  pluginConfig:\n  - name: MigrationController\n"
                    "    args:\n      apiVersion: descheduler/v1alpha2\n      kind: "
                    "MigrationControllerArgs\n      evictionPolicy: Eviction\n      namespaces: "
                    "{exclude: [kube-system, koordinator-system]}\n      evictQPS: '10'\n      "
                    "evictBurst: 1\n  - name: LowNodeLoad\n    args:\n      evictableNamespaces: "
                    "{exclude: [kube-system]}\n      lowThresholds: {cpu: 45, memory: 55}\n"
                    "      highThresholds: {cpu: 75, memory: 80}\n"),
      IsEmpty());
}

// What we ship and show must be right by our own measure.
TEST_F(ValidateTest, OurOwnFilesAreRight) {
  std::vector<SourceFile> files;
  for (const char* folder : {"examples", "deploy"}) {
    const std::filesystem::path root = SourcePath(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string name = entry.path().string();
      if (entry.path().extension() != ".yaml" || name.find("/helm/") != name.npos) continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      files.push_back({name, text.str()});
    }
  }
  EXPECT_GT(files.size(), 30u);
  for (const std::string& line : Lines(files)) {
    EXPECT_THAT(line, HasSubstr("has no effect in this version"));
  }
}

TEST_F(ValidateTest, FilesThatFight) {
  const SourceFile scheduler{
      "s",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
      "- schedulerName: koord-scheduler\n  pluginConfig:\n  - name: LoadAwareScheduling\n"
      "    args:\n      usageThresholds: {cpu: 80}\n      nodeMetricExpirationSeconds: 60\n"};
  const SourceFile descheduler{
      "d",
      "apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\nprofiles:\n- name: d\n"
      "  pluginConfig:\n  - name: LowNodeLoad\n    args:\n      lowThresholds: {cpu: 75}\n"
      "      highThresholds: {cpu: 70}\n"};
  const SourceFile config{"c", ConfigMap({{"colocation-config", "{}"}})};
  EXPECT_THAT(
      Lines({scheduler, descheduler, config}),
      ElementsAre(HasSubstr("s:8: warning: profiles[0].pluginConfig[0].args.usageThresholds.cpu: "
                            "pods are placed on nodes of up to 80 %, but moved away from those "
                            "above 70 %"),
                  HasSubstr("s:9: warning: "
                            "profiles[0].pluginConfig[0].args.nodeMetricExpirationSeconds: reports "
                            "count for 60 s and come every 60 s"),
                  HasSubstr("d:2: warning: kind: DeschedulerConfiguration is accepted but"),
                  HasSubstr("d:8: error: profiles[0].pluginConfig[0].args.lowThresholds.cpu: 75 % "
                            "is more than highThresholds (70 %)")));
}

}  // namespace
}  // namespace koord::validation::validate_test
