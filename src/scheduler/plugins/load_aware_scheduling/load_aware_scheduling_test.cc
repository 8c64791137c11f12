#include "scheduler/plugins/load_aware_scheduling/load_aware_scheduling.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/keys.h"
#include "kube/time.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::load_aware_scheduling_test {
namespace {

using testing::ElementsAre;

constexpr int64_t kGi = int64_t{1} << 30;

LoadAwareSchedulingArgs Defaults() {
  LoadAwareSchedulingArgs args;
  args.SetDefaults();
  return args;
}

std::string Pod(std::string_view name, std::string_view requests, std::string_view limits = "",
                std::string_view more = "") {
  return fmt::format(R"(
metadata: {{name: {}}}
spec:
  {}
  containers: [{{name: c, resources: {{requests: {{{}}}, limits: {{{}}}}}}}]
)",
                     name, more, requests, limits.empty() ? requests : limits);
}

// A cluster of one node, 32 cpu and 128Gi, whose usage is 12 cpu and 40Gi as of now.
class LoadAwareTest : public testing::Test {
 protected:
  void SetUp() override { bed_.AddNode(node_); }

  LoadAwareScheduling& Plugin() {
    if (!plugin_) plugin_ = std::make_unique<LoadAwareScheduling>(bed_.context, args_);
    return *plugin_;
  }
  std::string Ago(Duration age) const { return kube::FormatTime(bed_.loop.clock().Now() - age); }
  // more: further members of status.
  void Report(std::string_view usage, std::string_view more = "", Duration age = 0s) {
    SetMetric(fmt::format(R"({{metadata: {{name: n}}, status: {{updateTime: "{}",
        nodeMetric: {{nodeUsage: {{resources: {{{}}}}}}} {}}}}})",
                          Ago(age), usage, more));
  }
  void SetMetric(std::string_view yaml) {
    bed_.objects.node_metrics.Set(FromYaml<api::NodeMetric>(yaml));
  }
  void ReportUsual(std::string_view more = "") { Report("cpu: 12, memory: 40Gi", more); }
  // An assigned pod of 4 cpu (limit 8) and 16Gi that was scheduled some time ago.
  void AddAssigned(Duration age = 0s, std::string_view more = "") {
    bed_.AddPod(fmt::format(R"(
metadata: {{name: assigned, {}}}
spec:
  nodeName: n
  containers: [{{name: c, resources: {{requests: {{cpu: 4, memory: 16Gi}},
                                       limits: {{cpu: 8, memory: 16Gi}}}}}}]
status:
  conditions: [{{type: PodScheduled, status: "True", lastTransitionTime: "{}"}}]
)",
                            more, Ago(age)));
  }
  std::string Check(std::string_view pod) {
    return bed_.Check(Plugin(), *bed_.Query(Plugin(), pod), "n");
  }
  int64_t Score(std::string_view pod) {
    const auto query = bed_.Query(Plugin(), pod);
    const auto scores = bed_.RawScores(Plugin(), *query);
    return scores.empty() ? -1 : scores[0];
  }
  std::string Sum(std::string_view which, std::string_view resource) {
    const kube::Json told = Plugin().Describe("n");
    return std::string(told.at(which).at(resource).as_string());
  }

  PluginBed bed_;
  LoadAwareSchedulingArgs args_ = Defaults();
  std::string node_ = "{metadata: {name: n}, status: {allocatable: {cpu: 32, memory: 128Gi}}}";
  std::unique_ptr<LoadAwareScheduling> plugin_;
  const std::string incoming_ = Pod("p", "cpu: 2, memory: 4Gi");
};

TEST_F(LoadAwareTest, CountsUsageUnseenPodsAndThePodItself) {
  AddAssigned();
  ReportUsual();
  // 12000 + 6800 + 1700 of 32000 milli-cores; 42949672960 + 12025908429 + 3006477107 bytes.
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "6800m");
  EXPECT_EQ(Sum("nodeDelta", "memory"), "12025908429");
  EXPECT_EQ(Check(incoming_), "");
  EXPECT_EQ(Score(incoming_), 46);
}

TEST_F(LoadAwareTest, RejectsAboveTheThreshold) {
  args_.usage_thresholds = {{"cpu", 63}, {"memory", 95}};
  AddAssigned();
  ReportUsual();
  EXPECT_EQ(Check(incoming_), "Unschedulable: node(s) cpu usage exceed threshold");
}

TEST_F(LoadAwareTest, WeighsTheScarcestResource) {
  args_.dominant_resource_weight = 1;
  AddAssigned();
  ReportUsual();
  EXPECT_EQ(Score(incoming_), 42);
}

TEST_F(LoadAwareTest, CountsOnlyWhatTheReportCannotShowYet) {
  AddAssigned(20s);
  ReportUsual(R"(, podsMetric: [{name: assigned, namespace: default,
      podUsage: {resources: {cpu: 5, memory: 4Gi}}}])");
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "1800m");
  EXPECT_EQ(Sum("nodeDelta", "memory"), "7730941133");
  EXPECT_EQ(Score(incoming_), 55);
}

