// What a user of a local cluster sees of its nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "localcluster/controllers/cluster_testing.h"

namespace koord::localcluster::nodes_cluster_test {
namespace {

std::string ReadyOf(const kube::Json& node) {
  const auto* conditions = kube::FindArray(node, {"status", "conditions"});
  if (conditions == nullptr) return "";
  for (const kube::Json& condition : *conditions) {
    if (kube::FindString(condition, {"type"}) == "Ready") {
      return std::string(kube::FindString(condition, {"status"}));
    }
  }
  return "";
}

bool HasTaint(const kube::Json& node, std::string_view key, std::string_view effect) {
  const auto* taints = kube::FindArray(node, {"spec", "taints"});
  if (taints == nullptr) return false;
  return std::any_of(taints->begin(), taints->end(), [&](const kube::Json& taint) {
    return kube::FindString(taint, {"key"}) == key && kube::FindString(taint, {"effect"}) == effect;
  });
}

constexpr char kUnreachable[] = "node.kubernetes.io/unreachable";

TEST(NodesInCluster, RegisterWithAllTheirObjects) {
  TestCluster cluster({.nodes = 2, .shape = "cpu=8,memory=32Gi,gpu=2"});
  for (const char* path : {"/api/v1/nodes/node-1",
                           "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1",
                           "/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies/node-1",
                           "/apis/scheduling.koordinator.sh/v1alpha1/devices/node-1",
                           "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/node-1"}) {
    EXPECT_TRUE(cluster.Until([&] { return cluster.Exists(path); }, 5s)) << path;
  }
  EXPECT_EQ(ReadyOf(cluster.Get("/api/v1/nodes/node-1")), "True");
}

TEST(NodesInCluster, StayReady) {
  TestCluster cluster;
  cluster.Run(10min);
  for (const kube::Json& each : cluster.List("/api/v1/nodes")) EXPECT_EQ(ReadyOf(each), "True");
}

TEST(NodesInCluster, ReportWhatTheyHaveWhereSomethingElseIsStored) {
  TestCluster cluster({.nodes = 2, .shape = "cpu=8,memory=32Gi"});
  const std::string node = "/api/v1/nodes/node-1";
  cluster.Patch(node + "/status", R"({"status": {"capacity": {"memory": "1Gi"},
    "allocatable": {"cpu": "16", "kubernetes.io/batch-cpu": "3500"}}})");
  const auto is_raw = [&] {
    return kube::FindString(cluster.Get(node), {"status", "allocatable", "cpu"}) == "8";
  };
  EXPECT_FALSE(is_raw());
  ASSERT_TRUE(cluster.Until(is_raw, 6min));
  const kube::Json reported = cluster.Get(node);
  EXPECT_EQ(kube::FindString(reported, {"status", "capacity", "memory"}), "32Gi");
  EXPECT_EQ(kube::FindString(reported, {"status", "allocatable", "kubernetes.io/batch-cpu"}),
            "3500")
      << "which is somebody else's";
  cluster.Run(20min);
  EXPECT_EQ(kube::FindString(cluster.Get(node), {"metadata", "resourceVersion"}),
            kube::FindString(reported, {"metadata", "resourceVersion"}))
      << "what is right is not written again";
}

int NotReady(TestCluster& cluster) {
  return cluster.Count("/api/v1/nodes",
                       [](const kube::Json& node) { return ReadyOf(node) != "True"; });
}

// Whether anybody was told that a node is not ready.
bool WasAnyNotReady(TestCluster& cluster) {
  return cluster.Count("/api/v1/events", [](const kube::Json& event) {
    return kube::FindString(event, {"reason"}) == "NodeNotReady";
  }) > 0;
}

TEST(NodesInCluster, StayReadyWhenTheirMachineIsBusyElsewhere) {
  TestCluster cluster({.nodes = 30});
  for (const Duration late : {Duration(15s), Duration(55s), Duration(10min), Duration(3h)}) {
    cluster.Run(7s);
    cluster.loop().Stall(late);
    cluster.Run(2min);
  }
  EXPECT_EQ(NotReady(cluster), 0);
  EXPECT_FALSE(WasAnyNotReady(cluster));
}

