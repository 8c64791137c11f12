#include "koordlet/reporters/node_metric_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "koordlet/informers/pod_book.h"
#include "kube/yaml.h"

namespace koord::koordlet::node_metric_report_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kGi = 1024.0 * 1024 * 1024;

std::string TextOf(const api::ResourceMap& map, std::string_view name) {
  const auto it = map.resources.find(name);
  return it == map.resources.end() ? "-" : it->second.ToString();
}

class NodeMetricReportTest : public testing::Test {
 protected:
  // One sample a second of what the node, the system and the pods use.
  void Measure(Duration time) {
    for (Duration passed{}; passed < time; passed += 1s) {
      loop_.Advance(1s);
      metrics_.Append({Metric::kNodeCpu}, 2.5);
      metrics_.Append({Metric::kNodeMemory}, 4 * kGi);
      metrics_.Append({Metric::kNodeMemoryWithPageCache}, 6 * kGi);
      metrics_.Append({Metric::kSystemCpu}, 0.25);
      metrics_.Append({Metric::kSystemMemory}, 1 * kGi);
      metrics_.Append({Metric::kPodCpu, "u1"}, 1.2345);
      metrics_.Append({Metric::kPodMemory, "u1"}, 2 * kGi);
      metrics_.Append({Metric::kPodCpu, "u2"}, 1);  // whose memory nobody could read
    }
  }
  api::NodeMetricStatus Report() {
    return BuildNodeMetricStatus({.policy = policy_,
                                  .metrics = metrics_,
                                  .info = info_,
                                  .pods = pods_,
                                  .slo = &slo_,
                                  .predict = predict_,
                                  .now = loop_.clock().Now()});
  }
  void AddPod(const std::string& name, const std::string& uid) {
    auto pod = std::make_shared<kube::Pod>();
    pod->metadata.name = name;
    pod->metadata.ns = "ns";
    pod->metadata.uid = uid;
    pod->metadata.labels.Mutable()["koordinator.sh/qosClass"] = "LS";
    pods_.push_back(MakeNodePod(pod, {}));
  }

  VirtualLoop loop_;
  MetricStore metrics_{loop_.clock(), {}};
  NodeInfoCache info_;
  NodePods pods_;
  NodeMetricPolicy policy_;
  api::NodeSloSpec slo_;
  std::function<PredictedUsage(std::span<const NodePod* const>)> predict_;
};

TEST_F(NodeMetricReportTest, AveragesNodeSystemAndPods) {
  AddPod("a", "u1");
  AddPod("b", "u2");
  Measure(1min);
  const auto status = Report();
  EXPECT_EQ(status.update_time, loop_.clock().Now());
  EXPECT_EQ(TextOf(status.node_metric->node_usage, "cpu"), "2500m");
  EXPECT_EQ(TextOf(status.node_metric->node_usage, "memory"), "4Gi");
  EXPECT_EQ(TextOf(status.node_metric->system_usage, "cpu"), "250m");
  ASSERT_EQ(status.pods_metric.size(), 1u) << "half of a usage is none";
  EXPECT_EQ(status.pods_metric[0].name, "a");
  EXPECT_EQ(TextOf(status.pods_metric[0].pod_usage, "cpu"), "1234m") << "rounded down";
  EXPECT_EQ(status.pods_metric[0].priority, "koord-prod");
  EXPECT_EQ(status.pods_metric[0].qos, "LS");
}

TEST_F(NodeMetricReportTest, FiguresOfATimeNeedHalfOfIt) {
  Measure(4min);
  const auto status = Report();
  const auto& usages = status.node_metric->aggregated_node_usages;
  ASSERT_EQ(usages.size(), 3u);
  EXPECT_EQ(usages[0].duration, Duration(5min));
  for (const char* name : {"avg", "p50", "p90", "p95", "p99"}) {
    EXPECT_EQ(TextOf(usages[0].usage.find(name)->second, "cpu"), "2500m") << name;
    EXPECT_THAT(usages[1].usage.find(name)->second.resources, IsEmpty())
        << name << " of ten minutes, of which four were measured";
  }
  EXPECT_EQ(
      TextOf(status.node_metric->aggregated_system_usages[0].usage.find("p95")->second, "memory"),
      "1Gi");
}

TEST_F(NodeMetricReportTest, KnowsNothingAtFirst) {
  AddPod("a", "u1");
  const auto status = Report();
  EXPECT_THAT(status.node_metric->node_usage.resources, IsEmpty());
  EXPECT_THAT(status.pods_metric, IsEmpty());
  const kube::Json patch = NodeMetricPatch(status);
  EXPECT_TRUE(kube::Find(patch, {"status", "podsMetric"})->is_null()) << "what was there goes away";
  EXPECT_TRUE(kube::Find(patch, {"status", "nodeMetric", "nodeUsage"})->is_object());
  EXPECT_TRUE(kube::Find(patch, {"status", "prodReclaimableMetric", "resource"})->is_object());
}

