#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "kube/client/client.h"
#include "kube/client/in_process_transport.h"
#include "localcluster/apiserver/test_server.h"
#include "localcluster/scheduling/local_scheduler.h"
#include "localcluster/scheduling/simulation_world_testing.h"
#include "scheduler/config/scheduler_gates.h"

// Room that is promised to an important pod keeps others out. When the promise ends, those who fit
// now are tried at once: long before the queue's periodic flush after five minutes.
namespace koord::localcluster {
namespace {

using kube::Json;
using kube::json::array;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr Duration kSoon = 30s;

class PromisedRoom : public ::testing::Test {
 protected:
  void SetUp() override {
    simulation::InstallNodeMetrics(server_);
    auto app = scheduler::SchedulerApp::Make(server_.loop, client_,
                                             {.configuration = LocalSchedulerConfiguration(),
                                              .gates = scheduler::SchedulerFeatureGates()});
    ASSERT_TRUE(app.ok()) << Message(app.status());
    app_ = std::move(*app);
    app_->Watch();
    app_->Lead();
    Create("/apis/scheduling.k8s.io/v1/priorityclasses",
           {{"metadata", {{"name", "high"}}}, {"value", 1000}});
    // 2 of its 4 CPUs are taken by somebody whom nobody can displace.
    AddNode("n1");
    Json filler = Pod("filler", "high", "2");
    kube::At(filler, {"spec", "nodeName"}) = "n1";
    Create(kPods, std::move(filler));
    // Promised 3 of them, which are not there; and it may not be tried yet.
    Json promised = Pod("promised", "high", "3");
    kube::At(promised, {"spec", "schedulingGates"}) = array{{{"name", "example.com/wait"}}};
    Create(kPods, std::move(promised));
    Patch("/promised/status", {{"status", {{"nominatedNodeName", "n1"}}}});
    Json low = Pod("low", "", "1500m");
    kube::At(low, {"spec", "nodeSelector", "kubernetes.io/hostname"}) = "n1";
    Create(kPods, std::move(low));
    server_.loop.Advance(kSoon);
    ASSERT_EQ(NodeOf("low"), "");
  }

  void AddNode(const std::string& name) {
    const Json resources{{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "10"}};
    Create("/api/v1/nodes",
           {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
            {"status",
             {{"capacity", resources},
              {"allocatable", resources},
              {"conditions", array{{{"type", "Ready"}, {"status", "True"}}}}}}});
  }

  static Json Pod(std::string_view name, std::string_view priority_class, std::string_view cpu) {
    return {{"metadata", {{"name", name}}},
            {"spec",
             {{"priorityClassName", priority_class},
              {"containers", array{{{"name", "c"},
                                    {"image", "i"},
                                    {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}}};
  }

  void Create(const std::string& target, Json object) {
    const auto answer = server_.Post(target, object);
    EXPECT_EQ(answer.code, 201) << answer.body;
  }
  void Patch(const std::string& pod, const Json& patch) {
    const auto answer = server_.MergePatch(kPods + pod, patch);
    EXPECT_EQ(answer.code, 200) << answer.body;
  }
  std::string NodeOf(const std::string& pod) {
    return std::string(server_.Get(fmt::format("{}/{}", kPods, pod)).String({"spec", "nodeName"}));
  }
  void LetPromisedGo() {
    Patch("/promised", {{"spec", {{"schedulingGates", nullptr}}}});
    server_.loop.Advance(kSoon);
  }

  apiserver::TestServer server_;
  kube::Client client_{server_.loop,
                       std::make_shared<kube::InProcessTransport>(server_.loop, *server_.server),
                       {.user_agent = "test", .qps = 0}};
  std::unique_ptr<scheduler::SchedulerApp> app_;
};

TEST_F(PromisedRoom, IsFreeWhenItsOwnerCannotUseIt) {
  LetPromisedGo();
  EXPECT_EQ(NodeOf("promised"), "");
  EXPECT_EQ(NodeOf("low"), "n1");
}

TEST_F(PromisedRoom, IsFreeWhenItsOwnerGoesElsewhere) {
  AddNode("n2");
  LetPromisedGo();
  EXPECT_EQ(NodeOf("promised"), "n2");
  EXPECT_EQ(NodeOf("low"), "n1");
}

}  // namespace
}  // namespace koord::localcluster
