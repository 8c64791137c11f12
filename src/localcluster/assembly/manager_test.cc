// koord-manager at work in a cluster of its own: from the ConfigMap and what nodes report to what
// they offer and are asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/resources.h"
#include "base/log.h"
#include "base/source_dir/source_dir.h"
#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "kube/time.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"
#include "localcluster/assembly/local_cluster.h"
#include "localcluster/assembly/manager_manifests.h"
#include "localcluster/assembly/object_testing.h"
#include "localcluster/assembly/permissions_testing.h"
#include "manager/program/manager_app.h"
#include "manager/program/manager_options.h"
#include "program/ask_testing.h"

namespace koord::localcluster::manager_test {
namespace {

using kube::Json;
using manager::ManagerApp;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;

constexpr char kColocation[] = R"({"colocation-config":"{\"enable\":true}"})";

// A cluster without nodes, and a manager that has not been started yet.
class ManagerTest : public testing::Test {
 protected:
  ManagerTest() {
    log::SetSink([](std::string_view) {});
    LocalClusterOptions options;
    options.nodes = 0;
    options.without = {"nodes", "scheduler", "controllers", "manager"};
    cluster_ = *LocalCluster::Start(loop_, options);
    EXPECT_TRUE(loop_.RunUntil([&] { return cluster_->ready(); }, 1min));
    recording_ = std::make_unique<Recording>(cluster_->handler());
    Create(kube::kNamespaces, "", "{metadata: {name: koordinator-system}}");
  }
  ~ManagerTest() override { log::SetSink(nullptr); }

  void MakeManager(ManagerApp::Options options = {}) {
    app_ = nullptr;
    client_ = std::make_unique<kube::Client>(
        loop_, std::make_shared<kube::InProcessTransport>(loop_, *recording_),
        kube::Client::Options{.user_agent = "koordinator-manager", .qps = 0});
    options.api = &api_;
    app_ = std::make_unique<ManagerApp>(*client_, std::move(options));
    app_->Watch();
  }
  void StartManager(ManagerApp::Options options = {}) {
    MakeManager(std::move(options));
    app_->Lead();
    Settle();
  }
  void Settle() {
    loop_.Advance(2s);
    EXPECT_TRUE(app_->quiet());
  }

  Json Await(const std::function<void(kube::Client::Done)>& call) {
    std::optional<StatusOr<Json>> result;
    call([&](StatusOr<Json> answer) { result = std::move(answer); });
    EXPECT_TRUE(loop_.RunUntil([&] { return result.has_value(); }, 10s));
    EXPECT_TRUE(result->ok()) << Message(result->status());
    return result->ok() ? **result : Json();
  }
  void Create(const kube::Resource& resource, const std::string& ns, const std::string& yaml) {
    Await([&](kube::Client::Done done) {
      cluster_->client().Create(resource, ns, ObjectFromYaml(resource, yaml), {}, std::move(done));
    });
  }
  void Patch(const kube::Resource& resource, const kube::ObjectKey& key, const std::string& json,
             const std::string& subresource = "") {
    Await([&](kube::Client::Done done) {
      cluster_->client().Patch(resource, key, kube::PatchType::kMerge, *kube::ParseJson(json),
                               {.subresource = subresource}, std::move(done));
    });
  }
  void Delete(const kube::Resource& resource, const kube::ObjectKey& key) {
    Await([&](kube::Client::Done done) {
      cluster_->client().Delete(resource, key, {}, std::move(done));
    });
  }
  // Null if there is no such object.
  Json Get(const kube::Resource& resource, const kube::ObjectKey& key) {
    std::optional<StatusOr<Json>> result;
    cluster_->client().Get(resource, key,
                           [&](StatusOr<Json> answer) { result = std::move(answer); });
    EXPECT_TRUE(loop_.RunUntil([&] { return result.has_value(); }, 10s));
    return result->ok() ? **result : Json();
  }

