// koord-scheduler at work in a cluster of its own: what it answers, logs, measures and asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "base/log.h"
#include "base/source_dir/source_dir.h"
#include "base/strings.h"
#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"
#include "localcluster/assembly/local_cluster.h"
#include "localcluster/assembly/permissions_testing.h"
#include "localcluster/scheduler/local_scheduler.h"
#include "program/ask_testing.h"
#include "scheduler/config/scheduler_gates.h"
#include "scheduler/program/scheduler_app.h"

namespace koord::localcluster::scheduler_test {
namespace {

using kube::Json;
using program::Ask;
using scheduler::SchedulerApp;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// A cluster without nodes, and a scheduler that has not been started yet.
class World {
 public:
  World() {
    LocalClusterOptions options;
    options.nodes = 0;
    options.without = {"nodes", "scheduler"};
    cluster_ = *LocalCluster::Start(loop_, options);
    EXPECT_TRUE(loop_.RunUntil([&] { return cluster_->ready(); }, 1min));
    recording_ = std::make_unique<Recording>(cluster_->handler());
    client_ = std::make_unique<kube::Client>(
        loop_, std::make_shared<kube::InProcessTransport>(loop_, *recording_),
        kube::Client::Options{.user_agent = "koord-scheduler", .qps = 0});
  }

  void StartScheduler(scheduler::DebugFlags debug = {}) {
    app_ = *SchedulerApp::Make(loop_, *client_,
                               {.configuration = LocalSchedulerConfiguration(),
                                .gates = scheduler::SchedulerFeatureGates(),
                                .debug = debug,
                                .may_write = [this] { return leads_; },
                                .api = &api_});
    app_->Watch();
    app_->Lead();
  }

  void Create(const kube::Resource& resource, const std::string& ns, const std::string& yaml) {
    bool created = false;
    cluster_->client().Create(resource, ns, *kube::ParseYaml(yaml), {},
                              [&](const StatusOr<Json>& answer) {
                                EXPECT_TRUE(answer.ok()) << Message(answer.status());
                                created = true;
                              });
    EXPECT_TRUE(loop_.RunUntil([&] { return created; }, 10s));
  }
  void CreateNode(const std::string& name, const std::string& cpu, const std::string& more = "") {
    Create(kube::kNodes, "",
           fmt::format("{{metadata: {{name: {}}}, {} status: {{allocatable: "
                       "{{cpu: {}, memory: 8Gi, pods: 110}}, conditions: [{{type: Ready, status: "
                       "\"True\"}}]}}}}",
                       name, more, Quote(cpu)));
  }
  void CreatePod(const std::string& name, const std::string& cpu, const std::string& more = "") {
    Create(kube::kPods, "default",
           fmt::format("{{metadata: {{name: {}}}, spec: {{{} containers: [{{name: c, image: i, "
                       "resources: {{requests: {{cpu: {}}}}}}}]}}}}",
                       name, more, Quote(cpu)));
  }
  void Settle() { loop_.Advance(3s); }

  Json Get(const std::string& path, int status = 200) {
    const kube::HttpResponse answer = Ask(api_, "GET", path);
    EXPECT_EQ(answer.status, status) << answer.body;
    return kube::ParseJson(answer.body).value_or(Json());
  }
  Json Explain(const std::string& pod) { return Get("/apis/v1/explain/pods/default/" + pod); }
  Json List(const std::string& path) { return *kube::ParseJson(AskCluster("GET", path).body); }
  kube::HttpResponse AskCluster(const std::string& method, const std::string& target) {
    const auto recorder = std::make_shared<program::Recorder>();
    kube::HttpRequest request;
    request.method = method;
    request.target = target;
    request.user = kube::InProcessTransport::Admin();
    cluster_->handler().Handle(std::move(request), recorder);
    loop_.RunReady();
    return recorder->answer.value_or(kube::HttpResponse{.status = 0});
  }
  std::string NodeOf(const std::string& pod) {
    return std::string(
        kube::FindString(List("/api/v1/namespaces/default/pods/" + pod), {"spec", "nodeName"}));
  }

  VirtualLoop loop_;
  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<kube::Client> client_;
  program::ComponentApi api_;
  bool leads_ = true;
  std::unique_ptr<SchedulerApp> app_;
};

class SchedulerTest : public testing::Test, public World {
 protected:
  SchedulerTest() {
    log::SetSink([this](std::string_view line) { log_.emplace_back(line); });
  }
  ~SchedulerTest() override { log::SetSink(nullptr); }