TEST_F(LoadAwareTest, TrustsTheReportOfAnOldPod) {
  AddAssigned(2h);
  ReportUsual(R"(, podsMetric: [{name: assigned, namespace: default,
      podUsage: {resources: {cpu: 5, memory: 4Gi}}}])");
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "0");
  EXPECT_EQ(Sum("nodeEstimated", "cpu"), "6800m");
}

TEST_F(LoadAwareTest, ReportsOfOtherPodsOrWithoutUsageAreNone) {
  AddAssigned(2h);
  for (const std::string_view report :
       {"{name: assigned, namespace: other, podUsage: {resources: {cpu: 5}}}",
        "{name: another, namespace: default, podUsage: {resources: {cpu: 5}}}",
        "{name: assigned, namespace: default, podUsage: {resources: {}}}"}) {
    ReportUsual(fmt::format(", podsMetric: [{}]", report));
    EXPECT_EQ(Sum("nodeDelta", "cpu"), "6800m") << report;
  }
}

TEST_F(LoadAwareTest, ReportIntervalDecidesHowYoungIsTooYoung) {
  AddAssigned(90s);
  for (const auto& [policy, delta] :
       {std::pair("{}", "0"), {"{metricCollectPolicy: {reportIntervalSeconds: 120}}", "1800m"}}) {
    SetMetric(fmt::format(R"({{metadata: {{name: n}}, spec: {}, status: {{updateTime: "{}",
        nodeMetric: {{nodeUsage: {{resources: {{cpu: 12}}}}}}, podsMetric: [{{name: assigned,
        namespace: default, podUsage: {{resources: {{cpu: 5}}}}}}]}}}})",
                          policy, Ago(0s)));
    EXPECT_EQ(Sum("nodeDelta", "cpu"), delta) << policy;
  }
}

TEST_F(LoadAwareTest, EstimatesUntilADeadline) {
  struct Case {
    std::string_view annotations;
    int64_t after_scheduled, after_initialized;
    std::string_view delta;
  };
  const Case cases[] = {
      {"", 0, 0, "0"},
      {"", 3600, 0, "0"},
      {"", 7201, 0, "1800m"},
      {"", 0, 3601, "1800m"},  // initialized an hour after it was scheduled
      {"", 7201, 3599, "0"},   // initialization decides alone
      {"after-pod-scheduled: '7201'", 0, 0, "1800m"},
      {"after-pod-scheduled: '0'", 7201, 0, "0"},
      {"after-pod-scheduled: '-1'", 7201, 0, "1800m"},
      {"after-initialized: 'soon'", 0, 3601, "1800m"},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    bed.AddNode(node_);
    LoadAwareSchedulingArgs args = Defaults();
    args.allow_customize_estimation = true;
    args.estimated_seconds_after_pod_scheduled = test.after_scheduled;
    args.estimated_seconds_after_initialized = test.after_initialized;
    LoadAwareScheduling plugin(bed.context, args);
    const std::string annotation =
        test.annotations.empty()
            ? ""
            : fmt::format("scheduling.koordinator.sh/load-estimated-seconds-{}", test.annotations);
    bed.AddPod(fmt::format(R"(
metadata: {{name: assigned, annotations: {{{}}}}}
spec:
  nodeName: n
  containers: [{{name: c, resources: {{requests: {{cpu: 8}}}}}}]
status:
  conditions:
  - {{type: PodScheduled, status: "True", lastTransitionTime: "{}"}}
  - {{type: Initialized, status: "True", lastTransitionTime: "{}"}}
)",
                           annotation, Ago(2h), Ago(1h)));
    bed.objects.node_metrics.Set(FromYaml<api::NodeMetric>(fmt::format(
        R"({{metadata: {{name: n}}, status: {{updateTime: "{}", podsMetric: [{{name: assigned,
            namespace: default, podUsage: {{resources: {{cpu: 5}}}}}}]}}}})",
        Ago(0s))));
    EXPECT_EQ(plugin.Describe("n").at("nodeDelta").at("cpu").as_string(), test.delta)
        << test.annotations << " " << test.after_scheduled << " " << test.after_initialized;
  }
}

TEST_F(LoadAwareTest, RoundsUsageToWholePercent) {
  // Usage and the pod's estimate together in permille of 32 cores.
  for (const auto& [permille, verdict] :
       {std::pair(654, ""), {655, "Unschedulable: node(s) cpu usage exceed threshold"}}) {
    Report(fmt::format("cpu: {}m", permille * 32 - 1700));
    EXPECT_EQ(Check(incoming_), verdict) << permille;
  }
}