  void CreateNode(const std::string& name, const std::string& metadata = "") {
    Create(kube::kNodes, "",
           fmt::format("{{metadata: {{name: {} {}}}, status: {{capacity: {{cpu: 100, memory: "
                       "100Gi}}, allocatable: {{cpu: 100, memory: 100Gi}}}}}}",
                       name, metadata));
  }
  void Configure(const std::string& data) {
    const kube::ObjectKey key{"koordinator-system", "slo-controller-config"};
    if (Get(kube::kConfigMaps, key).is_null()) {
      Create(kube::kConfigMaps, key.ns,
             "{metadata: {name: slo-controller-config}, data: " + data + "}");
    } else {
      Patch(kube::kConfigMaps, key, "{\"data\":" + data + "}");
    }
  }
  // Usage of the node and of its system are the same: no pods.
  void Report(const std::string& node, const std::string& cpu, const std::string& memory) {
    const std::string usage =
        fmt::format(R"({{"resources":{{"cpu":"{}","memory":"{}"}}}})", cpu, memory);
    Patch(api::kNodeMetrics, {"", node},
          fmt::format(R"({{"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{},)"
                      R"("systemUsage":{}}}}}}})",
                      kube::FormatTime(loop_.clock().Now()), usage, usage),
          "status");
  }
  std::string Allocatable(const std::string& node, const std::string& resource) {
    return std::string(
        kube::FindString(Get(kube::kNodes, {"", node}), {"status", "allocatable", resource}));
  }
  std::string BatchCpu(const std::string& node) {
    return Allocatable(node, "kubernetes.io/batch-cpu");
  }
  std::vector<std::string> Writes() {
    std::vector<std::string> writes;
    for (const std::string& request : recording_->requests) {
      if (!request.starts_with("GET ")) writes.push_back(request);
    }
    recording_->requests.clear();
    return writes;
  }
  // A node that offers batch resources, with everything settled.
  void StartWithNode() {
    Configure(kColocation);
    CreateNode("a");
    StartManager();
    Report("a", "10", "10Gi");
    Settle();
    EXPECT_EQ(BatchCpu("a"), "50k");
    Writes();
  }

  VirtualLoop loop_;
  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<kube::Client> client_;
  program::ComponentApi api_;
  std::unique_ptr<ManagerApp> app_;
};

// ---- Objects of nodes

TEST_F(ManagerTest, EveryNodeHasANodeMetricAndANodeSloAsLongAsItExists) {
  CreateNode("a");
  StartManager();
  CreateNode("b");
  Settle();
  for (const char* node : {"a", "b"}) {
    const Json metric = Get(api::kNodeMetrics, {"", node});
    const Json& policy = metric.at("spec").at("metricCollectPolicy");
    EXPECT_EQ(kube::FindInt(policy, {"aggregateDurationSeconds"}), 300);
    EXPECT_EQ(kube::FindInt(policy, {"reportIntervalSeconds"}), 60);
    EXPECT_EQ(kube::FindString(policy, {"nodeMemoryCollectPolicy"}), "usageWithoutPageCache");
    EXPECT_EQ(kube::Serialize(policy.at("nodeAggregatePolicy")),
              R"({"durations":["5m0s","10m0s","30m0s"]})");
    const Json slo = Get(api::kNodeSlos, {"", node});
    EXPECT_EQ(kube::FindInt(slo, {"spec", "cpuBurstStrategy", "cpuBurstPercent"}), 1000);
    EXPECT_EQ(kube::FindString(slo, {"spec", "systemStrategy", "totalNetworkBandwidth"}), "0");
  }
  Delete(kube::kNodes, {"", "a"});
  Settle();
  EXPECT_TRUE(Get(api::kNodeMetrics, {"", "a"}).is_null());
  EXPECT_TRUE(Get(api::kNodeSlos, {"", "a"}).is_null());
  EXPECT_FALSE(Get(api::kNodeSlos, {"", "b"}).is_null());
}

TEST_F(ManagerTest, ObjectsWhoseNodesWentWhileNobodyWatchedAreRemoved) {
  Create(api::kNodeMetrics, "", "{metadata: {name: gone}, spec: {}}");
  Create(api::kNodeSlos, "", "{metadata: {name: gone}, spec: {}}");
  StartManager();
  EXPECT_TRUE(Get(api::kNodeMetrics, {"", "gone"}).is_null());
  EXPECT_TRUE(Get(api::kNodeSlos, {"", "gone"}).is_null());
}