  std::vector<std::string> log_;
};

// ---- Explaining

TEST_F(SchedulerTest, ExplainsWhyAPodIsPending) {
  CreateNode("node-1", "100m");
  CreateNode("node-7", "1");
  CreateNode("cordoned", "8", "spec: {unschedulable: true},");
  CreateNode("tainted", "8", "spec: {taints: [{key: k, value: v, effect: NoSchedule}]},");
  // Too small, and the pod does not tolerate it either.
  CreateNode("both", "1400m", "spec: {taints: [{key: k, value: v, effect: NoSchedule}]},");
  StartScheduler();
  Settle();
  CreatePod("p", "1500m");
  Settle();
  const Json pod = Explain("p");
  EXPECT_EQ(kube::FindString(pod, {"state"}), "Pending");
  EXPECT_EQ(kube::FindString(pod, {"queue", "pool"}), "unschedulable");
  EXPECT_EQ(kube::FindInt(pod, {"queue", "attempts"}), 1);
  EXPECT_THAT(Texts(pod.at("queue").at("waitsFor")), Contains("NodeAdd"));
  EXPECT_THAT(std::string(kube::FindString(pod, {"queue", "message"})),
              StartsWith("0/5 nodes are available: "));
  EXPECT_EQ(kube::FindInt(pod, {"nodes"}), 5);
  EXPECT_EQ(kube::FindInt(pod, {"feasible"}), 0);

  std::map<std::string, Json> removed;
  for (const Json& each : pod.at("rejections").as_array()) {
    removed.emplace(kube::FindString(each, {"plugin"}), each);
  }
  ASSERT_EQ(removed.size(), 3u);
  EXPECT_EQ(kube::FindInt(removed["NodeUnschedulable"], {"count"}), 1);
  EXPECT_EQ(kube::FindInt(removed["TaintToleration"], {"count"}), 2);
  const Json& fit = removed["NodeResourcesFit"];
  EXPECT_EQ(kube::FindInt(fit, {"count"}), 2);
  EXPECT_EQ(kube::FindString(fit.at("reasons").at(0), {"reason"}), "Insufficient cpu");
  EXPECT_THAT(Texts(fit.at("reasons").at(0).at("nodes")), ElementsAre("node-1", "node-7"));

  const Json& misses = pod.at("nearestMisses");
  ASSERT_EQ(misses.as_array().size(), 5u);
  EXPECT_EQ(kube::FindString(misses.at(0), {"text"}), "node-7 lacks 500m cpu");
  EXPECT_EQ(kube::FindString(misses.at(1), {"text"}), "node-1 lacks 1400m cpu");
  EXPECT_EQ(kube::FindString(misses.at(2), {"text"}), "cordoned is cordoned");
  EXPECT_EQ(kube::FindString(misses.at(3), {"text"}), "tainted has the taint k=v:NoSchedule");
  EXPECT_EQ(kube::FindString(misses.at(4), {"text"}),
            "both lacks 100m cpu, has the taint k=v:NoSchedule");
  EXPECT_EQ(kube::FindString(misses.at(0), {"lacks", "cpu"}), "500m");
  EXPECT_EQ(kube::FindString(pod.at("changes").at(0), {"text"}),
            "lower the cpu request to 1: then node-7 can take it");
}

TEST_F(SchedulerTest, ExplainsWhyAPodIsWhereItIs) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) CreateNode(name, "4");
  CreateNode("empty", "16");
  StartScheduler();
  Settle();
  CreatePod("p", "2");
  Settle();
  ASSERT_EQ(NodeOf("p"), "empty") << "least allocated";
  const Json pod = Explain("p");
  EXPECT_EQ(kube::FindString(pod, {"state"}), "Bound");
  EXPECT_EQ(kube::FindString(pod, {"node"}), "empty");
  EXPECT_EQ(kube::FindString(pod, {"decided", "node"}), "empty");
  EXPECT_EQ(kube::FindInt(pod, {"decided", "feasible"}), 7);
  EXPECT_EQ(kube::FindInt(pod, {"decided", "evaluated"}), 7);
  const auto& scores = pod.at("scores").as_array();
  ASSERT_EQ(scores.size(), 5u);
  EXPECT_EQ(kube::FindString(scores[0], {"node"}), "empty");
  int64_t sum = 0;
  for (const auto& [plugin, score] : scores[0].at("plugins").as_object()) sum += score.as_int64();
  EXPECT_EQ(kube::FindInt(scores[0], {"total"}), sum);
  EXPECT_TRUE(scores[0].at("plugins").as_object().contains("NodeResourcesFit"));
}

