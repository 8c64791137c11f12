#include "koordlet/reporters/topology_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/keys.h"
#include "base/cpu_set.h"
#include "koordlet/informers/pod_book.h"
#include "kube/yaml.h"

namespace koord::koordlet::topology_report_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// T8: cores (0,1)(2,3)(4,5)(6,7), 0-3 on socket and NUMA node 0, 4-7 on 1.
CpuInfo EightProcessors() {
  CpuInfo info;
  std::vector<Processor> processors;
  for (int32_t cpu = 0; cpu < 8; ++cpu) {
    processors.push_back({cpu, cpu / 2, cpu / 4, cpu / 4, cpu / 4});
  }
  info.topology = processors;
  info.model = "Test CPU";
  info.vendor = "GenuineIntel";
  info.hyper_threading = true;
  return info;
}

struct World {
  kube::Node node;
  CpuInfo cpu = EightProcessors();
  std::vector<NumaNode> numa = {{0, int64_t{8} << 30, 0, 512, 1}, {1, int64_t{8} << 30, 0, 0, 0}};
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  KubeletConfig kubelet;
  bool asks_kubelet = true;
  std::string state;
  bool huge_pages = false;

  World() {
    node.metadata.name = "n";
    node.metadata.uid = "node-uid";
    kubelet.cpu_manager_policy = "none";
  }
  void AddPod(const std::string& name, const std::string& qos, const std::string& cpuset) {
    auto pod = std::make_shared<kube::Pod>();
    pod->metadata.name = name;
    pod->metadata.ns = "ns";
    pod->metadata.uid = name + "-uid";
    if (!qos.empty()) pod->metadata.labels.Mutable()["koordinator.sh/qosClass"] = qos;
    if (!cpuset.empty()) {
      pod->metadata.annotations["scheduling.koordinator.sh/resource-status"] =
          R"({"cpuset":")" + cpuset + R"("})";
    }
    pod->status.phase = "Running";
    pods.push_back(std::move(pod));
  }
  StatusOr<TopologyReport> Try() {
    PodBook book({CgroupVersion::kV1, CgroupDriver::kSystemd}, {});
    const auto node_pods = book.Update(pods);
    return BuildTopologyReport(
        {node, cpu, numa, *node_pods, asks_kubelet ? &kubelet : nullptr, state, huge_pages});
  }
  TopologyReport Report() {
    auto report = Try();
    EXPECT_TRUE(report.ok()) << Message(report.status());
    return report.ok() ? *std::move(report) : TopologyReport();
  }
  std::string Annotation(std::string_view key) { return Report().annotations.find(key)->second; }
};

TEST(TopologyReport, DescribesAnIdleNode) {
  World world;
  EXPECT_EQ(
      world.Annotation(api::kAnnotationCpuTopology).substr(0, 101),
      R"({"detail":[{"id":0,"core":0,"socket":0,"node":0},{"id":1,"core":0,"socket":0,"node":0},{"id":2,"core")");
  EXPECT_EQ(world.Annotation(api::kAnnotationCpuSharedPools),
            R"([{"socket":0,"node":0,"cpuset":"0-3"},{"socket":1,"node":1,"cpuset":"4-7"}])");
  EXPECT_EQ(world.Annotation(api::kAnnotationBeCpuSharedPools),
            world.Annotation(api::kAnnotationCpuSharedPools));
  EXPECT_EQ(world.Annotation(api::kAnnotationPodCpuAllocs), "null");
  EXPECT_EQ(world.Annotation(api::kAnnotationNodeReservation), "{}");
  EXPECT_EQ(world.Annotation(api::kAnnotationSystemQosResource), "null");
  EXPECT_EQ(world.Annotation(api::kAnnotationKubeletCpuManagerPolicy), R"({"policy":"none"})");
  EXPECT_EQ(world.Annotation(api::kAnnotationCpuBasicInfo),
            R"({"cpuModel":"Test CPU","hyperThreadEnabled":true,"vendorID":"GenuineIntel"})");
  EXPECT_THAT(world.Report().policies, ElementsAre("None"));
}

