// koordlet on the simulated nodes of a cluster: what its users see of suppression and eviction.
#include <gtest/gtest.h>

#include <set>

#include "api/node_metric.h"
#include "api/resources.h"
#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "kube/yaml.h"
#include "localcluster/assembly/local_cluster.h"
#include "localcluster/assembly/object_testing.h"

namespace koord::localcluster::simulated_koordlet_test {
namespace {

using kube::Json;

constexpr char kNode[] = "node-0";

class SimulatedKoordletTest : public testing::Test {
 protected:
  SimulatedKoordletTest() {
    LocalClusterOptions options;
    options.nodes = 1;
    options.shapes = {*ParseNodeShape("cpu=16,memory=64Gi,numa=1")};
    options.load = "flat=0.5";
    // The tests say themselves what nodes offer, what is asked of them, and who runs there.
    options.without = {"manager", "scheduler"};
    cluster_ = *LocalCluster::Start(loop_, options);
    EXPECT_TRUE(loop_.RunUntil([&] { return cluster_->ready(); }, 1min));
    OfferBatchResources();
  }

  // As koord-manager does.
  void OfferBatchResources() {
    const Json amounts{{"kubernetes.io/batch-cpu", "32000"},
                       {"kubernetes.io/batch-memory", "64Gi"}};
    bool done = false;
    cluster_->client().Patch(kube::kNodes, {"", kNode}, kube::PatchType::kMerge,
                             {{"status", {{"allocatable", amounts}, {"capacity", amounts}}}},
                             {.subresource = "status"}, [&](const StatusOr<Json>& answer) {
                               EXPECT_TRUE(answer.ok()) << Message(answer.status());
                               done = true;
                             });
    EXPECT_TRUE(loop_.RunUntil([&] { return done; }, 10s));
  }

  void Create(const kube::Resource& resource, const std::string& ns, const std::string& yaml) {
    bool done = false;
    cluster_->client().Create(resource, ns, ObjectFromYaml(resource, yaml), {},
                              [&](const StatusOr<Json>& answer) {
                                EXPECT_TRUE(answer.ok()) << Message(answer.status());
                                done = true;
                              });
    EXPECT_TRUE(loop_.RunUntil([&] { return done; }, 10s));
  }
  StatusOr<Json> Get(const kube::Resource& resource, const kube::ObjectKey& key) {
    StatusOr<Json> found = absl::UnknownError("no answer");
    bool done = false;
    cluster_->client().Get(resource, key, [&](const StatusOr<Json>& answer) {
      found = answer;
      done = true;
    });
    EXPECT_TRUE(loop_.RunUntil([&] { return done; }, 10s));
    return found;
  }

  // A pod on the node, whose load is a part of what it requests.
  void RunPod(const std::string& name, const std::string& qos, const std::string& load,
              const std::string& resources, int priority = 0) {
    Create(kube::kPods, "default",
           fmt::format("metadata: {{name: {}, labels: {{koordinator.sh/qosClass: {}}}, "
                       "annotations: {{local.koordinator.sh/load: \"{}\"}}}}\n"
                       "spec: {{nodeName: {}, priority: {}, containers: [{{name: main, image: x, "
                       "resources: {}}}]}}",
                       name, qos, load, kNode, priority, resources));
  }
  void RunService(const std::string& load) {
    RunPod("service", "LS", load, "{requests: {cpu: \"8\", memory: 8Gi}}");
  }
  void RunBatch(const std::string& name, const std::string& memory, const std::string& load) {
    RunPod(name, "BE", load,
           fmt::format("{{requests: {{kubernetes.io/batch-cpu: \"12000\", "
                       "kubernetes.io/batch-memory: {0}}}, limits: {{kubernetes.io/batch-cpu: "
                       "\"12000\", kubernetes.io/batch-memory: {0}}}}}",
                       memory));
  }
  void SetSlo(const std::string& thresholds) {
    Create(api::kNodeSlos, "",
           fmt::format("{{metadata: {{name: {}}}, spec: {{resourceUsedThresholdWithBE: {}}}}}",
                       kNode, thresholds));
  }

