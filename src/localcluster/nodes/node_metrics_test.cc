#include "localcluster/nodes/node_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "localcluster/shared/test_objects.h"

namespace koord::localcluster {
namespace {

using ::testing::ElementsAre;

constexpr MachineSize kSize{.cpus = 10, .memory = 64.0 * (1 << 30)};
constexpr WallTime kBorn = VirtualLoop::kStart;

kube::Pod Asking(const std::string& name, const std::string& cpu, const std::string& memory) {
  kube::Pod pod = ReadyPod(name);
  auto& requests = pod.spec.containers[0].resources.requests;
  requests["cpu"] = *kube::Quantity::Parse(cpu);
  requests["memory"] = *kube::Quantity::Parse(memory);
  return pod;
}

LoadModels Flat(const std::string& text) {
  LoadModels models;
  EXPECT_TRUE(models.SetDefault(text).ok());
  return models;
}

struct Node {
  std::vector<MeasuredPod> pods;
  UsageHistory history;
  ReportPolicy policy;

  void Add(const kube::Pod& pod, const LoadModels& models) {
    pods.push_back({Shared(pod), PodLoad(pod, models, 1)});
  }
  api::NodeMetricStatus ReportAt(WallTime now, WallTime born = kBorn) {
    std::vector<PodLoad> loads;
    for (const MeasuredPod& pod : pods) loads.push_back(pod.load);
    history.MeasureUntil(now, policy.Longest(), born, kSize, 7, loads);
    return NodeMetricStatusOf({.policy = policy,
                               .history = history,
                               .pods = pods,
                               .allocatable = {kSize.cpus, kSize.memory},
                               .now = now});
  }
};

TEST(NodeMetrics, ReportsAveragesOfNodeSystemAndPods) {
  Node node;
  node.Add(Asking("a", "4", "8Gi"), Flat("flat=0.5"));
  const auto status = node.ReportAt(kTestNow);
  EXPECT_EQ(status.update_time, kTestNow);
  const auto& usage = *status.node_metric;
  const double system = usage.system_usage.resources.at("cpu").ToDouble();
  EXPECT_NEAR(system, 0.2, 0.021) << "a fiftieth of the machine";
  EXPECT_NEAR(usage.node_usage.resources.at("cpu").ToDouble(), system + 2, 0.002);
  ASSERT_EQ(status.pods_metric.size(), 1u);
  EXPECT_EQ(status.pods_metric[0].pod_usage.resources.at("cpu").ToString(), "2");
  EXPECT_EQ(status.pods_metric[0].pod_usage.resources.at("memory").ToString(), "4Gi");
  EXPECT_EQ(status.pods_metric[0].priority, "koord-prod");
  EXPECT_EQ(status.pods_metric[0].qos, "LS");
}

TEST(NodeMetrics, AggregatesWaitUntilHalfTheirTimeIsMeasured) {
  Node node;
  const auto status = node.ReportAt(kBorn + 3min);
  const auto& aggregated = status.node_metric->aggregated_node_usages;
  ASSERT_EQ(aggregated.size(), 3u);
  EXPECT_EQ(aggregated[0].duration, Duration(5min));
  EXPECT_TRUE(aggregated[0].usage.at("p95").resources.contains("cpu"));
  EXPECT_FALSE(aggregated[1].usage.at("p95").resources.contains("cpu"));
  for (const char* type : {"avg", "p50", "p90", "p95", "p99"}) {
    EXPECT_TRUE(aggregated[2].usage.contains(type)) << type;
  }
  const kube::Json written = StatusReplacement(status);
  EXPECT_EQ(kube::FindString(
                kube::FindArray(written, {"status", "nodeMetric", "aggregatedNodeUsages"})->at(1),
                {"duration"}),
            "10m0s");
  EXPECT_EQ(kube::Serialize(*kube::Find(
                kube::FindArray(written, {"status", "nodeMetric", "aggregatedNodeUsages"})->at(2),
                {"usage", "p99"})),
            "{}");
}

TEST(NodeMetrics, PercentilesSeeSpikesThatAveragesHide) {
  Node node;
  node.Add(Asking("a", "1", "1Gi"), Flat("spike=low:0.1;high:8;every:10m;for:90s"));
  const auto status = node.ReportAt(kTestNow);
  const auto& usage = status.node_metric->aggregated_node_usages[2].usage;  // 30 minutes
  EXPECT_LT(usage.at("avg").resources.at("cpu").ToDouble(), 2);
  EXPECT_LT(usage.at("p50").resources.at("cpu").ToDouble(), 1);
  EXPECT_GT(usage.at("p95").resources.at("cpu").ToDouble(), 7);
}

TEST(NodeMetrics, APodUsesNothingBeforeItStartsAndNoMoreThanItsLimit) {
  kube::Pod late = Asking("late", "1", "1Gi");
  late.status.start_time = kTestNow + 1s;
  kube::Pod limited = Asking("limited", "1", "1Gi");
  limited.spec.containers[0].resources.limits["cpu"] = *kube::Quantity::Parse("1500m");
  Node node;
  node.Add(late, Flat("flat=1"));
  node.Add(limited, Flat("flat=3"));
  const auto status = node.ReportAt(kTestNow);
  ASSERT_EQ(status.pods_metric.size(), 1u) << "pods without measurements are left out";
  EXPECT_EQ(status.pods_metric[0].name, "limited");
  EXPECT_EQ(status.pods_metric[0].pod_usage.resources.at("cpu").ToString(), "1500m");
}

TEST(NodeMetrics, BatchPodsLiveOnBatchResources) {
  kube::Pod pod = ReadyPod("batch");
  pod.metadata.labels["koordinator.sh/qosClass"] = "BE";
  pod.spec.priority = 5500;
  pod.spec.containers[0].resources.requests["kubernetes.io/batch-cpu"] = kube::Quantity(2000);
  Node node;
  node.Add(pod, Flat("flat=0.5"));
  const auto status = node.ReportAt(kTestNow);
  EXPECT_EQ(status.pods_metric[0].pod_usage.resources.at("cpu").ToString(), "1");
  EXPECT_EQ(status.pods_metric[0].priority, "koord-batch");
  EXPECT_EQ(status.pods_metric[0].qos, "BE");
}

TEST(NodeMetrics, ANodeNeverUsesMoreThanItHas) {
  Node node;
  for (int i = 0; i < 5; ++i) {
    node.Add(Asking("p" + std::to_string(i), "4", "1Gi"), Flat("flat=1"));
  }
  EXPECT_EQ(node.ReportAt(kTestNow).node_metric->node_usage.resources.at("cpu").ToString(), "10");
}

TEST(NodeMetrics, WhatProductionLeavesUnusedIsReclaimable) {
  Node node;
  node.Add(Asking("a", "6", "8Gi"), Flat("flat=0.5"));
  const auto reclaimable = node.ReportAt(kTestNow).prod_reclaimable_metric->resource;
  // 6 asked for, (3 used + 0.2 for the system) with a margin of a tenth.
  EXPECT_NEAR(reclaimable.resources.at("cpu").ToDouble(), 6 - 3.2 * 1.1, 0.05);
}

TEST(NodeMetrics, ARestartFindsTheSameHistory) {
  Node continuous, restarted;
  for (Node* node : {&continuous, &restarted}) {
    node->Add(Asking("a", "2", "1Gi"), Flat("diurnal"));
  }
  for (int minute = 1; minute <= 60; ++minute) {
    continuous.ReportAt(kBorn + minute * Duration(1min));
  }
  EXPECT_EQ(restarted.ReportAt(kTestNow), continuous.ReportAt(kTestNow));
}

TEST(NodeMetrics, PoliciesHaveDefaultsAndLowerBounds) {
  EXPECT_EQ(PolicyOf({}), ReportPolicy{});
  const auto policy = PolicyOf(FromText<api::NodeMetricSpec>(
      R"({"metricCollectPolicy":{"aggregateDurationSeconds":30,"reportIntervalSeconds":10,
          "nodeAggregatePolicy":{"durations":["1m","2h"]}}})"));
  EXPECT_EQ(policy.aggregate, Duration(60s));
  EXPECT_EQ(policy.interval, Duration(30s));
  EXPECT_THAT(policy.durations, ElementsAre(Duration(1min), Duration(2h)));
  EXPECT_EQ(policy.Longest(), Duration(2h));
}

TEST(NodeMetrics, PercentilesPickTheSampleThatKoordletPicks) {
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(101 - i);
  EXPECT_EQ(PercentileOf(hundred, 0.5f), 50);
  EXPECT_EQ(PercentileOf(hundred, 0.99f), 99);
  EXPECT_EQ(PercentileOf({3, 1, 2}, 0.5f), 1) << "index int(1.5) - 1";
  EXPECT_EQ(PercentileOf({7}, 0.5f), 7);
  EXPECT_EQ(PercentileOf({}, 0.5f), 0);
}

TEST(NodeMetrics, MembersThatAreAbsentAreTakenAway) {
  EXPECT_TRUE(kube::Find(StatusReplacement({}), {"status", "podsMetric"})->is_null());
}

}  // namespace
}  // namespace koord::localcluster