TEST_F(ManagerTest, WhatSomebodyElseChangedOrDeletedIsMended) {
  CreateNode("a");
  StartManager();
  Patch(api::kNodeSlos, {"", "a"},
        R"({"spec":{"cpuBurstStrategy":{"policy":"auto"},"extensions":{"x":{"y":1}}}})");
  Delete(api::kNodeMetrics, {"", "a"});
  Settle();
  const Json slo = Get(api::kNodeSlos, {"", "a"});
  EXPECT_EQ(kube::FindString(slo, {"spec", "cpuBurstStrategy", "policy"}), "none");
  EXPECT_EQ(kube::FindInt(slo, {"spec", "extensions", "x", "y"}), 1) << "not ours";
  EXPECT_FALSE(Get(api::kNodeMetrics, {"", "a"}).is_null());
}

TEST_F(ManagerTest, WhileTheConfigurationIsInDoubtNodeMetricsStay) {
  CreateNode("a");
  Create(api::kNodeMetrics, "",
         "{metadata: {name: a}, spec: {metricCollectPolicy: {reportIntervalSeconds: 7}}}");
  StartManager();
  const auto interval = [&] {
    return kube::FindInt(Get(api::kNodeMetrics, {"", "a"}),
                         {"spec", "metricCollectPolicy", "reportIntervalSeconds"});
  };
  EXPECT_EQ(interval(), 7) << "there is no ConfigMap";
  Configure(R"({"colocation-config":"{\"enable\":true,\"metricReportIntervalSeconds\":30}"})");
  Settle();
  EXPECT_EQ(interval(), 30);
}

// ---- Node resources

TEST_F(ManagerTest, WhatIsIdleIsOffered) {
  StartWithNode();
  EXPECT_EQ(Allocatable("a", "kubernetes.io/batch-memory"), "55Gi");
  EXPECT_EQ(Allocatable("a", "kubernetes.io/mid-cpu"), "0");
  EXPECT_EQ(kube::FindString(Get(kube::kNodes, {"", "a"}),
                             {"status", "capacity", "kubernetes.io/batch-cpu"}),
            "50k");
  EXPECT_EQ(Allocatable("a", "cpu"), "100");
}

TEST_F(ManagerTest, AChangeIsOnePatchAndTheSameAgainNone) {
  StartWithNode();
  Report("a", "20", "10Gi");
  Settle();
  EXPECT_THAT(Writes(), ElementsAre("PATCH /api/v1/nodes/a/status"));
  EXPECT_EQ(BatchCpu("a"), "40k");
  loop_.Advance(10s);
  Report("a", "20", "10Gi");
  Settle();
  EXPECT_THAT(Writes(), IsEmpty());
  Report("a", "21", "10Gi");
  Settle();
  EXPECT_THAT(Writes(), IsEmpty()) << "too small a difference";
  loop_.Advance(5min);
  Report("a", "21", "10Gi");
  Settle();
  EXPECT_THAT(Writes(), ElementsAre("PATCH /api/v1/nodes/a/status")) << "it has waited enough";
  EXPECT_EQ(BatchCpu("a"), "39k");
}

