// What a user of a local cluster sees of workloads: manifests in, pods out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "localcluster/controllers/cluster_testing.h"

namespace koord::localcluster::workloads_cluster_test {
namespace {

constexpr char kDeployments[] = "/apis/apps/v1/namespaces/default/deployments";
constexpr char kReplicaSets[] = "/apis/apps/v1/namespaces/default/replicasets";
constexpr char kJobs[] = "/apis/batch/v1/namespaces/default/jobs";

constexpr std::string_view kWeb = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: "web:1", resources: {requests: {cpu: 100m}}}]
)";

std::string Reason(const kube::Json& object, std::string_view type) {
  const auto* conditions = kube::FindArray(object, {"status", "conditions"});
  if (conditions == nullptr) return "";
  for (const kube::Json& condition : *conditions) {
    if (kube::FindString(condition, {"type"}) == type) {
      return std::string(kube::FindString(condition, {"status"})) + " " +
             std::string(kube::FindString(condition, {"reason"}));
    }
  }
  return "";
}

// What `kubectl rollout status` waits for.
bool IsRolledOut(const kube::Json& d) {
  const int64_t replicas = kube::FindInt(d, {"spec", "replicas"});
  return kube::FindInt(d, {"status", "observedGeneration"}) >=
             kube::FindInt(d, {"metadata", "generation"}) &&
         kube::FindInt(d, {"status", "updatedReplicas"}) == replicas &&
         kube::FindInt(d, {"status", "replicas"}) == replicas &&
         kube::FindInt(d, {"status", "availableReplicas"}) == replicas;
}

class DeploymentInCluster : public ::testing::Test {
 protected:
  bool RolledOut() {
    return cluster_.Until([&] { return IsRolledOut(Web()); });
  }
  kube::Json Web() { return cluster_.Get(std::string(kDeployments) + "/web"); }
  std::string WebPath() { return std::string(kDeployments) + "/web"; }
  int PodsOf(std::string_view image) {
    return cluster_.Count(TestCluster::kPods, [&](const kube::Json& pod) {
      return kube::FindString(pod.at("spec").at("containers").at(0), {"image"}) == image;
    });
  }

  TestCluster cluster_;
};

TEST_F(DeploymentInCluster, RunsItsReplicasSpreadOverNodes) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut()) << kube::Serialize(Web());
  EXPECT_EQ(cluster_.RunningPods(), 4);
  EXPECT_EQ(Reason(Web(), "Available"), "True MinimumReplicasAvailable");
  EXPECT_EQ(Reason(Web(), "Progressing"), "True NewReplicaSetAvailable");
  std::set<std::string_view> nodes, addresses;
  const auto pods = cluster_.List(TestCluster::kPods);
  for (const kube::Json& pod : pods) {
    nodes.insert(kube::FindString(pod, {"spec", "nodeName"}));
    addresses.insert(kube::FindString(pod, {"status", "podIP"}));
  }
  EXPECT_EQ(nodes.size(), 3u);
  EXPECT_EQ(addresses.size(), 4u);
}

TEST_F(DeploymentInCluster, ScalesUpAndDown) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  cluster_.Patch(WebPath(), R"({"spec":{"replicas":7}})");
  ASSERT_TRUE(RolledOut());
  EXPECT_EQ(cluster_.RunningPods(), 7);
  cluster_.Patch(WebPath(), R"({"spec":{"replicas":1}})");
  ASSERT_TRUE(RolledOut());
  EXPECT_TRUE(cluster_.Until([&] { return cluster_.PodCount() == 1; }));
}

TEST_F(DeploymentInCluster, RollsWithinItsLimitsAndBack) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  cluster_.Patch(WebPath(), R"({"spec":{"strategy":{"rollingUpdate":{"maxSurge":1,
                                "maxUnavailable":0}},
      "template":{"spec":{"containers":[{"name":"c","image":"web:2"}]}}}})");
  int least = 100, most = 0;
  ASSERT_TRUE(cluster_.Until([&] {
    const int running = cluster_.RunningPods();
    least = std::min(least, running);
    most = std::max(most, cluster_.Count(TestCluster::kPods, [](const kube::Json& pod) {
      return kube::Find(pod, {"metadata", "deletionTimestamp"}) == nullptr;
    }));
    return IsRolledOut(Web());
  }));
  EXPECT_GE(least, 4);
  EXPECT_LE(most, 5);
  EXPECT_EQ(PodsOf("web:2"), 4);
  EXPECT_EQ(
      kube::FindString(Web(), {"metadata", "annotations", "deployment.kubernetes.io/revision"}),
      "2");
  // What `kubectl rollout undo` does.
  cluster_.Patch(WebPath(),
                 R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"web:1",
                     "resources":{"requests":{"cpu":"100m"}}}]}}}})");
  ASSERT_TRUE(RolledOut());
  EXPECT_EQ(PodsOf("web:1"), 4);
  EXPECT_EQ(cluster_.List(kReplicaSets).size(), 2u) << "the first set is used again";
  EXPECT_EQ(
      kube::FindString(Web(), {"metadata", "annotations", "deployment.kubernetes.io/revision"}),
      "3");
}

