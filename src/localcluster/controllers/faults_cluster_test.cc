// The end state is the same whatever goes wrong on the way.
#include <gtest/gtest.h>

#include "localcluster/controllers/cluster_testing.h"

namespace koord::localcluster::faults_cluster_test {
namespace {

constexpr std::string_view kWeb = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "web:1"}]}
)";
constexpr std::string_view kSum = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: sum}
spec:
  completions: 6
  parallelism: 3
  template:
    metadata: {annotations: {local.koordinator.sh/run-duration: 5s}, labels: {app: sum}}
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
)";
constexpr std::string_view kAgent = R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: "agent:1"}]}
)";

class FaultsInCluster : public ::testing::TestWithParam<uint64_t> {
 protected:
  static int Running(TestCluster& cluster, std::string_view app) {
    return cluster.Count(TestCluster::kPods, [&](const kube::Json& pod) {
      return TestCluster::IsRunning(pod) &&
             kube::FindString(pod, {"metadata", "labels", "app"}) == app;
    });
  }
  static int Present(TestCluster& cluster, std::string_view app) {
    return cluster.Count(TestCluster::kPods, [&](const kube::Json& pod) {
      return kube::FindString(pod, {"metadata", "labels", "app"}) == app;
    });
  }
};

TEST_P(FaultsInCluster, WorkloadsEndWhereTheyShould) {
  TestCluster cluster({.nodes = 3, .seed = GetParam(), .faults = kBadDay});
  cluster.Create(kWeb);
  cluster.Create(kSum);
  cluster.Create(kAgent);
  const std::string web = "/apis/apps/v1/namespaces/default/deployments/web";
  cluster.Run(5s);
  cluster.Patch(web, R"({"spec":{"replicas":8}})");
  cluster.Run(3s);
  cluster.Patch(web,
                R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"web:2"}]}}}})");
  cluster.Run(4s);
  cluster.Crash();
  cluster.Patch(web, R"({"spec":{"replicas":4}})");
  cluster.Boot();
  cluster.Run(2min);

  cluster.SetFaults({});
  const std::string job = "/apis/batch/v1/namespaces/default/jobs/sum";
  const auto settled = [&] {
    return Running(cluster, "web") == 4 && Present(cluster, "web") == 4 &&
           Running(cluster, "agent") == 3 && Present(cluster, "agent") == 3 &&
           kube::FindInt(cluster.Get(job), {"status", "succeeded"}) == 6 &&
           kube::Find(cluster.Get(job), {"status", "completionTime"}) != nullptr;
  };
  ASSERT_TRUE(cluster.Until(settled, std::chrono::minutes(20)))
      << "web " << Running(cluster, "web") << " of " << Present(cluster, "web") << ", agent "
      << Running(cluster, "agent") << " of " << Present(cluster, "agent") << ", job "
      << kube::Serialize(cluster.Get(job)) << " deployment " << kube::Serialize(cluster.Get(web));
  EXPECT_EQ(cluster.Count(TestCluster::kPods,
                          [](const kube::Json& pod) {
                            return kube::FindString(pod.at("spec").at("containers").at(0),
                                                    {"image"}) == "web:2";
                          }),
            4);
  // And it stays there.
  cluster.Run(5min);
  EXPECT_TRUE(settled());
}

INSTANTIATE_TEST_SUITE_P(Seeds, FaultsInCluster, ::testing::Range<uint64_t>(1, 11));

// The same seed gives the same run, to the last resource version.
TEST(Determinism, EqualSeedsGiveEqualClusters) {
  const auto run = [] {
    TestCluster cluster({.nodes = 3, .seed = 7, .faults = kBadDay});
    cluster.Create(kWeb);
    cluster.Create(kSum);
    cluster.Run(1min);
    return cluster.server().Get("/api/v1/pods").body;
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace koord::localcluster::faults_cluster_test