TEST_F(ManagerTest, AManagerThatStartsAnewWritesNothing) {
  StartWithNode();
  StartManager();
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(ManagerTest, AStandbyWritesNothingUntilItLeads) {
  Configure(kColocation);
  CreateNode("a");
  MakeManager();
  loop_.Advance(1min);
  EXPECT_TRUE(app_->synced());
  EXPECT_THAT(Writes(), IsEmpty());
  app_->Lead();
  Settle();
  EXPECT_THAT(Writes().size(), 3u) << "a NodeMetric, a NodeSLO, and the node's annotation";
  bool stopped = false;
  app_->Stop([&] { stopped = true; });
  CreateNode("b");
  loop_.Advance(1min);
  EXPECT_TRUE(stopped);
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(ManagerTest, AReportThatGrowsOldTakesEverythingBackByItself) {
  StartWithNode();
  const WallTime reported = loop_.clock().Now() - 2s;
  loop_.Advance(reported + 15min - loop_.clock().Now() - 1s);
  EXPECT_EQ(BatchCpu("a"), "50k");
  loop_.Advance(3s);
  EXPECT_EQ(BatchCpu("a"), "");
  EXPECT_EQ(Allocatable("a", "kubernetes.io/mid-memory"), "");
  EXPECT_THAT(Writes(), ElementsAre("PATCH /api/v1/nodes/a/status"));
  Report("a", "10", "10Gi");
  Settle();
  EXPECT_EQ(BatchCpu("a"), "50k");
}

TEST_F(ManagerTest, WithoutItsNodeMetricANodeOffersNothing) {
  StartWithNode();
  Delete(api::kNodeMetrics, {"", "a"});
  Settle();
  EXPECT_EQ(BatchCpu("a"), "");
}

TEST_F(ManagerTest, SwitchingCoLocationOffTakesEverythingBack) {
  StartWithNode();
  Configure(R"({"colocation-config":"{\"enable\":false}"})");
  Settle();
  EXPECT_EQ(BatchCpu("a"), "");
  Configure(kColocation);
  Settle();
  EXPECT_EQ(BatchCpu("a"), "50k");
}

TEST_F(ManagerTest, WhatANodeItselfSaysIsNoticed) {
  StartWithNode();
  Patch(kube::kNodes, {"", "a"},
        R"({"metadata":{"annotations":{"node.koordinator.sh/network-bandwidth":"99M",)"
        R"("node.koordinator.sh/reservation":"{\"resources\":{\"cpu\":\"30\"}}"}}})");
  Settle();
  EXPECT_EQ(BatchCpu("a"), "30k");
  EXPECT_EQ(kube::FindString(Get(api::kNodeSlos, {"", "a"}),
                             {"spec", "systemStrategy", "totalNetworkBandwidth"}),
            "99M");
  Patch(kube::kNodes, {"", "a"},
        R"({"metadata":{"labels":{"node.koordinator.sh/cpu-reclaim-ratio":"0.8"},)"
        R"("annotations":{"node.koordinator.sh/network-bandwidth":"fast"}}})");
  Settle();
  EXPECT_EQ(BatchCpu("a"), "50k");
  EXPECT_EQ(kube::Find(Get(api::kNodeSlos, {"", "a"}), {"spec", "systemStrategy"}), nullptr);
}

TEST_F(ManagerTest, DevicesAndTheirLabelsShowOnTheNode) {
  CreateNode("a");
  StartManager();
  Create(api::kDevices, "",
         "{metadata: {name: a}, spec: {devices: [{type: gpu, id: x, health: true, resources: "
         "{koordinator.sh/gpu-core: 100, koordinator.sh/gpu-memory: 16Gi}}, {type: rdma, id: y, "
         "health: true}]}}");
  Settle();
  EXPECT_EQ(Allocatable("a", "koordinator.sh/gpu"), "100");
  EXPECT_EQ(Allocatable("a", "koordinator.sh/gpu-memory"), "16Gi");
  EXPECT_EQ(Allocatable("a", "koordinator.sh/rdma"), "100");
  Patch(api::kDevices, {"", "a"},
        R"({"metadata":{"labels":{"node.koordinator.sh/gpu-model":"A100"}}})");
  Settle();
  const Json node = Get(kube::kNodes, {"", "a"});
  EXPECT_EQ(kube::FindString(node, {"metadata", "labels", "node.koordinator.sh/gpu-model"}),
            "A100");
  EXPECT_EQ(kube::FindString(node, {"metadata", "labels", "kubernetes.io/gpu-model"}), "A100");
  Delete(api::kDevices, {"", "a"});
  Settle();
  EXPECT_EQ(Allocatable("a", "koordinator.sh/gpu"), "");
  EXPECT_EQ(Allocatable("a", "koordinator.sh/rdma"), "");
}

TEST_F(ManagerTest, NumaZonesOfferTheirShare) {
  Configure(kColocation);
  CreateNode("a");
  const std::string zone =
      "{{name: node-{}, type: Node, costs: [{{name: node-0, value: 10}}], resources: [{{name: cpu, "
      "capacity: 50, allocatable: 50, available: 50}}, {{name: memory, capacity: 50Gi, "
      "allocatable: 50Gi, available: 50Gi}}]}}";
  Create(api::kNodeResourceTopologies, "",
         fmt::format("{{metadata: {{name: a}}, topologyPolicies: [None], zones: [{}, {}]}}",
                     fmt::format(fmt::runtime(zone), 0), fmt::format(fmt::runtime(zone), 1)));
  StartManager();
  Writes();
  Report("a", "10", "10Gi");
  Settle();
  const Json topology = Get(api::kNodeResourceTopologies, {"", "a"});
  for (int i : {0, 1}) {
    const Json& zone = topology.at("zones").at(static_cast<size_t>(i));
    const Json& batch_cpu = zone.at("resources").at(1);
    EXPECT_EQ(kube::FindString(batch_cpu, {"name"}), "kubernetes.io/batch-cpu");
    for (const char* member : {"capacity", "allocatable", "available"}) {
      EXPECT_EQ(kube::FindString(batch_cpu, {member}), "25k") << member;
    }
    EXPECT_EQ(kube::FindInt(zone.at("costs").at(0), {"value"}), 10) << "left alone";
  }
  EXPECT_THAT(Writes(),
              ElementsAre("PATCH /apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies/a",
                          "PATCH /api/v1/nodes/a/status"));
}