TEST_F(NodeMetricReportTest, CountsMemoryAsTheClusterWants) {
  Measure(1min);
  policy_.memory = MemoryPolicy::kWithPageCache;
  EXPECT_EQ(TextOf(Report().node_metric->node_usage, "memory"), "6Gi");
  EXPECT_EQ(TextOf(Report().node_metric->system_usage, "memory"), "1Gi");
  policy_.memory = MemoryPolicy::kWithHotPages;
  EXPECT_EQ(TextOf(Report().node_metric->node_usage, "memory"), "4Gi")
      << "cold pages are not collected";
}

TEST_F(NodeMetricReportTest, TellsOfNumaNodesThatWereMeasured) {
  info_.SetNuma({{0}, {1}});
  metrics_.Append({Metric::kNodeNumaCpu, {}, "1"}, 1.5);
  metrics_.Append({Metric::kNodeNumaMemory, {}, "1"}, kGi);
  metrics_.Append({Metric::kNodeNumaCpu, {}, "0"}, 1.5);
  const auto status = Report();
  ASSERT_EQ(status.node_metric->numa_usages.size(), 1u);
  EXPECT_EQ(status.node_metric->numa_usages[0].numa_node_id, 1);
  EXPECT_EQ(TextOf(status.node_metric->numa_usages[0].node_usage, "cpu"), "1500m");
  EXPECT_THAT(status.node_metric->numa_usages[0].system_usage.resources, IsEmpty());
}

TEST_F(NodeMetricReportTest, TellsOfHostApplicationsAndGpus) {
  slo_.host_applications = {{.name = "b", .priority = "koord-prod", .qos = "LS"},
                            {.name = "a", .priority = "koord-batch", .qos = "BE"}};
  for (const char* name : {"a", "b"}) {
    metrics_.Append({Metric::kHostAppCpu, name}, 0.5);
    metrics_.Append({Metric::kHostAppMemory, name}, kGi);
  }
  info_.SetGpus({"550", {{.uuid = "g0", .minor = 0, .memory_total = 4000}, {.uuid = "g1"}}});
  metrics_.Append({Metric::kNodeCpu}, 1);
  metrics_.Append({Metric::kNodeMemory}, kGi);
  metrics_.Append({Metric::kNodeGpuCore, "g0"}, 55.5);
  metrics_.Append({Metric::kNodeGpuMemory, "g0"}, 1999);
  const auto status = Report();
  ASSERT_EQ(status.host_application_metric.size(), 2u);
  EXPECT_EQ(status.host_application_metric[0].name, "a");
  EXPECT_EQ(TextOf(status.host_application_metric[0].usage, "cpu"), "500m");
  ASSERT_EQ(status.node_metric->node_usage.devices.size(), 1u) << "g1 was not measured";
  const auto& gpu = status.node_metric->node_usage.devices[0];
  EXPECT_EQ(gpu.id, "g0");
  EXPECT_EQ(kube::AmountOf(gpu.resources, "koordinator.sh/gpu-core").Value(), 55);
  EXPECT_EQ(kube::AmountOf(gpu.resources, "koordinator.sh/gpu-memory").Value(), 1999);
  EXPECT_EQ(kube::AmountOf(gpu.resources, "koordinator.sh/gpu-memory-ratio").Value(), 49);
}

TEST_F(NodeMetricReportTest, AsksThePredictorAboutMeasuredPods) {
  AddPod("a", "u1");
  AddPod("b", "u2");
  Measure(1min);
  std::vector<std::string> asked;
  predict_ = [&](std::span<const NodePod* const> pods) {
    for (const NodePod* pod : pods) asked.push_back(pod->uid());
    return PredictedUsage{ResourcesOf(MilliCpu(1500), 1 << 30),
                          ResourcesOf(MilliCpu(3000), 2 << 20)};
  };
  const auto status = Report();
  EXPECT_THAT(asked, ElementsAre("u1"));
  EXPECT_EQ(TextOf(status.prod_reclaimable_metric->resource, "cpu"), "1500m");
  EXPECT_EQ(TextOf(status.prod_reclaimable_metric->resource, "memory"), "1Gi");
  EXPECT_EQ(TextOf(status.prod_peak_metric->resource, "cpu"), "3");
}

TEST(NodeMetricPolicyOf, RaisesWhatIsTooShort) {
  const auto of = [](const std::string& yaml) {
    return NodeMetricPolicyOf(*kube::Decode<api::NodeMetricSpec>(*kube::ParseYaml(yaml)));
  };
  EXPECT_EQ(of("{}"), NodeMetricPolicy{});
  const NodeMetricPolicy policy = of(R"(
metricCollectPolicy:
  aggregateDurationSeconds: 1
  reportIntervalSeconds: -5
  nodeAggregatePolicy: {durations: [1m, 0s]}
  nodeMemoryCollectPolicy: usageWithPageCache)");
  EXPECT_EQ(policy.aggregate, Duration(60s));
  EXPECT_EQ(policy.interval, Duration(30s));
  EXPECT_THAT(policy.durations, ElementsAre(Duration(1min)));
  EXPECT_EQ(policy.memory, MemoryPolicy::kWithPageCache);
}

}  // namespace
}  // namespace koord::koordlet::node_metric_report_test