TEST(TopologyReport, PoolsLackWhatPodsAndReservationsHave) {
  World world;
  world.AddPod("lsr", "LSR", "0-1");
  world.AddPod("lse", "LSE", "2");
  world.node.metadata.annotations["node.koordinator.sh/reservation"] = R"({"reservedCPUs":"7"})";
  EXPECT_EQ(world.Annotation(api::kAnnotationCpuSharedPools),
            R"([{"socket":0,"node":0,"cpuset":"3"},{"socket":1,"node":1,"cpuset":"4-6"}])");
  EXPECT_EQ(world.Annotation(api::kAnnotationBeCpuSharedPools),
            R"([{"socket":0,"node":0,"cpuset":"0-1,3"},{"socket":1,"node":1,"cpuset":"4-6"}])");
  EXPECT_THAT(world.Report().view.reserved_cpus, ElementsAre(7));
}

TEST(TopologyReport, PoolsVanishWithPodsButNotWithReservations) {
  World world;
  world.AddPod("lsr", "LSR", "0-3");
  world.node.metadata.annotations["node.koordinator.sh/reservation"] = R"({"reservedCPUs":"4-7"})";
  EXPECT_EQ(world.Annotation(api::kAnnotationCpuSharedPools), R"([{"socket":1,"node":1}])");
}

TEST(TopologyReport, FillsInReservedCpus) {
  World world;
  auto& reservation = world.node.metadata.annotations["node.koordinator.sh/reservation"];
  reservation = R"({"resources":{"cpu":"1500m"}})";
  EXPECT_EQ(world.Annotation(api::kAnnotationNodeReservation),
            R"({"resources":{"cpu":"1500m"},"reservedCPUs":"0-1"})");
  reservation = R"({"resources":{"cpu":"-1"}})";
  EXPECT_THAT(world.Report().view.reserved_cpus, IsEmpty());
  reservation = R"({"resources":{"cpu":"900"}})";
  EXPECT_THAT(world.Report().view.reserved_cpus, IsEmpty());
  reservation = "[";
  EXPECT_EQ(world.Annotation(api::kAnnotationNodeReservation), "{}");
}

TEST(TopologyReport, SystemPodsMayHaveCpusOfTheirOwn) {
  World world;
  auto& system = world.node.metadata.annotations["node.koordinator.sh/system-qos-resource"];
  system = R"({"cpuset":"0-1"})";
  EXPECT_EQ(world.Report().view.ls_pools[0].cpuset, "2-3");
  system = R"({"cpuset":"0-1","cpusetExclusive":false})";
  EXPECT_EQ(world.Report().view.ls_pools[0].cpuset, "0-3");
  EXPECT_THAT(world.Report().view.system_qos_cpus, ElementsAre(0, 1));
  system = R"({"cpuset":"x"})";
  EXPECT_EQ(world.Report().view.ls_pools[0].cpuset, "0-3");
  system = "{";
  EXPECT_FALSE(world.Try().ok());
}

TEST(TopologyReport, TakesOverWhatTheKubeletHasGiven) {
  World world;
  world.kubelet.cpu_manager_policy = "static";
  world.AddPod("guaranteed", "", "");
  world.AddPod("ls", "LS", "");
  world.AddPod("pinned", "LSR", "6");
  world.state = R"({"policyName":"static","defaultCpuSet":"0","entries":{
      "guaranteed-uid":{"a":"0","b":"1"},"ls-uid":{"a":"2"},"pinned-uid":{"a":"3"},
      "stranger":{"a":"5"},"empty":{"a":""},"bad":{"a":"x"}}})";
  EXPECT_EQ(world.Annotation(api::kAnnotationPodCpuAllocs),
            R"([{"namespace":"ns","name":"guaranteed","uid":"guaranteed-uid","cpuset":"0-1",)"
            R"("managedByKubelet":true},)"
            R"({"uid":"stranger","cpuset":"5","managedByKubelet":true}])");
  EXPECT_EQ(world.Report().view.ls_pools[0].cpuset, "2-3");
  EXPECT_EQ(world.Report().view.ls_pools[1].cpuset, "4,7");
  world.state = "{";
  EXPECT_FALSE(world.Try().ok());
  world.state = "";
  EXPECT_EQ(world.Annotation(api::kAnnotationPodCpuAllocs), "null");
  world.state = R"({"entries":{"stranger":{"a":"5"}}})";
  world.kubelet.cpu_manager_policy = "none";
  EXPECT_EQ(world.Annotation(api::kAnnotationPodCpuAllocs), "null");
}