TEST(LoadLimit, IsTheLastAmountWithinTheThreshold) {
  for (const int64_t capacity :
       {int64_t{1}, int64_t{3}, int64_t{32'000}, 128 * kGi, int64_t{137'438'953'471}, kMostLoad}) {
    for (const int64_t threshold : {1, 50, 63, 65, 99, 100, 250}) {
      const auto percent = [&](int64_t amount) {
        return std::round(static_cast<double>(amount) / static_cast<double>(capacity) * 100);
      };
      const int64_t limit = LoadLimit(capacity, threshold);
      EXPECT_LE(percent(limit), threshold) << capacity;
      EXPECT_GT(percent(limit + 1), threshold) << capacity;
    }
  }
  EXPECT_EQ(LoadLimit(0, 50), kNoLimit);
  EXPECT_EQ(LoadLimit(1000, 0), kNoLimit);
  EXPECT_EQ(LoadLimit(kMostLoad, std::numeric_limits<int64_t>::max()), kNoLimit);
}

TEST_F(LoadAwareTest, OldMetrics) {
  struct Case {
    bool filter_expired, schedule_when_expired;
    std::string_view update_time;
    std::string_view verdict;
    int64_t score;
  };
  const std::string old = fmt::format("updateTime: \"{}\",", Ago(180s));
  const std::string fresh = fmt::format("updateTime: \"{}\",", Ago(179s));
  const std::string_view expired = "Unschedulable: node(s) nodeMetric expired";
  const std::string_view exceeded = "Unschedulable: node(s) cpu usage exceed threshold";
  const Case cases[] = {
      {true, false, old, expired, 0},   {true, true, old, "", 0},
      {false, false, old, exceeded, 0}, {true, false, fresh, exceeded, 48},
      {true, false, "", expired, 0},    {false, false, "", exceeded, 0},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    bed.AddNode(node_);
    LoadAwareSchedulingArgs args = Defaults();
    args.filter_expired_node_metrics = test.filter_expired;
    args.enable_schedule_when_node_metrics_expired = test.schedule_when_expired;
    LoadAwareScheduling plugin(bed.context, args);
    bed.objects.node_metrics.Set(FromYaml<api::NodeMetric>(
        fmt::format(R"({{metadata: {{name: n}}, status: {{{} nodeMetric: {{nodeUsage: {{
                        resources: {{cpu: 30}}}}}}}}}})",
                    test.update_time)));
    const auto query = bed.Query(plugin, incoming_);
    EXPECT_EQ(bed.Check(plugin, *query, "n"), test.verdict);
    EXPECT_THAT(bed.RawScores(plugin, *query), ElementsAre(test.score));
  }
}

TEST_F(LoadAwareTest, MetricsExpireWithTime) {
  ReportUsual();
  const auto query = bed_.Query(Plugin(), incoming_);
  const int64_t score = bed_.RawScores(Plugin(), *query)[0];
  EXPECT_GT(score, 0);
  const uint64_t position = bed_.ledger.nodes().log_end();
  const auto changed_at = [&](Duration when) {
    bed_.loop.Advance(when - bed_.loop.clock().Steady());
    Plugin().BeforeCycle(bed_.loop.clock().Now());
    return bed_.ledger.nodes().log_end() != position;
  };
  EXPECT_FALSE(changed_at(100s));
  ReportUsual();
  const uint64_t reported = bed_.ledger.nodes().log_end();
  EXPECT_EQ(reported, position) << "the same report again changes nothing";
  EXPECT_FALSE(changed_at(279s));
  EXPECT_EQ(bed_.Check(Plugin(), *query, "n"), "");
  EXPECT_TRUE(changed_at(280s));
  EXPECT_EQ(bed_.Check(Plugin(), *query, "n"), "Unschedulable: node(s) nodeMetric expired");
  EXPECT_THAT(bed_.RawScores(Plugin(), *query), ElementsAre(0));
  ReportUsual();
  EXPECT_EQ(bed_.Check(Plugin(), *query, "n"), "");
  EXPECT_THAT(bed_.RawScores(Plugin(), *query), ElementsAre(score));
}

TEST_F(LoadAwareTest, AnEarlierUpdateTimeExpiresEarlier) {
  ReportUsual();
  Report("cpu: 12", "", 100s);
  const auto query = bed_.Query(Plugin(), incoming_);
  bed_.loop.Advance(80s);
  Plugin().BeforeCycle(bed_.loop.clock().Now());
  EXPECT_EQ(bed_.Check(Plugin(), *query, "n"), "Unschedulable: node(s) nodeMetric expired");
  bed_.loop.Advance(200s);
  Plugin().BeforeCycle(bed_.loop.clock().Now());
  EXPECT_EQ(bed_.Check(Plugin(), *query, "n"), "Unschedulable: node(s) nodeMetric expired");
}

TEST_F(LoadAwareTest, NodesOfUnknownUsagePassAndScoreNothing) {
  EXPECT_EQ(Check(incoming_), "");
  EXPECT_EQ(Score(incoming_), 0);
  SetMetric(fmt::format(R"({{metadata: {{name: n}}, status: {{updateTime: "{}"}}}})", Ago(0s)));
  EXPECT_EQ(Check(incoming_), "");
  EXPECT_EQ(Score(incoming_), 0);
  Report("cpu: 31");
  EXPECT_NE(Check(incoming_), "");
  bed_.objects.node_metrics.Remove({"", "n"});
  EXPECT_EQ(Check(incoming_), "");
  EXPECT_EQ(Score(incoming_), 0);
}