TEST_F(ManagerTest, CpusOfDifferentWorthAreNormalizedAndAmplified) {
  Configure(
      R"({"colocation-config":"{\"enable\":true}",)"
      R"("cpu-normalization-config":"{\"enable\":true,\"ratioModel\":{\"m\":{\"baseRatio\":1.2}}}",)"
      R"("resource-amplification-config":"{\"enable\":true,\"resourceAmplificationRatio\":{\"cpu\":1.5}}"})");
  CreateNode("a");
  Create(api::kNodeResourceTopologies, "",
         "{metadata: {name: a, annotations: {node.koordinator.sh/cpu-basic-info: "
         "'{\"cpuModel\":\"m\"}'}}, topologyPolicies: [None], zones: []}");
  StartManager();
  Report("a", "10", "10Gi");
  Settle();
  const Json node = Get(kube::kNodes, {"", "a"});
  EXPECT_EQ(kube::FindString(
                node, {"metadata", "annotations", "node.koordinator.sh/cpu-normalization-ratio"}),
            "1.20");
  EXPECT_EQ(kube::FindString(node, {"metadata", "annotations",
                                    "node.koordinator.sh/resource-amplification-ratio"}),
            R"({"cpu":1.80})");
  EXPECT_EQ(BatchCpu("a"), "60k") << "50k, worth 1.2 each";
}

// ---- Bad configuration

TEST_F(ManagerTest, ABadConfigMapIsToldAndTheLastGoodOneStays) {
  StartWithNode();
  Configure(R"({"colocation-config":"{\"enable\":true,\"cpuReclaimThresholdPercent\":\"x\"}",)"
            R"("cpu-burst-config":"{\"clusterStrategy\":{\"policy\":\"auto\"}}"})");
  Report("a", "20", "10Gi");
  Settle();
  EXPECT_EQ(BatchCpu("a"), "40k") << "as before, with what is used now";
  EXPECT_EQ(
      kube::FindString(Get(api::kNodeSlos, {"", "a"}), {"spec", "cpuBurstStrategy", "policy"}),
      "auto")
      << "other keys are read";
  const Json events = Await([&](kube::Client::Done done) {
    cluster_->client().List(kube::kEvents, "koordinator-system", {}, std::move(done));
  });
  ASSERT_EQ(events.at("items").as_array().size(), 1u);
  const Json& event = events.at("items").at(0);
  EXPECT_EQ(kube::FindString(event, {"type"}), "Warning");
  EXPECT_EQ(kube::FindString(event, {"reason"}), "ColocationCfgUnmarshalFailed");
  EXPECT_EQ(kube::FindString(event, {"involvedObject", "kind"}), "ConfigMap");
  EXPECT_EQ(kube::FindString(event, {"involvedObject", "name"}), "slo-controller-config");
  EXPECT_EQ(kube::FindString(event, {"source", "component"}), "noderesource-controller");
  EXPECT_THAT(std::string(kube::FindString(event, {"message"})),
              HasSubstr("colocation-config: cpuReclaimThresholdPercent: expected"));
  Delete(kube::kConfigMaps, {"koordinator-system", "slo-controller-config"});
  Report("a", "10", "10Gi");
  Settle();
  EXPECT_EQ(BatchCpu("a"), "50k") << "nor does its end change anything";
}

TEST_F(ManagerTest, WithoutAnyGoodConfigurationNothingIsDone) {
  Configure(R"({"colocation-config":"nonsense"})");
  CreateNode("a");
  StartManager();
  EXPECT_TRUE(Get(api::kNodeMetrics, {"", "a"}).is_null());
  EXPECT_FALSE(Get(api::kNodeSlos, {"", "a"}).is_null()) << "that does not depend on it";
  Configure(kColocation);
  Settle();
  EXPECT_FALSE(Get(api::kNodeMetrics, {"", "a"}).is_null());
}