TEST_F(SchedulerTest, ExplainsPodsThatWaitOrAreNotItsOwn) {
  CreateNode("a", "4");
  StartScheduler();
  Settle();
  CreatePod("gated", "1", "schedulingGates: [{name: budget}],");
  CreatePod("foreign", "1", "schedulerName: somebody-else,");
  Settle();
  const Json gated = Explain("gated");
  EXPECT_EQ(kube::FindString(gated, {"state"}), "Gated");
  EXPECT_EQ(kube::FindString(gated, {"queue", "gatedBy"}), "SchedulingGates");
  EXPECT_EQ(kube::FindString(gated, {"summary"}),
            "is held back by SchedulingGates: waiting for scheduling gates: [budget]");
  EXPECT_EQ(kube::FindString(Explain("foreign"), {"state"}), "Ignored");
  EXPECT_EQ(kube::FindString(Get("/apis/v1/explain/pods/default/none", 404), {"message"}),
            "cannot find pod default/none among those that have not ended");
}

// Ties are broken at random: who looks must not move the dice.
TEST_F(SchedulerTest, LookingChangesNothing) {
  const auto place = [](World& world, bool look) {
    for (int i = 0; i < 16; ++i) world.CreateNode(fmt::format("n{:02}", i), "4");
    world.StartScheduler();
    std::vector<std::string> nodes;
    for (int i = 0; i < 12; ++i) {
      const std::string name = fmt::format("p{}", i);
      world.CreatePod(name, i % 3 == 2 ? "9" : "1");
      world.Settle();
      if (look) {
        world.Explain(name);
        world.Get("/apis/v1/nodes/n00");
        Ask(world.api_, "GET", "/metrics");
      }
      nodes.push_back(world.NodeOf(name));
    }
    return nodes;
  };
  World other;
  EXPECT_EQ(place(*this, true), place(other, false));
}

// ---- Service API

TEST_F(SchedulerTest, OnlyTheLeaderAnswersAndOnlyWhenItKnowsTheCluster) {
  CreateNode("a", "4");
  StartScheduler();
  const auto early = Ask(api_, "GET", "/apis/v1/nodes/a");
  EXPECT_EQ(early.status, 503);
  EXPECT_EQ(early.body, "The component is initializing and temporarily unavailable");
  Settle();
  leads_ = false;
  const auto standby = Ask(api_, "GET", "/apis/v1/nodes/a");
  EXPECT_EQ(standby.status, 503);
  EXPECT_EQ(standby.body, R"({"message":"the instance is not leader"})");
  EXPECT_EQ(Ask(api_, "GET", "/metrics/resources").body, "");
  leads_ = true;
  EXPECT_EQ(Ask(api_, "GET", "/apis/v1/nodes/a").status, 200);
}

TEST_F(SchedulerTest, ListsItsServices) {
  StartScheduler();
  Settle();
  EXPECT_THAT(
      Texts(Get("/apis/v1/__services__").at("GET")),
      ElementsAre("/apis/v1/__services__", "/apis/v1/explain/pods/{namespace}/{name}",
                  "/apis/v1/explain/reservations/{name}", "/apis/v1/explain/settings",
                  "/apis/v1/nodes/{node}", "/apis/v1/plugins/DeviceShare/nodeDeviceSummaries",
                  "/apis/v1/plugins/DeviceShare/nodeDeviceSummaries/{node}",
                  "/apis/v1/plugins/ElasticQuota/explanation",
                  "/apis/v1/plugins/ElasticQuota/explanation/{name}",
                  "/apis/v1/plugins/ElasticQuota/quotas",
                  "/apis/v1/plugins/ElasticQuota/quotas/{name}",
                  "/apis/v1/plugins/LoadAwareScheduling/node/{node}",
                  "/apis/v1/plugins/NodeNUMAResource/nodes/{node}",
                  "/apis/v1/plugins/Reservation/nodeReservations/{node}",
                  "/apis/v1/plugins/Reservation/reservationSelectorIndex"));
}