TEST_F(LoadAwareTest, DaemonSetsRunEverywhere) {
  Report("cpu: 32");
  EXPECT_EQ(Check(R"(
metadata: {name: d, ownerReferences: [{kind: DaemonSet, name: d, apiVersion: apps/v1, uid: u}]}
spec: {containers: [{name: c}]}
)"),
            "");
}

TEST_F(LoadAwareTest, NamesTheFirstResourceByName) {
  args_.supported_resources = {"example.com/b"};
  args_.usage_thresholds = {{"example.com/b", 50}, {"memory", 10}, {"cpu", 99}};
  bed_.AddNode(
      "{metadata: {name: n}, status: {allocatable: {cpu: 32, memory: 128Gi, "
      "example.com/b: 100}}}");
  Report("cpu: 1, memory: 100Gi, example.com/b: 51");
  EXPECT_EQ(Check(incoming_), "Unschedulable: node(s) example.com/b usage exceed threshold");
}

TEST_F(LoadAwareTest, ZeroThresholdsCheckNothing) {
  args_.usage_thresholds = {{"cpu", 0}, {"memory", 0}};
  Report("cpu: 40, memory: 200Gi", "", 1h);
  EXPECT_EQ(Check(incoming_), "") << "not even the metric's age";
  node_ = "{metadata: {name: n}, status: {allocatable: {memory: 128Gi}}}";
  args_.usage_thresholds = {{"cpu", 65}};
  plugin_.reset();
  PluginBed bed;
  bed.AddNode(node_);
  LoadAwareScheduling plugin(bed.context, args_);
  bed.objects.node_metrics.Set(FromYaml<api::NodeMetric>(
      fmt::format(R"({{metadata: {{name: n}}, status: {{updateTime: "{}", nodeMetric: {{nodeUsage:
                      {{resources: {{cpu: 4}}}}}}}}}})",
                  Ago(0s))));
  const auto query = bed.Query(plugin, incoming_);
  EXPECT_EQ(bed.Check(plugin, *query, "n"), "") << "a node without cpu cannot exceed its share";
}

// ---- Estimates

TEST_F(LoadAwareTest, EstimatesByBandAndRequest) {
  struct Case {
    std::string_view what;
    std::string_view spec;
    LoadAmounts estimate;
  };
  const Case cases[] = {
      {"limits count if larger, estimates do not exceed them",
       "containers: [{name: c, resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 8, "
       "memory: 16Gi}}}]",
       {6800, 12025908429}},
      {"request equals limit",
       "containers: [{name: c, resources: {requests: {cpu: 2, memory: 4Gi}, limits: {cpu: 2, "
       "memory: 4Gi}}}]",
       {1700, 3006477107}},
      {"batch",
       "priority: 5000\n  containers: [{name: c, resources: {requests: {kubernetes.io/batch-cpu: "
       "4000, kubernetes.io/batch-memory: 8Gi}}}]",
       {3400, 6012954214}},
      {"batch looks at batch resources only",
       "priority: 5000\n  containers: [{name: c, resources: {requests: {cpu: 4}}}]",
       {250, 209715200}},
      {"mid without resources", "priority: 7000\n  containers: [{name: c}]", {0, 0}},
      {"mid",
       "priority: 7000\n  containers: [{name: c, resources: {requests: {kubernetes.io/mid-cpu: "
       "1000, kubernetes.io/mid-memory: 100}}}]",
       {850, 70}},
      {"free has nothing of its own",
       "priority: 3000\n  containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
       {0, 0}},
      {"asks for nothing", "containers: [{name: c}]", {250, 209715200}},
      {"half a milli-core rounds up",
       "containers: [{name: c, resources: {requests: {cpu: 10m}}}]",
       {9, 209715200}},
  };
  const LoadResources tracked({"memory", "cpu"});
  const LoadEstimator estimator(args_, tracked, bed_.ledger.resources());
  for (const Case& test : cases) {
    const auto pod = PodOf(fmt::format("metadata: {{name: p}}\nspec:\n  {}\n", test.spec));
    EXPECT_EQ(estimator.Estimate(*bed_.ledger.shapes().Of(pod)), test.estimate) << test.what;
  }
  const auto absurd = PodOf(Pod("p", "cpu: 9E, memory: 9E"));
  for (const int64_t amount : estimator.Estimate(*bed_.ledger.shapes().Of(absurd))) {
    EXPECT_EQ(amount, kMostLoad);
  }
}

TEST_F(LoadAwareTest, PodsMayStateTheirFactors) {
  const LoadResources tracked({"memory", "cpu"});
  const auto estimate = [&](bool allowed, std::string_view annotation) {
    args_.allow_customize_estimation = allowed;
    const auto pod = PodOf(fmt::format(R"(
metadata:
  name: p
  annotations: {{scheduling.koordinator.sh/load-estimated-scaling-factors: '{}'}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1, memory: 1000}}}}}}]}}
)",
                                       annotation));
    return LoadEstimator(args_, tracked, bed_.ledger.resources())
        .Estimate(*bed_.ledger.shapes().Of(pod));
  };
  EXPECT_EQ(estimate(true, R"({"cpu": 50})"), (LoadAmounts{500, 700}));
  EXPECT_EQ(estimate(false, R"({"cpu": 50})"), (LoadAmounts{850, 700}));
  EXPECT_EQ(estimate(true, "{"), (LoadAmounts{850, 700}));
  EXPECT_EQ(estimate(true, R"({"cpu": -50, "other": 3})"), (LoadAmounts{0, 700}));
}