// ---- Switches

TEST(ManagerSwitches, TheFirstExactHitDecides) {
  using manager::IsSwitchedOn;
  EXPECT_TRUE(IsSwitchedOn({"*"}, "x"));
  EXPECT_FALSE(IsSwitchedOn({"-x", "*"}, "x"));
  EXPECT_FALSE(IsSwitchedOn({"*", "-x"}, "x"));
  EXPECT_TRUE(IsSwitchedOn({"x", "-x"}, "x"));
  EXPECT_FALSE(IsSwitchedOn({"y"}, "x"));
  EXPECT_FALSE(IsSwitchedOn({"*", "-x", "x"}, "x"));
}

TEST_F(ManagerTest, ControllersAndPluginsCanBeSwitchedOff) {
  Configure(kColocation);
  CreateNode("a");
  ManagerApp::Options options;
  options.controllers = {"*", "-nodeslo"};
  options.noderesource_plugins = {"BatchResource"};
  StartManager(std::move(options));
  Report("a", "10", "10Gi");
  Settle();
  EXPECT_EQ(BatchCpu("a"), "50k");
  EXPECT_EQ(Allocatable("a", "kubernetes.io/mid-cpu"), "");
  EXPECT_TRUE(Get(api::kNodeSlos, {"", "a"}).is_null());
}

// ---- Metrics and permissions

