// What a user of a local cluster sees of claims and volumes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "localcluster/controllers/cluster_testing.h"

namespace koord::localcluster::volumes_cluster_test {
namespace {

class VolumesInCluster : public ::testing::Test {
 protected:
  static constexpr char kClaims[] = "/api/v1/namespaces/default/persistentvolumeclaims";
  static constexpr char kVolumes[] = "/api/v1/persistentvolumes";
  static std::string PathOf(const char* collection, std::string_view name) {
    return fmt::format("{}/{}", collection, name);
  }

  void CreateClass(std::string_view name, std::string_view provisioner, std::string_view mode,
                   std::string_view annotations = "{}") {
    const auto answer = cluster_.server().Post(
        TestCluster::kStorageClasses,
        apiserver::Parse(fmt::format(R"({{"metadata":{{"name":"{}","annotations":{}}},)"
                                     R"("provisioner":"{}","volumeBindingMode":"{}"}})",
                                     name, annotations, provisioner, mode)));
    ASSERT_EQ(answer.code, 201) << answer.body;
  }
  void CreateClaim(std::string_view name, std::string_view spec, std::string_view size = "1Gi") {
    cluster_.Create(
        fmt::format("{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: "
                    "{}}}, spec: {{accessModes: [ReadWriteOnce], resources: "
                    "{{requests: {{storage: {}}}}}, {}}}}}",
                    name, size, spec));
  }
  void CreateVolume(std::string_view name, std::string_view spec, std::string_view size = "1Gi") {
    cluster_.Create(
        fmt::format("{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {}}}, "
                    "spec: {{accessModes: [ReadWriteOnce], capacity: {{storage: {}}}, "
                    "hostPath: {{path: /data}}, {}}}}}",
                    name, size, spec));
  }
  void CreatePod(std::string_view name, std::string_view claim) {
    cluster_.Create(fmt::format(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {}}}, spec: {{containers: [{{name: c, "
        "image: i}}], volumes: [{{name: v, persistentVolumeClaim: {{claimName: {}}}}}]}}}}",
        name, claim));
  }
  std::string Phase(const std::string& path) {
    return std::string(kube::FindString(cluster_.Get(path), {"status", "phase"}));
  }
  bool BecomesPhase(const char* collection, std::string_view name, std::string_view phase) {
    return cluster_.Until([&] { return Phase(PathOf(collection, name)) == phase; });
  }
  std::string VolumeOf(std::string_view claim) {
    return std::string(
        kube::FindString(cluster_.Get(PathOf(kClaims, claim)), {"spec", "volumeName"}));
  }

  TestCluster cluster_;
};

TEST_F(VolumesInCluster, AClaimLivesAndItsVolumeGoesWithIt) {
  CreateClaim("data", "volumeMode: Filesystem", "5Gi");
  EXPECT_EQ(kube::FindString(cluster_.Get(PathOf(kClaims, "data")), {"spec", "storageClassName"}),
            "standard");
  cluster_.Run(1min);
  EXPECT_EQ(Phase(PathOf(kClaims, "data")), "Pending") << "nobody needs it yet";
  EXPECT_TRUE(cluster_.List(kVolumes).empty());

  CreatePod("p", "data");
  ASSERT_TRUE(cluster_.Until([&] { return cluster_.RunningPods() == 1; }));
  const kube::Json claim = cluster_.Get(PathOf(kClaims, "data"));
  const std::string name = VolumeOf("data");
  EXPECT_EQ(name, "pvc-" + std::string(kube::FindString(claim, {"metadata", "uid"})));
  EXPECT_EQ(kube::FindString(claim, {"status", "phase"}), "Bound");
  EXPECT_EQ(kube::FindString(claim, {"status", "capacity", "storage"}), "5Gi");
  EXPECT_TRUE(BecomesPhase(kVolumes, name, "Bound"));

  cluster_.Delete(std::string(TestCluster::kPods) + "/p");
  cluster_.Delete(PathOf(kClaims, "data"));
  EXPECT_TRUE(cluster_.Until([&] { return cluster_.List(kVolumes).empty(); }));
}

TEST_F(VolumesInCluster, TablesReadAsInKubernetes) {
  CreateClass("manual", "kubernetes.io/no-provisioner", "Immediate");
  CreateVolume("pv", "storageClassName: manual", "10Gi");
  CreateClaim("data", "storageClassName: manual");
  ASSERT_TRUE(BecomesPhase(kClaims, "data", "Bound"));
  ASSERT_TRUE(BecomesPhase(kVolumes, "pv", "Bound"));
  const auto cells = [&](const char* path) {
    kube::HttpRequest request;
    request.method = "GET";
    request.target = path;
    request.user = apiserver::TestServer::Admin();
    request.headers.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    kube::Json row = cluster_.server().Send(request).json.at("rows").at(0).at("cells");
    std::string text;
    for (size_t i = 0; i < 7; ++i) text += std::string(row.at(i).as_string()) + "|";
    return text;
  };
  EXPECT_EQ(cells(kClaims), "data|Bound|pv|10Gi|RWO|manual|<unset>|");
  EXPECT_EQ(cells(kVolumes), "pv|10Gi|RWO|Retain|Bound|default/data|manual|");
}

TEST_F(VolumesInCluster, ClaimsCompeteForVolumesAndTakeTheSmallest) {
  CreateClass("manual", "kubernetes.io/no-provisioner", "Immediate");
  for (int i = 0; i < 5; ++i) CreateClaim(fmt::format("c{}", i), "storageClassName: manual", "5Gi");
  cluster_.Run(1s);
  for (const char* size : {"3Gi", "5Gi", "6Gi", "7Gi", "8Gi"}) {
    CreateVolume(fmt::format("pv-{}", ToLower(size)), "storageClassName: manual", size);
  }
  const auto bound = [&] {
    return cluster_.Count(kClaims, [](const kube::Json& claim) {
      return kube::FindString(claim, {"status", "phase"}) == "Bound";
    });
  };
  ASSERT_TRUE(cluster_.Until([&] { return bound() == 4; })) << bound();
  cluster_.Run(1min);
  EXPECT_EQ(bound(), 4);
  std::set<std::string> taken;
  for (int i = 0; i < 5; ++i) taken.insert(VolumeOf(fmt::format("c{}", i)));
  EXPECT_EQ(taken, (std::set<std::string>{"", "pv-5gi", "pv-6gi", "pv-7gi", "pv-8gi"}));
  EXPECT_EQ(Phase(PathOf(kVolumes, "pv-3gi")), "Available");
}

TEST_F(VolumesInCluster, RetainedVolumesStayUntilTheyAreFreed) {
  CreateVolume("pv", "storageClassName: ''");
  CreateClaim("one", "storageClassName: ''");
  ASSERT_TRUE(BecomesPhase(kClaims, "one", "Bound"));
  CreateClaim("two", "storageClassName: ''");
  cluster_.Delete(PathOf(kClaims, "one"));
  ASSERT_TRUE(BecomesPhase(kVolumes, "pv", "Released"));
  cluster_.Run(1min);
  EXPECT_EQ(Phase(PathOf(kClaims, "two")), "Pending");
  cluster_.Patch(PathOf(kVolumes, "pv"), R"({"spec":{"claimRef":null}})");
  EXPECT_TRUE(BecomesPhase(kClaims, "two", "Bound"));
  cluster_.Delete(PathOf(kVolumes, "pv"));
  EXPECT_TRUE(BecomesPhase(kClaims, "two", "Lost"));
}

TEST_F(VolumesInCluster, AClassThatComesLaterServesClaimsThatLeftItOpen) {
  cluster_.Delete(PathOf(TestCluster::kStorageClasses, "standard"));
  CreateClaim("open", "volumeMode: Filesystem");
  CreateClaim("none", "storageClassName: ''");
  cluster_.Run(1s);
  EXPECT_EQ(Phase(PathOf(kClaims, "open")), "Pending");
  CreateClass("fast", "disk.example.com", "Immediate",
              R"({"storageclass.kubernetes.io/is-default-class":"true"})");
  EXPECT_TRUE(BecomesPhase(kClaims, "open", "Bound"));
  cluster_.Run(1min);
  EXPECT_EQ(Phase(PathOf(kClaims, "none")), "Pending");
}

class VolumesUnderFaults : public ::testing::TestWithParam<uint64_t> {};

// Whatever goes wrong on the way: every pod runs, every claim has a volume of its own, none is left
// over.
TEST_P(VolumesUnderFaults, EndWhereTheyShould) {
  constexpr char kClaims[] = "/api/v1/namespaces/default/persistentvolumeclaims";
  constexpr char kVolumes[] = "/api/v1/persistentvolumes";
  TestCluster cluster({.nodes = 3, .seed = GetParam(), .faults = kBadDay});
  cluster.Create(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 4
  podManagementPolicy: Parallel
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: "db:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)");
  cluster.Run(3s);
  cluster.Crash();
  cluster.Boot();
  cluster.Run(1min);
  cluster.Patch("/apis/apps/v1/namespaces/default/statefulsets/db", R"({"spec":{"replicas":2}})");
  cluster.Run(1min);
  for (const char* claim : {"data-db-2", "data-db-3"}) {
    const std::string path = fmt::format("{}/{}", kClaims, claim);
    if (cluster.Exists(path)) cluster.Delete(path);
  }
  cluster.Run(1min);
  cluster.SetFaults({});
  const auto settled = [&] {
    std::set<std::string> volumes;
    for (const kube::Json& claim : cluster.List(kClaims)) {
      if (kube::FindString(claim, {"status", "phase"}) != "Bound") return false;
      volumes.insert(std::string(kube::FindString(claim, {"spec", "volumeName"})));
    }
    const int bound = cluster.Count(kVolumes, [&](const kube::Json& volume) {
      return kube::FindString(volume, {"status", "phase"}) == "Bound" &&
             volumes.contains(std::string(kube::FindString(volume, {"metadata", "name"})));
    });
    return cluster.RunningPods() == 2 && cluster.PodCount() == 2 && volumes.size() == 2 &&
           bound == 2 && cluster.List(kVolumes).size() == 2;
  };
  EXPECT_TRUE(cluster.Until(settled, std::chrono::minutes(20)))
      << cluster.server().Get(kClaims).body << cluster.server().Get(kVolumes).body;
  cluster.Run(5min);
  EXPECT_TRUE(settled());
}

INSTANTIATE_TEST_SUITE_P(Seeds, VolumesUnderFaults, ::testing::Range<uint64_t>(1, 11));

}  // namespace
}  // namespace koord::localcluster::volumes_cluster_test