TEST_F(SchedulerTest, ShowsNodesAsItSeesThem) {
  CreateNode("a", "4");
  StartScheduler();
  Settle();
  CreatePod("p", "1500m");
  Settle();
  const Json node = Get("/apis/v1/nodes/a");
  for (const char* key : {"node", "pods", "podsWithAffinity", "podsWithRequiredAntiAffinity",
                          "usedPorts", "requested", "nonZeroRequested", "remaining", "allocatable",
                          "imageStates", "pvcRefCounts", "generation"}) {
    EXPECT_NE(kube::Find(node, {key}), nullptr) << key;
  }
  EXPECT_EQ(kube::FindInt(node, {"requested", "MilliCPU"}), 1500);
  EXPECT_EQ(kube::FindInt(node, {"remaining", "MilliCPU"}), 2500);
  EXPECT_EQ(kube::FindInt(node, {"allocatable", "AllowedPodNumber"}), 110);
  EXPECT_EQ(kube::FindInt(node, {"nonZeroRequested", "Memory"}), 200 << 20);
  EXPECT_EQ(kube::FindString(node.at("pods").at(0), {"Pod", "metadata", "name"}), "p");
  EXPECT_EQ(kube::FindString(Get("/apis/v1/nodes/x", 404), {"message"}), "cannot find node x");
  EXPECT_EQ(Get("/apis/v1/plugins/LoadAwareScheduling/node/x"), Json(kube::json::object()));
  EXPECT_EQ(Ask(api_, "POST", "/apis/v1/nodes/a").status, 405);
  EXPECT_NE(kube::Find(Get("/configz"), {"componentconfig", "profiles"}), nullptr);
}

TEST_F(SchedulerTest, TheLocalClusterLeadsToItThroughTheServicesProxy) {
  VirtualLoop loop;
  auto cluster = *LocalCluster::Start(loop, {.nodes = 2});
  ASSERT_TRUE(loop.RunUntil([&] { return cluster->ready(); }, 1min));
  const auto ask = [&](const std::string& target) {
    const auto recorder = std::make_shared<program::Recorder>();
    kube::HttpRequest request;
    request.target = target;
    request.user = kube::InProcessTransport::Admin();
    cluster->handler().Handle(std::move(request), recorder);
    loop.RunReady();
    return recorder->answer.value_or(kube::HttpResponse{.status = 0});
  };
  const std::string services = "/api/v1/namespaces/koordinator-system/services/";
  EXPECT_EQ(ask(services + "koord-scheduler:10251/proxy/healthz").body, "ok");
  EXPECT_EQ(ask(services + "http:koord-scheduler:10251/proxy/healthz/ping").status, 200);
  EXPECT_THAT(ask(services + "koord-scheduler/proxy/healthz?verbose=1").body, HasSubstr("[+]ping"));
  EXPECT_EQ(ask(services + "koord-scheduler:10251/proxy").status, 404);
  EXPECT_EQ(ask(services + "nobody:1/proxy/healthz").status, 404);
}

// ---- Debug flags

TEST_F(SchedulerTest, DebugFlagsAnswerAsTheyAlwaysDid) {
  StartScheduler();
  const auto put = [&](const std::string& flag, const std::string& value) {
    const auto answer = Ask(api_, "PUT", "/debug/flags/" + flag, value);
    return fmt::format("{} {}", answer.status, answer.body);
  };
  EXPECT_EQ(put("s", "3"), "200 successfully set debugTopNScores to 3\n");
  EXPECT_THAT(put("s", "x"), StartsWith("400 failed set debugTopNScores x: "));
  for (const char* flag : {"f", "d", "db"}) {
    EXPECT_EQ(put(flag, "true"), "200 successfully set debugFilterFailure to true\n");
    EXPECT_THAT(put(flag, "x"), StartsWith("400 failed set debugFilterFailure x: "));
  }
  EXPECT_EQ(Ask(api_, "GET", "/debug/flags/s").status, 406);
  EXPECT_EQ(Ask(api_, "GET", "/debug/flags/s").body, "unsupported http method\n");
}