// ---- Prod

TEST_F(LoadAwareTest, ProdPodsAreMeasuredAgainstProdUsage) {
  args_.prod_usage_thresholds = {{"cpu", 40}};
  args_.score_according_prod_usage = true;
  AddAssigned(2h);
  const auto report = [&](std::string_view priority) {
    Report("cpu: 30, memory: 40Gi",
           fmt::format(R"(, podsMetric: [{{name: assigned, namespace: default, priority: {},
                            podUsage: {{resources: {{cpu: 10, memory: 4Gi}}}}}}])",
                       priority));
  };
  const std::string batch = Pod("b", "kubernetes.io/batch-cpu: 1000", "", "priority: 5000");
  report("koord-prod");
  // Prod: 10000 + 1700 of 32000 is 37 %; the node itself is beyond its own threshold.
  EXPECT_EQ(Sum("prodUsage", "cpu"), "10");
  EXPECT_EQ(Check(incoming_), "");
  EXPECT_EQ(Check(batch), "Unschedulable: node(s) cpu usage exceed threshold");
  // (32000-11700)*100/32000 = 63 and (128Gi - 4Gi - 3006477107)/128Gi = 94.
  EXPECT_EQ(Score(incoming_), (63 + 94) / 2);
  report("koord-batch");  // not reported as prod: its estimate counts instead
  EXPECT_EQ(Sum("prodUsage", "cpu"), "0");
  EXPECT_EQ(Sum("prodDelta", "cpu"), "6800m");
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "0");
  EXPECT_THAT(Plugin().Describe("n").at("prodDeltaPods").as_array(),
              ElementsAre(kube::Json("default/assigned")));
}

TEST_F(LoadAwareTest, ProdUsageMayIncludeTheSystem) {
  args_.prod_usage_include_sys = true;
  args_.prod_usage_thresholds = {{"cpu", 40}};
  SetMetric(fmt::format(R"({{metadata: {{name: n}}, status: {{updateTime: "{}", nodeMetric: {{
      nodeUsage: {{resources: {{cpu: 12}}}}, systemUsage: {{resources: {{cpu: 12}}}}}}}}}})",
                        Ago(0s)));
  EXPECT_EQ(Sum("prodUsage", "cpu"), "12");
  EXPECT_EQ(Check(incoming_), "Unschedulable: node(s) cpu usage exceed threshold");
}

TEST_F(LoadAwareTest, ProdThresholdsOfZeroAreNone) {
  args_.prod_usage_thresholds = {{"cpu", 0}};
  Report("cpu: 30");
  EXPECT_EQ(Check(incoming_), "Unschedulable: node(s) cpu usage exceed threshold");
}

// ---- Percentiles

TEST_F(LoadAwareTest, Percentiles) {
  constexpr std::string_view kReported = R"(
      - {duration: 5m0s, usage: {p95: {resources: {cpu: 16}}, p99: {resources: {}}}}
      - {duration: 30m0s, usage: {p95: {resources: {cpu: 24}}}}
      - {duration: 10m0s, usage: {p95: {resources: {cpu: 8}}}})";
  struct Case {
    std::string_view type;
    Duration duration;
    int64_t score_of_cpu;  // of 32, with the pod's 1700m
  };
  const Case cases[] = {
      {"p95", 5min, 44},  // 17700
      {"p95", 0s, 19},    // 25700: the longest
      {"p99", 0s, 57},    // 13700: not reported, so the plain usage
      {"p95", 7min, 73},  // 8500: unknown, the estimates alone
      {"p99", 5min, 73},  // an empty report is none
      {"", 0s, 57},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    bed.AddNode(node_);
    LoadAwareSchedulingArgs args = Defaults();
    args.resource_weights = {{"cpu", 1}};
    args.aggregated = LoadAwareAggregatedArgs{.score_aggregation_type = std::string(test.type),
                                              .score_aggregated_duration = test.duration};
    LoadAwareScheduling plugin(bed.context, args);
    bed.objects.node_metrics.Set(FromYaml<api::NodeMetric>(fmt::format(R"(
metadata: {{name: n}}
status:
  updateTime: "{}"
  nodeMetric:
    nodeUsage: {{resources: {{cpu: 12}}}}
    aggregatedNodeUsages: {}
  podsMetric: [{{name: assigned, namespace: default, podUsage: {{resources: {{cpu: 6800m}}}}}}]
)",
                                                                       Ago(0s), kReported)));
    bed.AddPod(fmt::format(R"(
metadata: {{name: assigned}}
spec: {{nodeName: n, containers: [{{name: c, resources: {{requests: {{cpu: 8}}}}}}]}}
status: {{conditions: [{{type: PodScheduled, status: "True", lastTransitionTime: "{}"}}]}}
)",
                           Ago(2h)));
    const auto query = bed.Query(plugin, incoming_);
    EXPECT_THAT(bed.RawScores(plugin, *query), ElementsAre(test.score_of_cpu))
        << test.type << " " << test.duration.count();
  }
}

