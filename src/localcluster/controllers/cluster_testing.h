#pragma once
// For tests: a whole cluster (API server, controllers, nodes, scheduler) on virtual time.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/crds.h"
#include "kube/transport/fault_transport.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"
#include "localcluster/apiserver/server_testing.h"
#include "localcluster/controllers/controller_manager.h"
#include "localcluster/controllers/volumes/default_class.h"
#include "localcluster/nodes/simulated_nodes.h"
#include "localcluster/scheduler/local_scheduler.h"
#include "program/component_api.h"

namespace koord::localcluster {

// Everything that can go wrong between a client and the server does, now and then.
inline constexpr kube::Faults kBadDay{.refused = 0.03,
                                      .lost_answer = 0.05,
                                      .duplicate = 0.03,
                                      .delay = 0.1,
                                      .conflict = 0.05,
                                      .too_many_requests = 0.02,
                                      .internal_error = 0.05,
                                      .dropped_watch = 0.02};

class TestCluster {
 public:
  struct Options {
    int nodes = 3;
    std::string shape = "cpu=8,memory=32Gi";
    bool adopt = false;
    uint64_t seed = 1;
    kube::Faults faults;
  };

  TestCluster() : TestCluster(Options{}) {}
  explicit TestCluster(Options options) : options_(std::move(options)) {
    InstallDefinitions();
    server_.Post(kStorageClasses, StandardStorageClass());
    Boot();
  }

  // Starts everything but the API server, or starts it again as after a crash.
  void Boot() {
    parts_.reset();
    parts_.emplace(server_, options_);
    const auto ready = [this] {
      return parts_->informers.synced() && parts_->scheduler->synced() && parts_->nodes.ready() &&
             parts_->controllers.idle();
    };
    EXPECT_TRUE(loop().RunUntil(ready, std::chrono::minutes(5))) << "the cluster does not start";
  }
  void Crash() { parts_.reset(); }
  // From the next Boot on.
  void SetNodeCount(int nodes) { options_.nodes = nodes; }

  VirtualLoop& loop() { return server_.loop; }
  WallTime now() { return loop().clock().Now(); }
  apiserver::TestServer& server() { return server_; }
  SimulatedNodes& nodes() { return parts_->nodes; }
  ClusterInformers& informers() { return parts_->informers; }
  void SetFaults(const kube::Faults& faults) { parts_->transport->SetFaults(faults); }

  void Run(Duration span) { loop().Advance(span); }
  bool Until(const std::function<bool()>& done, Duration horizon = std::chrono::minutes(5)) {
    return loop().RunUntil(done, horizon);
  }

  // The collection that a manifest belongs to: "/apis/apps/v1/namespaces/default/deployments".
  static std::string PathOf(const kube::Json& object) {
    const std::string api_version(kube::FindString(object, {"apiVersion"}));
    std::string plural = ToLower(kube::FindString(object, {"kind"})) + "s";
    const bool cluster = plural == "nodes" || plural == "namespaces" ||
                         plural == "customresourcedefinitions" || plural == "devices" ||
                         plural == "persistentvolumes";
    std::string ns(kube::FindString(object, {"metadata", "namespace"}));
    if (ns.empty()) ns = "default";
    return (api_version == "v1" ? "/api/v1" : "/apis/" + api_version) +
           (cluster ? "" : "/namespaces/" + ns) + "/" + plural;
  }

  // A YAML manifest.
  void Create(std::string_view manifest) {
    const auto object = kube::ParseYaml(manifest);
    ASSERT_TRUE(object.ok()) << Message(object.status());
    const auto answer = server_.Post(PathOf(*object), *object);
    ASSERT_EQ(answer.code, 201) << answer.body;
  }
  void Patch(const std::string& path, std::string_view patch) {
    const auto answer = server_.MergePatch(path, apiserver::Parse(patch));
    ASSERT_EQ(answer.code, 200) << answer.body;
  }
  void Delete(const std::string& path, std::string_view options = "") {
    const auto answer =
        server_.Delete(path, options.empty() ? kube::Json(nullptr) : apiserver::Parse(options));
    ASSERT_EQ(answer.code, 200) << answer.body;
  }
  kube::Json Get(const std::string& path) { return server_.Get(path).json; }
  bool Exists(const std::string& path) { return server_.Get(path).code == 200; }

  // What a collection holds, as the API shows it.
  std::vector<kube::Json> List(const std::string& path) {
    std::vector<kube::Json> items;
    const kube::Json list = Get(path);
    if (const auto* array = kube::FindArray(list, {"items"})) {
      items.assign(array->begin(), array->end());
    }
    return items;
  }
  int Count(const std::string& path, const std::function<bool(const kube::Json&)>& matches) {
    int count = 0;
    for (const kube::Json& item : List(path)) count += matches(item);
    return count;
  }

  static constexpr char kStorageClasses[] = "/apis/storage.k8s.io/v1/storageclasses";
  static constexpr char kPods[] = "/api/v1/namespaces/default/pods";
  static bool IsRunning(const kube::Json& pod) {
    return kube::FindString(pod, {"status", "phase"}) == "Running" &&
           kube::Find(pod, {"metadata", "deletionTimestamp"}) == nullptr;
  }
  int RunningPods() { return Count(kPods, IsRunning); }
  int PodCount() { return static_cast<int>(List(kPods).size()); }

 private:
  struct Parts {
    Parts(apiserver::TestServer& server, const Options& options)
        : random(options.seed),
          transport(std::make_shared<kube::FaultTransport>(
              server.loop, std::make_shared<kube::InProcessTransport>(server.loop, *server.server),
              options.seed, options.faults)),
          client(server.loop, transport, {.user_agent = "controllers", .qps = 0}),
          informers(client, options.seed),
          recorders(client, options.seed),
          context{client, informers, random, recorders},
          controllers(context, options.seed),
          scheduler(*MakeLocalScheduler(client.loop(), client, api, options.seed)),
          nodes(context, client, NodeOptions(options)) {
      controllers.Start();
      nodes.Start();
      informers.Start();
      scheduler->Watch();
      scheduler->Lead();
    }

    static SimulatedNodesOptions NodeOptions(const Options& options) {
      SimulatedNodesOptions nodes;
      const std::vector<NodeShape> shapes = {*ParseNodeShape(options.shape)};
      nodes.nodes = *PlanNodes(options.nodes, shapes);
      nodes.adopt = options.adopt;
      nodes.seed = options.seed;
      return nodes;
    }

    Random random;
    std::shared_ptr<kube::FaultTransport> transport;
    kube::Client client;
    ClusterInformers informers;
    kube::EventRecorders recorders;
    ControllerContext context;
    ControllerManager controllers;
    program::ComponentApi api;
    std::unique_ptr<scheduler::SchedulerApp> scheduler;
    SimulatedNodes nodes;
  };

  void InstallDefinitions() {
    for (const EmbeddedFile& file : api::CustomResourceDefinitions()) {
      const auto documents = kube::ParseYamlDocuments(file.text);
      ASSERT_TRUE(documents.ok()) << file.name << ": " << Message(documents.status());
      for (const kube::YamlDocument& document : *documents) {
        if (document.value.is_null()) continue;
        const auto answer = server_.Post(PathOf(document.value), document.value);
        ASSERT_EQ(answer.code, 201) << file.name << ": " << answer.body;
      }
    }
  }

  Options options_;
  apiserver::TestServer server_;
  std::optional<Parts> parts_;
};

}  // namespace koord::localcluster