TEST_F(ManagerTest, MeasuresItself) {
  StartWithNode();
  const std::string text = program::Ask(api_, "GET", "/internal-metrics").body;
  for (
      const char* line : {
          R"(slo_controller_node_extended_resource_allocatable_internal{node="a",resource="kubernetes.io/batch-cpu",unit="integer"} 50)",
          R"(slo_controller_node_extended_resource_allocatable_internal{node="a",resource="kubernetes.io/mid-cpu",unit="integer"} 0)",
          R"(slo_controller_node_resource_reconcile_count{reason="updateNodeStatus",status="succeeded"} 1)",
          R"(slo_controller_nodemetric_reconcile_count{reason="createNodeMetric",status="succeeded"} 1)",
          R"(slo_controller_nodeslo_reconcile_count{reason="createNodeSLO",status="succeeded"} 1)",
          "koordinator_manager_is_leader 1",
      }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
  EXPECT_THAT(program::Ask(api_, "GET", "/all-metrics").body, HasSubstr("process_"));
  Delete(kube::kNodes, {"", "a"});
  Settle();
  EXPECT_EQ(program::Ask(api_, "GET", "/internal-metrics").body.find(R"(node="a")"),
            std::string::npos);
}

TEST_F(ManagerTest, ItsRoleAllowsWhatItDoesAndNothingElse) {
  CreateNode("a");
  Configure(kColocation);
  Create(api::kNodeResourceTopologies, "",
         "{metadata: {name: a}, topologyPolicies: [None], zones: [{name: node-0, type: Node, "
         "resources: [{name: cpu, capacity: 100, allocatable: 100, available: 100}]}]}");
  Create(kube::kPods, "default",
         "{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}");
  Create(api::kClusterColocationProfiles, "",
         "{metadata: {name: p, labels: {config.koordinator.sh/controller-managed: 'true'}}, spec: "
         "{selector: {}, labels: {coloured: 'yes'}}}");
  Create(api::kElasticQuotaProfiles, "default",
         "{metadata: {name: p}, spec: {quotaName: root, nodeSelector: {}}}");
  ManagerApp::Options options;
  ASSERT_TRUE(options.gates.Set("ColocationProfileController=true").ok());
  StartManager(options);
  Report("a", "10", "10Gi");
  Settle();
  Patch(api::kElasticQuotaProfiles, {"default", "p"}, R"({"spec":{"resourceRatio":"0.5"}})");
  Settle();
  Configure(
      R"({"colocation-config":"{","cpu-burst-config":"{\"clusterStrategy\":{}}",)"
      R"("resource-amplification-config":"{\"enable\":true,\"resourceAmplificationRatio\":{\"cpu\":1.5}}"})");
  Settle();
  Configure(R"({"colocation-config":"{\"enable\":true,\"metricReportIntervalSeconds\":30}",)"
            R"("cpu-burst-config":"{\"clusterStrategy\":{\"policy\":\"auto\"}}"})");
  Settle();
  Delete(kube::kNodes, {"", "a"});
  Settle();
  const std::set<std::string> used = PermissionsFor(recording_->requests);
  const std::set<std::string> allowed = PermissionsIn(SourcePath("deploy/manager/rbac.yaml"));
  EXPECT_THAT(used, IsSubsetOf(allowed));
  // The program's shell sees to leases and callers; events are patched where they repeat.
  EXPECT_THAT(IdlePermissions(allowed, used),
              IsSubsetOf(std::set<std::string>{
                  "create coordination.k8s.io/leases", "get coordination.k8s.io/leases",
                  "update coordination.k8s.io/leases", "patch /events",
                  "create authentication.k8s.io/tokenreviews",
                  "create authorization.k8s.io/subjectaccessreviews"}));
}

TEST_F(ManagerTest, TheRoleOfItsWebhooksAllowsWhatTheyDoAndNothingElse) {
  bool prepared = false;
  InstallWebhooks(cluster_->client(), [&](const Status& status) {
    EXPECT_TRUE(status.ok()) << Message(status);
    prepared = true;
  });
  ASSERT_TRUE(loop_.RunUntil([&] { return prepared; }, 10s));
  client_ = std::make_unique<kube::Client>(
      loop_, std::make_shared<kube::InProcessTransport>(loop_, *recording_),
      kube::Client::Options{.qps = 0});
  auto plan = manager::PlanManager({"--feature-gates=EnablePodEnhancedValidator=true"});
  ASSERT_TRUE(plan.ok()) << Message(plan.status());
  plan->app.api = &api_;
  app_ = std::make_unique<ManagerApp>(*client_, plan->app);
  manager::webhook::WebhookServer webhooks({*client_, app_->informers()}, api_.metrics(),
                                           plan->webhooks);
  webhooks.Start([] {});
  app_->Watch();
  ASSERT_TRUE(loop_.RunUntil([&] { return webhooks.Ready().ok(); }, 20s));
  // Certificates are renewed.
  loop_.JumpWallClock(std::chrono::hours(24 * 250));
  loop_.Advance(2min);
  const std::string folder = SourcePath("deploy/manager/").string();
  const std::set<std::string> used = PermissionsFor(recording_->requests);
  const std::set<std::string> own = PermissionsIn(folder + "webhooks.yaml");
  std::set<std::string> allowed = PermissionsIn(folder + "rbac.yaml");
  allowed.insert(own.begin(), own.end());
  EXPECT_THAT(used, IsSubsetOf(allowed));
  // Quotas are read again and written as pods are charged; a namespace is asked for when a pod
  // comes on its heels.
  EXPECT_THAT(IdlePermissions(own, used),
              IsSubsetOf(std::set<std::string>{"get scheduling.sigs.k8s.io/elasticquotas",
                                               "patch scheduling.sigs.k8s.io/elasticquotas",
                                               "get /namespaces"}));
}

// ---- Inside the local cluster

TEST_F(ManagerTest, TheLocalClusterRunsOne) {
  VirtualLoop loop;
  auto cluster = *LocalCluster::Start(loop, {.nodes = 3});
  ASSERT_TRUE(loop.RunUntil([&] { return cluster->ready(); }, 1min));
  const auto done = [](const StatusOr<Json>& answer) {
    EXPECT_TRUE(answer.ok()) << Message(answer.status());
  };
  cluster->client().Create(
      kube::kConfigMaps, "koordinator-system",
      *kube::ParseYaml("{metadata: {name: slo-controller-config}, data: {colocation-config: "
                       "'{\"enable\":true}'}}"),
      {}, done);
  loop.Advance(2min);
  int offering = 0;
  cluster->client().List(kube::kNodes, "", {}, [&](const StatusOr<Json>& nodes) {
    for (const Json& node : nodes->at("items").as_array()) {
      const auto batch =
          kube::FindString(node, {"status", "allocatable", "kubernetes.io/batch-cpu"});
      if (!batch.empty() && batch != "0") ++offering;
    }
  });
  loop.Advance(1s);
  EXPECT_EQ(offering, 3) << "measured by the simulated nodes, offered by the manager";
}

}  // namespace
}  // namespace koord::localcluster::manager_test