TEST(TopologyReport, ReportsWhatTheKubeletReservesButKeepsItInThePools) {
  World world;
  world.kubelet.cpu_manager_policy = "static";
  world.kubelet.system_reserved["cpu"] = "500m";
  world.kubelet.kube_reserved["cpu"] = "700m";
  EXPECT_EQ(world.Annotation(api::kAnnotationKubeletCpuManagerPolicy),
            R"({"policy":"static","reservedCPUs":"0-1"})");
  EXPECT_EQ(world.Report().view.ls_pools[0].cpuset, "0-3");
  world.kubelet.reserved_system_cpus = "4";
  EXPECT_EQ(world.Annotation(api::kAnnotationKubeletCpuManagerPolicy),
            R"({"policy":"static","reservedCPUs":"4"})");
  world.asks_kubelet = false;
  EXPECT_EQ(world.Annotation(api::kAnnotationKubeletCpuManagerPolicy), "{}");
  EXPECT_THAT(world.Report().policies, ElementsAre("None"));
}

TEST(TopologyReport, NamesTheKubeletsPolicy) {
  const struct {
    const char *policy, *scope, *expected;
  } cases[] = {
      {"none", "container", "None"},
      {"single-numa-node", "container", "SingleNUMANodeContainerLevel"},
      {"single-numa-node", "pod", "SingleNUMANodePodLevel"},
      {"restricted", "pod", "RestrictedPodLevel"},
      {"best-effort", "container", "BestEffortContainerLevel"},
      {"best-effort", "", "None"},
      {"", "pod", "None"},
      {"magic", "pod", "None"},
  };
  for (const auto& each : cases) {
    World world;
    world.kubelet.topology_manager_policy = each.policy;
    world.kubelet.topology_manager_scope = each.scope;
    EXPECT_THAT(world.Report().policies, ElementsAre(each.expected))
        << each.policy << " " << each.scope;
  }
}

const api::ZoneResource& ResourceIn(const api::TopologyZone& zone, std::string_view name) {
  for (const api::ZoneResource& each : zone.resources) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << name;
  return zone.resources.front();
}

TEST(TopologyReport, ZonesHaveProcessorsAndMemory) {
  World world;
  const auto zones = world.Report().zones;
  ASSERT_EQ(zones.size(), 2u);
  EXPECT_EQ(zones[0].name, "node-0");
  EXPECT_EQ(zones[0].type, "Node");
  std::vector<std::string> names;
  for (const auto& resource : zones[0].resources) names.push_back(resource.name);
  EXPECT_THAT(names, ElementsAre("cpu", "hugepages-1Gi", "hugepages-2Mi", "memory"));
  EXPECT_EQ(ResourceIn(zones[0], "cpu").capacity.ToString(), "4");
  EXPECT_EQ(ResourceIn(zones[0], "memory").allocatable.ToString(), "8Gi");
  EXPECT_EQ(ResourceIn(zones[0], "hugepages-2Mi").capacity.Value(), 0);
  world.huge_pages = true;
  const auto with_huge = world.Report().zones;
  EXPECT_EQ(ResourceIn(with_huge[0], "hugepages-2Mi").capacity.ToString(), "1Gi");
  EXPECT_EQ(ResourceIn(with_huge[0], "hugepages-1Gi").capacity.ToString(), "1Gi");
  EXPECT_EQ(ResourceIn(with_huge[0], "memory").capacity.ToString(), "6Gi");
}

TEST(TopologyReport, ReservedShareLeavesCapacityAlone) {
  World world;
  world.node.metadata.labels.Mutable()["node.koordinator.sh/enable-numa-reservation"] = "true";
  world.node.status.capacity = {{"cpu", kube::Quantity(8)},
                                {"memory", *kube::Quantity::Parse("16Gi")}};
  world.node.status.allocatable = {{"cpu", *kube::Quantity::Parse("7499m")},
                                   {"memory", *kube::Quantity::Parse("15Gi")}};
  const auto zone = world.Report().zones[0];
  EXPECT_EQ(ResourceIn(zone, "cpu").capacity.ToString(), "4");
  EXPECT_EQ(ResourceIn(zone, "cpu").allocatable.ToString(), "3749m") << "4 - ceil(501m / 2)";
  EXPECT_EQ(ResourceIn(zone, "cpu").available.ToString(), "3749m");
  EXPECT_EQ(ResourceIn(zone, "memory").capacity.ToString(), "8Gi");
  EXPECT_EQ(ResourceIn(zone, "memory").allocatable.ToString(), "7680Mi");
}