TEST_F(SchedulerTest, LogsScoresFilterFailuresAndDiagnoses) {
  CreateNode("small", "100m");
  CreateNode("big", "16");
  CreateNode("medium", "4");
  StartScheduler({.top_scores = 1, .filter_failures = true, .diagnosis = true});
  Settle();
  CreatePod("p", "1");
  Settle();
  EXPECT_THAT(log_, Contains(HasSubstr("Failed to filter for Pod \"default/p\" on Node \"small\" "
                                       "(pass 0), failedPlugin: NodeResourcesFit, reason: "
                                       "Insufficient cpu")));
  const auto table = std::ranges::find_if(log_, [](const std::string& line) {
    return line.find("Top1 scores for Pod: default/p, feasibleNodes: 2, plugins:[") !=
           std::string::npos;
  });
  ASSERT_NE(table, log_.end());
  const auto lines = Split(*table, '\n');
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(std::string(lines[1]), StartsWith("| # | Pod | Node | Score | "));
  EXPECT_THAT(std::string(lines[2]), StartsWith("| --- | --- | --- | ---:| ---:|"));
  EXPECT_THAT(std::string(lines[3]), StartsWith("| 0 | default/p | big | "));

  CreatePod("huge", "99");
  Settle();
  const auto dump = std::ranges::find_if(log_, [](const std::string& line) {
    return line.find("dump diagnosis for default/huge, targetPod: default/huge/") !=
           std::string::npos;
  });
  ASSERT_NE(dump, log_.end());
  const Json report = *kube::ParseJson(dump->substr(dump->find('$') + 1));
  EXPECT_EQ(kube::FindString(report, {"questionedKey"}), "default/huge");
  const Json& detail = report.at("scheduleDiagnosis").at("nodeFailedDetails").at(0);
  EXPECT_EQ(kube::FindString(detail, {"failedPlugin"}), "NodeResourcesFit");
  EXPECT_EQ(kube::FindString(detail, {"reason"}), "Insufficient cpu");
  EXPECT_EQ(detail.at("preemptMightHelp"), Json(false));
  EXPECT_THAT(Texts(detail.at("failedNodes")), UnorderedElementsAre("small", "big", "medium"));
}

// ---- Metrics

TEST_F(SchedulerTest, MeasuresItself) {
  CreateNode("a", "4");
  StartScheduler();
  Settle();
  CreatePod("p", "1");
  CreatePod("huge", "99");
  Settle();
  const std::string text = Ask(api_, "GET", "/metrics").body;
  for (
      const char* line : {
          R"(scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1)",
          R"(scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1)",
          R"(scheduler_pending_pods{queue="unschedulable"} 1)",
          R"(scheduler_pending_pods{queue="active"} 0)",
          R"(scheduler_cache_size{type="nodes"} 1)",
          R"(scheduler_cache_size{type="pods"} 1)",
          R"(scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1)",
          R"(scheduler_queue_incoming_pods_total{event="PodAdd",queue="active"} 2)",
          R"(scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"} 1)",
          R"(scheduler_pod_scheduling_attempts_bucket{le="1"} 1)",
          R"(scheduler_pod_scheduling_feasible_nodes_bucket{le="1"} 1)",
          R"(scheduler_pod_scheduling_evaluated_nodes_count 1)",
          R"(scheduler_plugin_evaluation_total{extension_point="Filter",plugin="NodeResourcesFit",profile="default-scheduler"} 2)",
          R"(scheduler_scheduling_attempt_duration_seconds_bucket{profile="default-scheduler",result="scheduled",le="0.001"})",
          R"(scheduler_framework_extension_point_duration_seconds_bucket{extension_point="Bind",profile="default-scheduler",status="Success",le="0.0001"})",
          R"(scheduler_plugin_execution_duration_seconds_count{extension_point="Filter",plugin="NodeResourcesFit",status="Success"} 1)",
          R"(scheduler_preemption_attempts_total 0)",
          R"(scheduler_goroutines{operation="binding"} 0)",
          "scheduler_waiting_gang_group_number 0",
      }) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  EXPECT_THAT(Ask(api_, "GET", "/metrics/resources").body,
              HasSubstr(R"(kube_pod_resource_request{namespace="default",node="a",pod="p",)"
                        R"(priority="0",resource="cpu",scheduler="default-scheduler",)"
                        R"(unit="cores"} 1)"));
}

// ---- Bad objects