TEST_F(LoadAwareTest, FiltersByAPercentile) {
  args_.aggregated = LoadAwareAggregatedArgs{.usage_thresholds = {{"cpu", 50}},
                                             .usage_aggregation_type = "p95",
                                             .usage_aggregated_duration = 5min};
  const auto report = [&](std::string_view p95) {
    SetMetric(fmt::format(R"({{metadata: {{name: n}}, status: {{updateTime: "{}", nodeMetric: {{
        nodeUsage: {{resources: {{cpu: 31}}}}, aggregatedNodeUsages: [{{duration: 5m0s,
        usage: {{p95: {{resources: {{cpu: {}}}}}}}}}]}}}}}})",
                          Ago(0s), p95));
  };
  report("14");
  EXPECT_EQ(Check(incoming_), "") << "the plain usage does not matter";
  report("16");
  EXPECT_EQ(Check(incoming_), "Unschedulable: node(s) cpu aggregated usage exceed threshold");
  args_.aggregated->usage_aggregation_type.clear();
  plugin_.reset();
  EXPECT_EQ(Check(incoming_), "Unschedulable: node(s) cpu usage exceed threshold");
}

// ---- What nodes say about themselves

TEST_F(LoadAwareTest, NodesMayStateThresholds) {
  struct Case {
    std::string_view annotation;
    std::string_view verdict;
  };
  constexpr std::string_view kExceeded = "Unschedulable: node(s) cpu usage exceed threshold";
  const Case cases[] = {
      {R"({"usageThresholds":{"cpu":40}})", kExceeded},
      {R"({"usageThresholds":{}})", ""},
      {R"({"usageThresholds":{"unknown":1}})", ""},
      {R"({"usageThresholds":{"cpu":40)", ""},
      {R"({"prodUsageThresholds":{"cpu":4}})", kExceeded},
      {R"({"aggregatedUsage":{"usageThresholds":{"cpu":40},"usageAggregationType":"p99"}})",
       "Unschedulable: node(s) cpu aggregated usage exceed threshold"},
      {R"({"aggregatedUsage":{"usageThresholds":{"cpu":40}}})", ""},
  };
  ReportUsual();
  for (const Case& test : cases) {
    bed_.AddNode(fmt::format(R"(
metadata: {{name: n, annotations: {{scheduling.koordinator.sh/usage-thresholds: '{}'}}}}
status: {{allocatable: {{cpu: 32, memory: 128Gi}}}}
)",
                             test.annotation));
    EXPECT_EQ(Check(incoming_), test.verdict) << test.annotation;
  }
  bed_.AddNode(node_);
  EXPECT_EQ(Check(incoming_), "") << "back to the arguments";
}

TEST_F(LoadAwareTest, AmplifiedCapacityDoesNotCount) {
  Report("cpu: 20");
  const auto node = [&](std::string_view raw) {
    bed_.AddNode(fmt::format(R"(
metadata: {{name: n, annotations: {{node.koordinator.sh/raw-allocatable: '{}'}}}}
status: {{allocatable: {{cpu: 64, memory: 128Gi}}}}
)",
                             raw));
  };
  node(R"({"cpu": "32"})");
  EXPECT_EQ(Check(incoming_), "Unschedulable: node(s) cpu usage exceed threshold");
  node("nonsense");
  EXPECT_EQ(Check(incoming_), "");
}

// ---- Who is counted

TEST_F(LoadAwareTest, AssumedPodsCountAtOnceAndUntilForgotten) {
  ReportUsual();
  const auto query = bed_.Query(Plugin(), incoming_);
  const int64_t before = bed_.RawScores(Plugin(), *query)[0];
  const auto pod = PodOf(Pod("assumed", "cpu: 8, memory: 16Gi"));
  ASSERT_TRUE(bed_.ledger.Assume(pod, bed_.ledger.shapes().Of(pod), NodeRow(0)).ok());
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "6800m");
  EXPECT_LT(bed_.RawScores(Plugin(), *query)[0], before);
  EXPECT_TRUE(bed_.ledger.Forget("assumed"));
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "0");
  EXPECT_EQ(bed_.RawScores(Plugin(), *query)[0], before);
}

