// koordlet at work for a node of a cluster of its own: what it asks for, reports and does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/resources.h"
#include "base/source_dir/source_dir.h"
#include "base/virtual_loop.h"
#include "koordlet/agent/koordlet.h"
#include "koordlet/informers/node_watches.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"
#include "localcluster/assembly/local_cluster.h"
#include "localcluster/assembly/object_testing.h"
#include "localcluster/assembly/permissions_testing.h"

namespace koord::localcluster::koordlet_test {
namespace {

using koordlet::CgroupFile;
using koordlet::Koordlet;
using koordlet::NodeWatches;
using koordlet::TestHost;
using kube::Json;
using testing::IsSubsetOf;

constexpr char kNode[] = R"(
metadata: {name: n}
status:
  capacity: {cpu: "8", memory: 32Gi, pods: "110"}
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
)";

// A machine in memory that is a node of the cluster.
class KoordletInClusterTest : public testing::Test {
 protected:
  KoordletInClusterTest() {
    LocalClusterOptions options;
    options.nodes = 0;
    options.without = {"nodes", "scheduler", "manager"};
    cluster_ = *LocalCluster::Start(loop_, options);
    EXPECT_TRUE(loop_.RunUntil([&] { return cluster_->ready(); }, 1min));
    recording_ = std::make_unique<Recording>(cluster_->handler());
    client_ = std::make_unique<kube::Client>(
        loop_, std::make_shared<kube::InProcessTransport>(loop_, *recording_),
        kube::Client::Options{.user_agent = "koordlet", .qps = 20, .burst = 30});
    Create(kube::kNodes, "", kNode);
    Create(api::kNodeMetrics, "", "{metadata: {name: n}, spec: {}}");
  }

  void StartKoordlet() {
    koordlet::KoordletOptions options;
    options.node_name = "n";
    options.ask_kubelet_config = false;
    koordlet_ =
        std::make_unique<Koordlet>(loop_, machine_.host(), *client_, options, Koordlet::Parts{});
    NodeWatches::Listeners listeners;
    listeners.node = [this](const auto& node) { koordlet_->OnNode(node); };
    listeners.slo = [this](const auto& slo) { koordlet_->OnNodeSlo(slo); };
    listeners.metric = [this](const auto& metric) { koordlet_->OnNodeMetric(metric); };
    listeners.topology = [this](const auto& topology) { koordlet_->OnTopology(topology); };
    listeners.pods = [this](const auto& pods) { koordlet_->OnPods(pods); };
    watches_ = std::make_unique<NodeWatches>(*client_, "n", std::move(listeners), 1);
    watches_->Start();
    koordlet_->Start();
  }

  Json Create(const kube::Resource& resource, const std::string& ns, const std::string& yaml) {
    Json created;
    bool done = false;
    cluster_->client().Create(resource, ns, ObjectFromYaml(resource, yaml), {},
                              [&](const StatusOr<Json>& answer) {
                                EXPECT_TRUE(answer.ok()) << Message(answer.status());
                                if (answer.ok()) created = *answer;
                                done = true;
                              });
    EXPECT_TRUE(loop_.RunUntil([&] { return done; }, 10s));
    return created;
  }
  Json Get(const kube::Resource& resource, const std::string& name) {
    Json found;
    bool done = false;
    cluster_->client().Get(resource, {"", name}, [&](const StatusOr<Json>& answer) {
      EXPECT_TRUE(answer.ok()) << Message(answer.status());
      if (answer.ok()) found = *answer;
      done = true;
    });
    EXPECT_TRUE(loop_.RunUntil([&] { return done; }, 10s));
    return found;
  }