TEST(NodesInCluster, StayReadyWhenEverythingIsAlwaysLate) {
  TestCluster cluster({.nodes = 30});
  for (int i = 0; i < 60; ++i) {
    cluster.loop().Stall(30s);
    cluster.Run(1s);
  }
  EXPECT_FALSE(WasAnyNotReady(cluster));
}

TEST(NodesInCluster, ASilentNodeIsNoticedAlsoAfterDelays) {
  TestCluster cluster({.nodes = 3});
  cluster.loop().Stall(10min);
  cluster.nodes().Fail("node-1");
  cluster.loop().Stall(10min);
  EXPECT_TRUE(cluster.Until(
      [&] { return ReadyOf(cluster.Get("/api/v1/nodes/node-1")) == "Unknown"; }, 70s));
  EXPECT_EQ(NotReady(cluster), 1);
}

TEST(NodesInCluster, ManyThatWereSilentComeBack) {
  constexpr int kNodes = 200;
  TestCluster cluster({.nodes = kNodes});
  for (int i = 0; i < kNodes; ++i) cluster.nodes().Fail(fmt::format("node-{:03}", i));
  ASSERT_TRUE(cluster.Until([&] { return NotReady(cluster) == kNodes; }, 3min));
  for (int i = 0; i < kNodes; ++i) cluster.nodes().Recover(fmt::format("node-{:03}", i));
  EXPECT_TRUE(cluster.Until(
      [&] {
        return cluster.Count("/api/v1/nodes", [](const kube::Json& node) {
          return ReadyOf(node) == "True" && !HasTaint(node, kUnreachable, "NoSchedule");
        }) == kNodes;
      },
      1min));
  cluster.Run(5min);
  EXPECT_EQ(NotReady(cluster), 0) << "and stay";
}

TEST(NodesInCluster, ASilentNodeLosesItsPods) {
  TestCluster cluster;
  cluster.Create(R"({apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web},
    spec: {replicas: 3, selector: {matchLabels: {app: web}},
      template: {metadata: {labels: {app: web}}, spec: {
        tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute,
                       tolerationSeconds: 60}],
        containers: [{name: c, image: i}]}}}})");
  ASSERT_TRUE(cluster.Until([&] { return cluster.RunningPods() == 3; }));
  cluster.nodes().Fail("node-1");
  const std::string node = "/api/v1/nodes/node-1";
  cluster.Run(39s);
  EXPECT_EQ(ReadyOf(cluster.Get(node)), "True") << "one missed heart-beat is no death";
  ASSERT_TRUE(cluster.Until([&] { return ReadyOf(cluster.Get(node)) == "Unknown"; }, 25s));
  ASSERT_TRUE(
      cluster.Until([&] { return HasTaint(cluster.Get(node), kUnreachable, "NoExecute"); }, 10s));
  EXPECT_TRUE(HasTaint(cluster.Get(node), kUnreachable, "NoSchedule"));
  EXPECT_EQ(cluster.Count(TestCluster::kPods,
                          [](const kube::Json& pod) {
                            return kube::Find(pod, {"metadata", "deletionTimestamp"}) != nullptr;
                          }),
            0)
      << "tolerated for a minute";
  EXPECT_TRUE(cluster.Until(
      [&] {
        return cluster.Count(TestCluster::kPods, [](const kube::Json& pod) {
          return TestCluster::IsRunning(pod) &&
                 kube::FindString(pod, {"spec", "nodeName"}) != "node-1";
        }) == 3;
      },
      75s));

  cluster.nodes().Recover("node-1");
  EXPECT_TRUE(cluster.Until(
      [&] {
        const kube::Json object = cluster.Get(node);
        return ReadyOf(object) == "True" && !HasTaint(object, kUnreachable, "NoExecute") &&
               !HasTaint(object, kUnreachable, "NoSchedule") && cluster.PodCount() == 3;
      },
      30s));
}