  // Cores of a pod as its NodeMetric has them; -1: it has none.
  double Cores(const std::string& pod) {
    const auto found = Get(api::kNodeMetrics, {"", kNode});
    if (!found.ok()) return -1;
    const auto metric = *kube::Decode<api::NodeMetric>(*found);
    for (const api::PodUsage& usage : metric.status.pods_metric) {
      if (usage.name == pod) return kube::AmountOf(usage.pod_usage.resources, "cpu").ToDouble();
    }
    return -1;
  }
  // A pod that was told to go is soon gone.
  bool IsThere(const std::string& pod) { return Get(kube::kPods, {"default", pod}).ok(); }

  VirtualLoop loop_;
  std::unique_ptr<LocalCluster> cluster_;
};

TEST_F(SimulatedKoordletTest, ReportsWhatPodsUse) {
  RunService("flat=0.25");
  loop_.Advance(8min);
  EXPECT_NEAR(Cores("service"), 2, 0.1);
}

TEST_F(SimulatedKoordletTest, NodesWithoutPodsReportAsOftenAsTheirSpecAsks) {
  bool patched = false;
  cluster_->client().Patch(
      api::kNodeMetrics, {"", kNode}, kube::PatchType::kMerge,
      *kube::ParseYaml("spec: {metricCollectPolicy: {reportIntervalSeconds: 30}}"), {},
      [&](const StatusOr<Json>& answer) { patched = answer.ok(); });
  loop_.Advance(5min);
  ASSERT_TRUE(patched);
  std::set<std::string> times;
  for (int i = 0; i < 60; ++i) {
    times.insert(std::string(
        kube::FindString(*Get(api::kNodeMetrics, {"", kNode}), {"status", "updateTime"})));
    loop_.Advance(5s);
  }
  // A little more often than asked, so that many nodes do not report at the same moment.
  EXPECT_NEAR(static_cast<double>(times.size()), 11, 1);
}

TEST_F(SimulatedKoordletTest, LeavesNodesToOthersThatWriteTheirReports) {
  bool patched = false;
  cluster_->client().Patch(
      kube::kNodes, {"", kNode}, kube::PatchType::kMerge,
      *kube::ParseYaml("metadata: {annotations: {local.koordinator.sh/report: \"false\"}}"), {},
      [&](const StatusOr<Json>& answer) { patched = answer.ok(); });
  loop_.Advance(5min);
  ASSERT_TRUE(patched);
  EXPECT_EQ(kube::Find(*Get(api::kNodeMetrics, {"", kNode}), {"status", "updateTime"}), nullptr);
}

TEST_F(SimulatedKoordletTest, SuppressesBatchWhileServicesAreBusy) {
  SetSlo("{enable: true, cpuSuppressThresholdPercent: 65}");
  // Quiet for twenty minutes, then busy for twenty.
  RunService("spike=low:0.1;high:1;every:40m;for:20m");
  RunBatch("batch", "4Gi", "flat=0.8");
  double most = 0;
  double least = 100;
  for (int minute = 0; minute < 60; ++minute) {
    loop_.Advance(1min);
    if (minute < 8) continue;
    const double cores = Cores("batch");
    most = std::max(most, cores);
    least = std::min(least, cores);
  }
  // 16 * 65 % - 0.8 of the service - 0.3 of the system = 9.3 cores, of 9.6 that it wants.
  EXPECT_NEAR(most, 9.5, 0.6);
  // 16 * 65 % - 8 of the service - 0.3 of the system = 2.1 cores, in whole processors.
  EXPECT_NEAR(least, 2.5, 0.6);
}

TEST_F(SimulatedKoordletTest, WithoutAPolicyNobodyIsSuppressed) {
  RunService("flat=1");
  RunBatch("batch", "4Gi", "flat=0.5");
  loop_.Advance(10min);
  EXPECT_NEAR(Cores("batch"), 6, 0.2);
}

TEST_F(SimulatedKoordletTest, EvictsBatchWhenMemoryRunsOut) {
  SetSlo("{enable: true, memoryEvictThresholdPercent: 70}");
  RunService("flat=1");
  RunBatch("small", "8Gi", "flat=1");
  // 26 GiB, and 38 now and then: with 17 of the others more than 70 % of 64.
  RunBatch("large", "48Gi", "spike=low:0.1;high:1;every:10m;for:5m");
  loop_.Advance(15min);
  EXPECT_FALSE(IsThere("large"));
  EXPECT_TRUE(IsThere("small"));
  EXPECT_TRUE(IsThere("service"));
}

}  // namespace
}  // namespace koord::localcluster::simulated_koordlet_test