TEST_F(DeploymentInCluster, RecreateNeverRunsBothVersions) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  cluster_.Patch(WebPath(),
                 R"({"spec":{"strategy":{"type":"Recreate","rollingUpdate":null},
                     "template":{"spec":{"containers":[{"name":"c","image":"web:2"}]}}}})");
  ASSERT_TRUE(cluster_.Until([&] {
    EXPECT_FALSE(PodsOf("web:1") > 0 && PodsOf("web:2") > 0);
    return IsRolledOut(Web()) && PodsOf("web:2") == 4;
  }));
}

TEST_F(DeploymentInCluster, SaysWhenItGetsNowhere) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  cluster_.Patch(WebPath(), R"({"spec":{"progressDeadlineSeconds":60,
      "template":{"spec":{"containers":[{"name":"c","image":"web:2",
        "resources":{"requests":{"cpu":"1000"}}}]}}}})");
  EXPECT_TRUE(cluster_.Until(
      [&] { return Reason(Web(), "Progressing") == "False ProgressDeadlineExceeded"; }, 3min));
  EXPECT_GE(cluster_.RunningPods(), 3) << "at least 75 % of the old ones stay";
}

TEST_F(DeploymentInCluster, LostPodsComeBack) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  const kube::Json victim = cluster_.List(TestCluster::kPods)[0];
  const std::string name(kube::FindString(victim, {"metadata", "name"}));
  cluster_.Delete(std::string(TestCluster::kPods) + "/" + name);
  EXPECT_TRUE(cluster_.Until([&] {
    return cluster_.RunningPods() == 4 && cluster_.PodCount() == 4 &&
           !cluster_.Exists(std::string(TestCluster::kPods) + "/" + name);
  }));
}

TEST_F(DeploymentInCluster, DeletionTakesAllThatItMade) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  cluster_.Delete(WebPath());
  EXPECT_TRUE(cluster_.Until(
      [&] { return cluster_.List(kReplicaSets).empty() && cluster_.PodCount() == 0; }, 30s));
}

TEST_F(DeploymentInCluster, ForegroundDeletionTakesThePodsFirst) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  cluster_.Delete(WebPath(), R"({"propagationPolicy":"Foreground"})");
  ASSERT_TRUE(cluster_.Until(
      [&] {
        const bool there = cluster_.Exists(WebPath());
        EXPECT_TRUE(there || cluster_.List(kReplicaSets).empty())
            << "sets outlive their deployment";
        return !there;
      },
      30s));
  EXPECT_EQ(cluster_.PodCount(), 0);
}

TEST_F(DeploymentInCluster, OrphansOutliveTheirOwner) {
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  cluster_.Delete(WebPath(), R"({"propagationPolicy":"Orphan"})");
  ASSERT_TRUE(cluster_.Until([&] { return !cluster_.Exists(WebPath()); }, 30s));
  cluster_.Run(1min);
  ASSERT_EQ(cluster_.List(kReplicaSets).size(), 1u);
  EXPECT_EQ(kube::Find(cluster_.List(kReplicaSets)[0], {"metadata", "ownerReferences"}), nullptr);
  EXPECT_EQ(cluster_.RunningPods(), 4);
  // A deployment of the same name takes over what it finds.
  cluster_.Create(kWeb);
  ASSERT_TRUE(RolledOut());
  EXPECT_EQ(cluster_.List(kReplicaSets).size(), 1u);
}

TEST_F(DeploymentInCluster, CarriesOnAfterACrash) {
  cluster_.Create(kWeb);
  cluster_.Run(200ms);
  cluster_.Crash();
  cluster_.Patch(WebPath(), R"({"spec":{"replicas":6}})");
  cluster_.Boot();
  ASSERT_TRUE(RolledOut());
  EXPECT_EQ(cluster_.RunningPods(), 6);
  EXPECT_EQ(cluster_.List(kReplicaSets).size(), 1u);
}