TEST(TopologyReport, SaysNothingWhileItKnowsTooLittle) {
  World world;
  world.numa.pop_back();
  EXPECT_FALSE(world.Try().ok()) << "processors on two NUMA nodes, memory on one";
  world.numa.clear();
  EXPECT_FALSE(world.Try().ok());
}

api::NodeResourceTopology Stored(const kube::Json& object) {
  auto stored = *kube::Decode<api::NodeResourceTopology>(object);
  stored.metadata.resource_version = "7";
  return stored;
}

TEST(TopologyPatch, NothingHasChanged) {
  World world;
  auto stored = Stored(NewTopologyObject(world.Report(), world.node));
  EXPECT_EQ(stored.metadata.labels.at("app.kubernetes.io/managed-by"), "Koordinator");
  ASSERT_EQ(stored.metadata.owner_references.size(), 1u);
  EXPECT_EQ(stored.metadata.owner_references[0].uid, "node-uid");
  // Written with other blanks and another order it is still the same.
  stored.metadata.annotations["kubelet.koordinator.sh/cpu-manager-policy"] =
      R"({ "policy" : "none" })";
  EXPECT_TRUE(TopologyPatch(world.Report(), stored).is_null());
}

TEST(TopologyPatch, SendsOnlyWhatHasChanged) {
  World world;
  const auto stored = Stored(NewTopologyObject(world.Report(), world.node));
  world.AddPod("lse", "LSE", "0");
  const kube::Json patch = TopologyPatch(world.Report(), stored);
  EXPECT_EQ(kube::FindObject(patch, {"metadata", "annotations"})->size(), 2u) << "both pools";
  EXPECT_EQ(kube::FindString(patch, {"metadata", "resourceVersion"}), "7");
  EXPECT_EQ(kube::Find(patch, {"zones"}), nullptr);
  EXPECT_EQ(kube::Find(patch, {"topologyPolicies"}), nullptr);
}

TEST(TopologyPatch, KeepsWhatOthersSayOfZones) {
  World world;
  auto stored = Stored(NewTopologyObject(world.Report(), world.node));
  stored.zones[0].resources.push_back(
      {"koordinator.sh/gpu", kube::Quantity(100), kube::Quantity(100), kube::Quantity(100)});
  stored.zones[0].costs = {{"node-0", 10}};
  stored.zones.push_back({.name = "node-9", .type = "Node"});
  const kube::Json patch = TopologyPatch(world.Report(), stored);
  const auto* zones = kube::FindArray(patch, {"zones"});
  ASSERT_NE(zones, nullptr) << "node-9 has gone";
  ASSERT_EQ(zones->size(), 2u);
  const auto zone = *kube::Decode<api::TopologyZone>((*zones)[0]);
  EXPECT_EQ(ResourceIn(zone, "koordinator.sh/gpu").capacity.Value(), 100);
  EXPECT_EQ(zone.costs.size(), 1u);
}

TEST(TopologyPatch, MirrorsTheLabelOfTheNode) {
  World world;
  const auto stored = Stored(NewTopologyObject(world.Report(), world.node));
  world.node.metadata.labels.Mutable()["node.koordinator.sh/enable-numa-reservation"] = "false";
  const kube::Json patch = TopologyPatch(world.Report(), stored);
  EXPECT_EQ(kube::FindString(patch,
                             {"metadata", "labels", "node.koordinator.sh/enable-numa-reservation"}),
            "false");
  const auto labelled = Stored(NewTopologyObject(world.Report(), world.node));
  world.node.metadata.labels.clear();
  const kube::Json back = TopologyPatch(world.Report(), labelled);
  EXPECT_TRUE(
      kube::Find(back, {"metadata", "labels", "node.koordinator.sh/enable-numa-reservation"})
          ->is_null());
}

}  // namespace
}  // namespace koord::koordlet::topology_report_test