TEST_F(LoadAwareTest, TheConfirmedPodIsAsOldAsItsCondition) {
  const auto pod = PodOf(Pod("assigned", "cpu: 8"));
  ReportUsual(R"(, podsMetric: [{name: assigned, namespace: default,
      podUsage: {resources: {cpu: 5}}}])");
  Plugin();
  ASSERT_TRUE(bed_.ledger.Assume(pod, bed_.ledger.shapes().Of(pod), NodeRow(0)).ok());
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "1800m");
  const uint64_t position = bed_.ledger.nodes().log_end();
  kube::Pod bound = *pod;
  bound.spec.node_name = "n";
  bound.status.conditions.push_back({});
  bound.status.conditions[0].type = "PodScheduled";
  bound.status.conditions[0].status = "True";
  bound.status.conditions[0].last_transition_time = bed_.loop.clock().Now() - 2h;
  bed_.ledger.SetPod(std::make_shared<const kube::Pod>(bound));
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "0");
  EXPECT_NE(bed_.ledger.nodes().log_end(), position) << "scores of the row must be computed again";
}

TEST_F(LoadAwareTest, ReservePodsDoNotCount) {
  Plugin();
  AddAssigned(0s, "annotations: {scheduling.koordinator.sh/reserve-pod: 'true'}");
  EXPECT_EQ(Sum("nodeEstimated", "cpu"), "0");
  EXPECT_EQ(Plugin().Describe("n").at("pods").as_array().size(), 0u);
}

TEST_F(LoadAwareTest, KnowsWhatWasThereBeforeIt) {
  AddAssigned();
  ReportUsual();
  Plugin();  // made after all of it
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "6800m");
  EXPECT_TRUE(bed_.ledger.RemovePod("assigned"));
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "0");
}

TEST_F(LoadAwareTest, ANodeThatComesBackHasItsPodsAndMetric) {
  AddAssigned();
  ReportUsual();
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "6800m");
  bed_.ledger.RemoveNode("n");
  EXPECT_EQ(Plugin().Describe("n"), kube::Json(kube::json::object()));
  bed_.AddNode(node_);
  EXPECT_EQ(Sum("nodeDelta", "cpu"), "6800m");
  EXPECT_EQ(Score(incoming_), 46);
}

TEST_F(LoadAwareTest, DescribesPodsByAge) {
  Plugin();
  for (const auto& [name, age] : {std::pair("young", 1s), {"old", 1h}, {"middle", 1min}}) {
    bed_.AddPod(fmt::format(R"(
metadata: {{name: {}}}
spec: {{nodeName: n, containers: [{{name: c}}]}}
status: {{conditions: [{{type: PodScheduled, status: "True", lastTransitionTime: "{}"}}]}}
)",
                            name, Ago(age)));
  }
  const kube::Json told = Plugin().Describe("n");
  std::vector<std::string> names;
  for (const kube::Json& pod : told.at("pods").as_array()) {
    names.emplace_back(pod.at("pod").at("metadata").at("name").as_string());
  }
  EXPECT_THAT(names, ElementsAre("old", "middle", "young"));
  EXPECT_EQ(told.at("pods").at(0).at("timestamp").as_string(), Ago(1h));
  EXPECT_EQ(kube::json::serialize(told.at("nodeDeltaPods")),
            R"(["default/middle","default/old","default/young"])");
}

TEST_F(LoadAwareTest, WakesPodsForWhatMayHelp) {
  const kube::Pod pod;
  const auto cures = [&](EventKind kind, NodeChanges changes = {}) {
    return Plugin().MightCure(pod, {.kind = kind, .node_changes = changes});
  };
  EXPECT_TRUE(cures(EventKind::kAssignedPodRemoved));
  EXPECT_TRUE(cures(EventKind::kNodeMetricChanged));
  EXPECT_TRUE(cures(EventKind::kNodeUpdated, {.allocatable = true}));
  EXPECT_FALSE(cures(EventKind::kNodeUpdated, {.labels = true}));
  EXPECT_FALSE(cures(EventKind::kAssignedPodAdded));
  EXPECT_FALSE(cures(EventKind::kVolumeChanged));
}

// ---- Properties

struct RandomLoad {
  explicit RandomLoad(uint64_t seed) : random(seed) {}

  int64_t Capacity() {
    const int64_t sizes[] = {0, 1, 7, 64'000, 128 * kGi, 3 * 1024 * kGi, 60'000 * kGi, kMostLoad};
    const int64_t size = sizes[random.Below(8)];
    return size == 0 ? 0 : std::max<int64_t>(1, size - static_cast<int64_t>(random.Below(5)));
  }

  Random random;
};