  VirtualLoop loop_;
  TestHost machine_;
  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<Koordlet> koordlet_;
  std::unique_ptr<NodeWatches> watches_;
};

TEST_F(KoordletInClusterTest, ReportsItsNode) {
  StartKoordlet();
  ASSERT_TRUE(loop_.RunUntil([&] { return koordlet_->acting(); }, 1min));
  loop_.Advance(3min);
  const auto topology =
      *kube::Decode<api::NodeResourceTopology>(Get(api::kNodeResourceTopologies, "n"));
  EXPECT_EQ(topology.zones.size(), 1u);
  EXPECT_EQ(topology.metadata.owner_references.size(), 1u);
  EXPECT_TRUE(topology.metadata.annotations.contains("node.koordinator.sh/cpu-topology"));
  const auto metric = *kube::Decode<api::NodeMetric>(Get(api::kNodeMetrics, "n"));
  ASSERT_TRUE(metric.status.update_time.has_value());
  EXPECT_LT(loop_.clock().Now() - *metric.status.update_time, 61s);
  recording_->requests.clear();
  loop_.Advance(10min);
  const auto is_watch = [](const std::string& request) {
    return request.find("watch=") != std::string::npos;
  };
  const auto watches =
      std::count_if(recording_->requests.begin(), recording_->requests.end(), is_watch);
  EXPECT_LE(static_cast<ptrdiff_t>(recording_->requests.size()) - watches, 11)
      << "a quiet node costs the API server a report a minute, and its watches now and then";
  EXPECT_LE(watches, 10);
}

TEST_F(KoordletInClusterTest, FollowsNodeSloAndPods) {
  Create(api::kNodeSlos, "",
         "{metadata: {name: n}, spec: {resourceUsedThresholdWithBE: {enable: true, "
         "cpuSuppressPolicy: cfsQuota}}}");
  const Json pod = Create(kube::kPods, "default",
                          "{metadata: {name: batch, labels: {koordinator.sh/qosClass: BE}}, spec: "
                          "{nodeName: n, containers: [{name: main, image: x}]}}");
  machine_.AddPod(*std::make_shared<const kube::Pod>(*kube::Decode<kube::Pod>(pod)));
  StartKoordlet();
  ASSERT_TRUE(loop_.RunUntil([&] { return koordlet_->acting(); }, 1min));
  ASSERT_EQ(koordlet_->state().pods()->size(), 1u);
  for (int second = 0; second < 20; ++second) {
    machine_.UseCpu("system.slice", 3s);
    loop_.Advance(1s);
  }
  const koordlet::CgroupDir dir =
      machine_.host().cgroups().layout().QosDir(kube::PodQos::kBestEffort);
  const auto quota = machine_.host().cgroups().ReadCpuQuota(dir);
  ASSERT_TRUE(quota.ok());
  // 8 cores * 65 % - 3 of the system = 2.2 cores.
  EXPECT_NEAR(static_cast<double>(quota->value()), 220000, 2000);
}

TEST_F(KoordletInClusterTest, ItsRoleAllowsWhatItDoesAndNotMuchElse) {
  StartKoordlet();
  ASSERT_TRUE(loop_.RunUntil([&] { return koordlet_->acting(); }, 1min));
  loop_.Advance(2min);
  cluster_->client().Patch(kube::kNodes, {"", "n"}, kube::PatchType::kMerge,
                           *kube::ParseJson(R"({"metadata":{"annotations":{
                             "node.koordinator.sh/reservation":"{\"reservedCPUs\":\"0\"}"}}})"),
                           {}, [](const StatusOr<Json>&) {});
  loop_.Advance(2min);
  const std::set<std::string> used = PermissionsFor(recording_->requests);
  const std::set<std::string> allowed = PermissionsIn(SourcePath("deploy/koordlet/rbac.yaml"));
  EXPECT_THAT(used, IsSubsetOf(allowed));
  // The kubelet checks what is about nodes, the program's shell sees to callers; devices are
  // reported where there are any, evictions and events come with trouble.
  EXPECT_THAT(
      IdlePermissions(allowed, used),
      IsSubsetOf(std::set<std::string>{
          "get /nodes/pods", "get /nodes/configz", "create authentication.k8s.io/tokenreviews",
          "create authorization.k8s.io/subjectaccessreviews", "create /pods/eviction",
          "create /events", "patch /events", "create scheduling.koordinator.sh/devices",
          "list scheduling.koordinator.sh/devices", "patch scheduling.koordinator.sh/devices",
          "watch scheduling.koordinator.sh/devices"}));
}

}  // namespace
}  // namespace koord::localcluster::koordlet_test