TEST(NodesInCluster, WhenAllFallSilentNothingIsDrivenAway) {
  TestCluster cluster;
  cluster.Create(R"({apiVersion: v1, kind: Pod, metadata: {name: p},
                     spec: {containers: [{name: c, image: i}]}})");
  ASSERT_TRUE(cluster.Until([&] { return cluster.RunningPods() == 1; }));
  for (const char* name : {"node-0", "node-1", "node-2"}) cluster.nodes().Fail(name);
  cluster.Run(30min);
  for (const kube::Json& node : cluster.List("/api/v1/nodes")) {
    EXPECT_EQ(ReadyOf(node), "Unknown");
    EXPECT_TRUE(HasTaint(node, kUnreachable, "NoSchedule"));
  }
  EXPECT_EQ(kube::Find(cluster.Get(std::string(TestCluster::kPods) + "/p"),
                       {"metadata", "deletionTimestamp"}),
            nullptr);
}

TEST(NodesInCluster, CordonedNodesAreTainted) {
  TestCluster cluster;
  cluster.Patch("/api/v1/nodes/node-0", R"({"spec":{"unschedulable":true}})");
  const auto tainted = [&] {
    return HasTaint(cluster.Get("/api/v1/nodes/node-0"), "node.kubernetes.io/unschedulable",
                    "NoSchedule");
  };
  EXPECT_TRUE(cluster.Until(tainted, 5s));
  cluster.Patch("/api/v1/nodes/node-0", R"({"spec":{"unschedulable":false}})");
  EXPECT_TRUE(cluster.Until([&] { return !tainted(); }, 5s));
}

TEST(NodesInCluster, ADeletedNodeTakesItsPodsAlong) {
  TestCluster cluster({.nodes = 1});
  cluster.Create(R"({apiVersion: v1, kind: Pod, metadata: {name: p},
                     spec: {containers: [{name: c, image: i}]}})");
  ASSERT_TRUE(cluster.Until([&] { return cluster.RunningPods() == 1; }));
  cluster.Delete("/api/v1/nodes/node-0");
  EXPECT_TRUE(cluster.Until([&] { return cluster.PodCount() == 0; }, 1min));
  cluster.Run(1min);
  EXPECT_FALSE(cluster.Exists("/api/v1/nodes/node-0")) << "it does not come back by itself";
  cluster.Boot();
  EXPECT_TRUE(cluster.Exists("/api/v1/nodes/node-0"));
}

TEST(NodesInCluster, RefuseWhatDoesNotFit) {
  TestCluster cluster({.nodes = 1});
  cluster.Create(R"({apiVersion: v1, kind: Pod, metadata: {name: p},
    spec: {nodeName: node-0,
           containers: [{name: c, image: i, resources: {requests: {cpu: "9"}}}]}})");
  const std::string path = std::string(TestCluster::kPods) + "/p";
  ASSERT_TRUE(cluster.Until(
      [&] {
        return kube::FindString(cluster.Get(path), {"status", "phase"}) == "Failed";
      },
      5s));
  EXPECT_EQ(kube::FindString(cluster.Get(path), {"status", "reason"}), "OutOfcpu");
}

TEST(NodesInCluster, HandWrittenNodesRunPodsToo) {
  TestCluster cluster({.nodes = 0, .adopt = true});
  cluster.Create(R"({apiVersion: v1, kind: Node, metadata: {name: mine},
                     status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}})");
  cluster.Create(R"({apiVersion: v1, kind: Pod, metadata: {name: p},
                     spec: {containers: [{name: c, image: i}]}})");
  EXPECT_TRUE(cluster.Until([&] { return cluster.RunningPods() == 1; }, 5s));
  cluster.Run(10min);
  EXPECT_EQ(ReadyOf(cluster.Get("/api/v1/nodes/mine")), "True");
  EXPECT_EQ(cluster.RunningPods(), 1);
}

TEST(NodesInCluster, FewerNodesAfterARestart) {
  TestCluster::Options options{.nodes = 3};
  TestCluster cluster(options);
  cluster.SetNodeCount(2);
  cluster.Boot();
  EXPECT_TRUE(cluster.Until([&] { return cluster.List("/api/v1/nodes").size() == 2; }, 5s));
}

}  // namespace
}  // namespace koord::localcluster::nodes_cluster_test