TEST(WorkloadsInCluster, JobsRunToCompletion) {
  TestCluster cluster;
  cluster.Create(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: sum}
spec:
  completions: 5
  parallelism: 2
  template:
    metadata: {annotations: {local.koordinator.sh/run-duration: 10s}}
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
)");
  const std::string path = std::string(kJobs) + "/sum";
  const auto complete = [&] {
    EXPECT_LE(cluster.RunningPods(), 2);
    return Reason(cluster.Get(path), "Complete") == "True CompletionsReached";
  };
  ASSERT_TRUE(cluster.Until(complete, 2min)) << kube::Serialize(cluster.Get(path));
  EXPECT_EQ(kube::FindInt(cluster.Get(path), {"status", "succeeded"}), 5);
  EXPECT_EQ(cluster.PodCount(), 5);
  cluster.Delete(path);
  EXPECT_TRUE(cluster.Until([&] { return cluster.PodCount() == 0; }, 30s))
      << "no finalizer holds them back";
}

TEST(WorkloadsInCluster, JobsThatFailGiveUp) {
  TestCluster cluster;
  cluster.Create(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: 1
  ttlSecondsAfterFinished: 60
  template:
    metadata:
      annotations: {local.koordinator.sh/run-duration: 1s, local.koordinator.sh/exit-code: "7"}
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
)");
  const std::string path = std::string(kJobs) + "/bad";
  ASSERT_TRUE(cluster.Until(
      [&] { return Reason(cluster.Get(path), "Failed") == "True BackoffLimitExceeded"; }, 2min));
  EXPECT_EQ(kube::FindInt(cluster.Get(path), {"status", "failed"}), 2);
  EXPECT_TRUE(cluster.Until([&] { return !cluster.Exists(path) && cluster.PodCount() == 0; }, 2min))
      << "its time is over";
}

TEST(WorkloadsInCluster, DaemonSetsFollowTheNodes) {
  TestCluster cluster({.nodes = 3, .adopt = true});
  cluster.Create(R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: "agent:1"}]}
)");
  ASSERT_TRUE(cluster.Until([&] { return cluster.RunningPods() == 3; }));
  cluster.Create(R"(
apiVersion: v1
kind: Node
metadata: {name: extra}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
)");
  ASSERT_TRUE(cluster.Until([&] { return cluster.RunningPods() == 4; }));
  cluster.Delete("/api/v1/nodes/extra");
  EXPECT_TRUE(cluster.Until([&] { return cluster.PodCount() == 3; }, 2min));
  cluster.Patch(
      "/apis/apps/v1/namespaces/default/daemonsets/agent",
      R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"agent:2"}]}}}})");
  EXPECT_TRUE(cluster.Until([&] {
    const kube::Json set = cluster.Get("/apis/apps/v1/namespaces/default/daemonsets/agent");
    return kube::FindInt(set, {"status", "updatedNumberScheduled"}) == 3 &&
           kube::FindInt(set, {"status", "numberAvailable"}) == 3;
  }));
}

TEST(WorkloadsInCluster, StatefulSetsKeepNamesAndOrder) {
  TestCluster cluster;
  cluster.Create(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: "db:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)");
  const std::string set = "/apis/apps/v1/namespaces/default/statefulsets/db";
  const auto pod = [&](int i) {
    return std::string(TestCluster::kPods) + "/db-" + std::to_string(i);
  };
  ASSERT_TRUE(cluster.Until([&] {
    EXPECT_FALSE(cluster.Exists(pod(1)) && !TestCluster::IsRunning(cluster.Get(pod(0))));
    return cluster.RunningPods() == 3;
  }));
  EXPECT_TRUE(cluster.Exists("/api/v1/namespaces/default/persistentvolumeclaims/data-db-2"));
  cluster.Patch(set,
                R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"db:2"}]}}}})");
  ASSERT_TRUE(cluster.Until([&] {
    const kube::Json object = cluster.Get(set);
    return kube::FindInt(object, {"status", "updatedReplicas"}) == 3 &&
           kube::FindInt(object, {"status", "readyReplicas"}) == 3 &&
           kube::FindString(object, {"status", "currentRevision"}) ==
               kube::FindString(object, {"status", "updateRevision"});
  })) << kube::Serialize(cluster.Get(set));
  cluster.Patch(set, R"({"spec":{"replicas":1}})");
  EXPECT_TRUE(cluster.Until([&] { return cluster.PodCount() == 1; }));
  EXPECT_TRUE(cluster.Exists(pod(0)));
}