TEST_F(SchedulerTest, ABadAnnotationShowsInOneEventOnItsObject) {
  CreateNode("good", "4");
  Create(kube::kNodes, "",
         "{metadata: {name: bad, annotations: {node.koordinator.sh/reservation: 'no json'}}, "
         "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}, conditions: [{type: Ready, "
         "status: \"True\"}]}}");
  StartScheduler();
  Settle();
  const auto events = [&] {
    std::vector<std::string> texts;
    const Json list = List("/apis/events.k8s.io/v1/events");
    for (const Json& event : list.at("items").as_array()) {
      if (kube::FindString(event, {"reason"}) != "InvalidConfiguration") continue;
      texts.push_back(fmt::format("{} {}/{}: {}", kube::FindString(event, {"type"}),
                                  kube::FindString(event, {"regarding", "kind"}),
                                  kube::FindString(event, {"regarding", "name"}),
                                  kube::FindString(event, {"note"})));
    }
    return texts;
  };
  ASSERT_EQ(events().size(), 1u);
  EXPECT_THAT(events()[0], StartsWith("Warning Node/bad: "));
  EXPECT_THAT(events()[0], HasSubstr("node.koordinator.sh/reservation"));

  bool patched = false;  // a heart-beat
  cluster_->client().Patch(kube::kNodes, {"", "bad"}, kube::PatchType::kMerge,
                           *kube::ParseJson(R"({"metadata":{"labels":{"x":"y"}}})"), {},
                           [&](const StatusOr<Json>&) { patched = true; });
  EXPECT_TRUE(loop_.RunUntil([&] { return patched; }, 10s));
  Settle();
  EXPECT_EQ(events().size(), 1u) << "it was said already";
  CreatePod("p", "3");
  CreatePod("q", "3");
  Settle();
  EXPECT_NE(NodeOf("p"), "");
  EXPECT_NE(NodeOf("q"), "") << "the bad node is as good as any";
}

// ---- RBAC

class SchedulerRoleTest : public SchedulerTest {
 protected:
  // One for a volume that there is, one for a volume that is to be made.
  void CreatePodWithClaims() {
    for (const auto& [name, provisioner] :
         {std::pair("found", "kubernetes.io/no-provisioner"), std::pair("made", "example.com/x")}) {
      Create(kube::kStorageClasses, "",
             fmt::format("{{metadata: {{name: {}}}, provisioner: {}, "
                         "volumeBindingMode: WaitForFirstConsumer}}",
                         name, provisioner));
      Create(kube::kPersistentVolumeClaims, "default",
             fmt::format("{{metadata: {{name: {0}}}, spec: {{storageClassName: {0}, accessModes: "
                         "[ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}",
                         name));
    }
    Create(kube::kPersistentVolumes, "",
           "{metadata: {name: v}, spec: {storageClassName: found, accessModes: [ReadWriteOnce], "
           "capacity: {storage: 1Gi}, hostPath: {path: /x}}}");
    CreatePod("writer", "100m",
              "volumes: [{name: a, persistentVolumeClaim: {claimName: found}}, "
              "{name: b, persistentVolumeClaim: {claimName: made}}],");
  }
};

TEST_F(SchedulerRoleTest, AllowsWhatItDoesAndNotMuchElse) {
  CreateNode("a", "4");
  Create(kube::kPriorityClasses, "", "{metadata: {name: high}, value: 1000}");
  StartScheduler();
  Settle();
  CreatePodWithClaims();
  CreatePod("low", "3");
  Settle();
  CreatePod("huge", "99");
  CreatePod("high", "3", "priorityClassName: high,");
  Settle();
  ASSERT_NE(
      kube::Find(List("/api/v1/namespaces/default/pods/low"), {"metadata", "deletionTimestamp"}),
      nullptr)
      << "preempted";

  const std::set<std::string> used = PermissionsFor(recording_->requests);
  const std::set<std::string> allowed = PermissionsIn(SourcePath("deploy/scheduler/rbac.yaml"));
  EXPECT_THAT(used, IsSubsetOf(allowed));
  const std::set<std::string> idle = IdlePermissions(allowed, used);
  // The program's shell sees to leases, callers and events of the election; pods are annotated
  // where a plugin has something to say and read where a binding's answer is lost, events patched
  // where they repeat, reservations and quotas written where there are any, pods evicted where a
  // quota gives back what it has borrowed.
  EXPECT_THAT(idle, IsSubsetOf(std::set<std::string>{
                        "create coordination.k8s.io/leases", "get coordination.k8s.io/leases",
                        "update coordination.k8s.io/leases", "create /events", "patch /events",
                        "patch events.k8s.io/events", "get /pods", "patch /pods",
                        "create authentication.k8s.io/tokenreviews",
                        "create authorization.k8s.io/subjectaccessreviews",
                        "delete scheduling.koordinator.sh/reservations",
                        "get scheduling.koordinator.sh/reservations", "create /pods/eviction",
                        "create scheduling.sigs.k8s.io/elasticquotas",
                        "patch scheduling.sigs.k8s.io/elasticquotas",
                        "patch scheduling.koordinator.sh/reservations",
                        "patch scheduling.koordinator.sh/reservations/status"}));
}

}  // namespace
}  // namespace koord::localcluster::scheduler_test