// Scores and verdicts by the formulas, in whole numbers.
TEST(LoadAwareProperty, ColumnsAgreeWithTheFormulas) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomLoad random(seed);
    PluginBed bed;
    LoadAwareSchedulingArgs args = Defaults();
    args.resource_weights = {{"cpu", 1 + static_cast<int64_t>(random.random.Below(9))},
                             {"memory", 3}};
    args.dominant_resource_weight = static_cast<int64_t>(random.random.Below(3));
    LoadAwareScheduling plugin(bed.context, args);
    struct Node {
      int64_t capacity[2], usage[2];
    };
    std::vector<Node> nodes;
    for (size_t i = 0; i < 300; ++i) {
      Node node{.capacity = {random.Capacity(), random.Capacity()}};
      for (int r : {0, 1}) {
        // Often at a boundary of a whole percent.
        const auto percent = static_cast<int64_t>(random.random.Below(103));
        const __int128 amount = static_cast<__int128>(node.capacity[r]) * percent / 100 +
                                static_cast<int64_t>(random.random.Below(3)) - 1;
        node.usage[r] = std::max<int64_t>(0, static_cast<int64_t>(amount));
      }
      bed.AddNode(fmt::format(
          "{{metadata: {{name: n{}}}, status: {{allocatable: {{cpu: {}m, memory: {}}}}}}}", i,
          node.capacity[0], node.capacity[1]));
      bed.objects.node_metrics.Set(FromYaml<api::NodeMetric>(fmt::format(
          R"({{metadata: {{name: n{}}}, status: {{updateTime: "{}", nodeMetric: {{nodeUsage: {{
              resources: {{cpu: {}m, memory: {}}}}}}}}}}})",
          i, kube::FormatTime(bed.loop.clock().Now()), node.usage[0], node.usage[1])));
      nodes.push_back(node);
    }
    const auto query = bed.Query(plugin, "{metadata: {name: p}, spec: {containers: [{name: c}]}}");
    const int64_t need[2] = {250, 200 << 20};
    const std::vector<int64_t> scores = bed.RawScores(plugin, *query);
    for (size_t i = 0; i < nodes.size(); ++i) {
      int64_t sum = 0, least = 100;
      std::string verdict;
      for (int r : {1, 0}) {
        const int64_t capacity = nodes[i].capacity[r];
        const int64_t load = std::min(nodes[i].usage[r], kMostLoad) + need[r];
        const int64_t score =
            capacity == 0 || load > capacity ? 0 : (capacity - load) * 100 / capacity;
        sum += score * (r == 0 ? args.resource_weights["cpu"] : args.resource_weights["memory"]);
        least = std::min(least, score);
        const double used =
            std::round(static_cast<double>(load) / static_cast<double>(capacity) * 100);
        if (capacity > 0 && used > (r == 0 ? 65 : 95)) {
          verdict = fmt::format("Unschedulable: node(s) {} usage exceed threshold",
                                r == 0 ? "cpu" : "memory");
        }
      }
      const int64_t total = args.resource_weights["cpu"] + 3 + args.dominant_resource_weight;
      ASSERT_EQ(scores[i], (sum + least * args.dominant_resource_weight) / total)
          << "seed " << seed << " node " << i;
      ASSERT_EQ(bed.Check(plugin, *query, fmt::format("n{}", i)), verdict)
          << "seed " << seed << " node " << i;
    }
  }
}

// However pods and metrics come and go, the sums are those of a plugin that sees the end only.
TEST(LoadAwareProperty, SumsDoNotDependOnHistory) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    PluginBed bed;
    LoadAwareSchedulingArgs args = Defaults();
    args.prod_usage_include_sys = true;
    LoadAwareScheduling plugin(bed.context, args);
    for (const char* node : {"a", "b"}) {
      bed.AddNode(fmt::format(
          "{{metadata: {{name: {}}}, status: {{allocatable: {{cpu: 32, memory: 64Gi}}}}}}", node));
    }
    const auto now = [&] { return kube::FormatTime(bed.loop.clock().Now()); };
    for (int step = 0; step < 200; ++step) {
      const uint64_t pod = random.Below(12);
      const char* node = random.Below(2) == 0 ? "a" : "b";
      switch (random.Below(4)) {
        case 0:
        case 1:
          bed.AddPod(fmt::format(R"(
metadata: {{name: p{}}}
spec:
  nodeName: {}
  priority: {}
  containers: [{{name: c, resources: {{requests: {{cpu: {}, kubernetes.io/batch-cpu: 900}}}}}}]
status: {{conditions: [{{type: PodScheduled, status: "True", lastTransitionTime: "{}"}}]}}
)",
                                 pod, node, pod % 3 == 0 ? 5000 : 9000, 1 + random.Below(2),
                                 now()));
          break;
        case 2:
          bed.ledger.RemovePod(fmt::format("p{}", pod));
          break;
        default:
          std::string pods;
          for (uint64_t i = 0; i < 12; i += 1 + random.Below(3)) {
            pods += fmt::format(
                "\n  - {{name: p{}, namespace: default, priority: {}, podUsage: {{resources: "
                "{{cpu: "
                "{}m}}}}}}",
                i, i % 2 == 0 ? "koord-prod" : "koord-batch", random.Below(2000));
          }
          bed.objects.node_metrics.Set(FromYaml<api::NodeMetric>(fmt::format(R"(
metadata: {{name: {}}}
status:
  updateTime: "{}"
  nodeMetric: {{nodeUsage: {{resources: {{cpu: 3}}}}, systemUsage: {{resources: {{cpu: 1}}}}}}
  podsMetric: {}
)",
                                                                             node, now(), pods)));
      }
      bed.loop.Advance(std::chrono::seconds(random.Below(20)));
    }
    LoadAwareScheduling fresh(bed.context, args);
    for (const char* node : {"a", "b"}) {
      EXPECT_EQ(plugin.Describe(node), fresh.Describe(node)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace koord::scheduler::load_aware_scheduling_test