TEST(WorkloadsInCluster, BudgetsDecideEvictions) {
  TestCluster cluster;
  cluster.Create(kWeb);
  cluster.Create(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
)");
  const std::string budget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web";
  const auto allowed = [&] {
    return kube::FindInt(cluster.Get(budget), {"status", "disruptionsAllowed"});
  };
  ASSERT_TRUE(cluster.Until([&] { return allowed() == 1; }));
  const auto pods = cluster.List(TestCluster::kPods);
  const auto evict = [&](const kube::Json& pod) {
    const std::string name(kube::FindString(pod, {"metadata", "name"}));
    return cluster.server()
        .Post(std::string(TestCluster::kPods) + "/" + name + "/eviction",
              {{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}}}})
        .code;
  };
  EXPECT_EQ(evict(pods[0]), 201);
  EXPECT_EQ(evict(pods[1]), 429);
  ASSERT_TRUE(cluster.Until([&] { return allowed() == 1; }, 1min));
  EXPECT_EQ(evict(pods[1]), 201);
}

TEST(WorkloadsInCluster, NamespacesAreEmptiedAndGo) {
  TestCluster cluster;
  cluster.Create("{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
  ASSERT_TRUE(cluster.Until(
      [&] { return cluster.Exists("/api/v1/namespaces/team/serviceaccounts/default"); }, 5s));
  cluster.Create(R"({apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}})");
  cluster.Create(R"({apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team},
                     spec: {containers: [{name: c, image: i}]}})");
  ASSERT_TRUE(cluster.Until(
      [&] { return TestCluster::IsRunning(cluster.Get("/api/v1/namespaces/team/pods/p")); }));
  cluster.Delete("/api/v1/namespaces/team");
  EXPECT_TRUE(cluster.Until([&] { return !cluster.Exists("/api/v1/namespaces/team"); }, 1min));
  EXPECT_FALSE(cluster.Exists("/api/v1/namespaces/team/configmaps/a"));
}

TEST(WorkloadsInCluster, NamespacesSayWhatIsLeftInThemAndGoAfterIt) {
  TestCluster cluster;
  const std::string team = "/api/v1/namespaces/team";
  cluster.Create("{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
  cluster.Create(R"({apiVersion: v1, kind: ConfigMap,
    metadata: {name: a, namespace: team, finalizers: [example.com/held]}})");
  cluster.Delete(team);
  cluster.Run(5s);
  const kube::Json held = cluster.Get(team);
  EXPECT_EQ(Reason(held, "NamespaceContentRemaining"), "True SomeResourcesRemain");
  EXPECT_THAT(kube::Serialize(held), testing::HasSubstr("configmaps has 1 resource instances"));
  cluster.Patch(team + "/configmaps/a", R"({"metadata": {"finalizers": null}})");
  EXPECT_TRUE(cluster.Until([&] { return !cluster.Exists(team); }, 5s));
}

TEST(WorkloadsInCluster, CustomResourcesAreCollectedToo) {
  TestCluster cluster({.nodes = 1});
  const std::string metric = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/node-0";
  ASSERT_TRUE(cluster.Until([&] { return cluster.Exists(metric); }));
  cluster.Delete("/api/v1/nodes/node-0");
  EXPECT_TRUE(cluster.Until([&] { return !cluster.Exists(metric); }, 30s));
  EXPECT_FALSE(cluster.Exists("/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies/node-0"));
}

TEST(WorkloadsInCluster, WhatFitsNowhereSaysWhy) {
  TestCluster cluster;
  cluster.Create(R"({apiVersion: v1, kind: Pod, metadata: {name: big},
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "100"}}}]}})");
  const std::string path = std::string(TestCluster::kPods) + "/big";
  ASSERT_TRUE(cluster.Until(
      [&] { return Reason(cluster.Get(path), "PodScheduled") == "False Unschedulable"; }, 5s));
  cluster.Run(1s);
  const auto events = cluster.List("/api/v1/namespaces/default/events");
  const auto found = std::find_if(events.begin(), events.end(), [](const kube::Json& event) {
    return kube::FindString(event, {"reason"}) == "FailedScheduling";
  });
  ASSERT_NE(found, events.end());
  EXPECT_EQ(kube::FindString(*found, {"message"}),
            "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: "
            "3 Preemption is not helpful for scheduling.");
}

}  // namespace
}  // namespace koord::localcluster::workloads_cluster_test
