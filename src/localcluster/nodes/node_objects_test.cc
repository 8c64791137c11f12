#include "localcluster/nodes/node_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/device.h"
#include "api/keys.h"
#include "api/node_annotations.h"
#include "api/node_resource_topology.h"
#include "kube/objects/lease.h"
#include "kube/objects/node.h"
#include "kube/objects/objects_testing.h"

namespace koord::localcluster::node_objects_test {
namespace {

PlannedNode Planned(std::string_view shape) {
  return {.name = "node-07", .shape = *ParseNodeShape(shape), .zone = "a"};
}

template <class T>
T As(const kube::Json& object) {
  const StatusOr<T> typed = kube::Decode<T>(object);
  EXPECT_TRUE(typed.ok()) << Message(typed.status());
  return typed.ok() ? *typed : T{};
}

TEST(NodeObjects, TheNodeOffersItsShape) {
  const auto node =
      As<kube::Node>(NodeObject(Planned("cpu=64,memory=256Gi,gpu=8,pods=200,labels=tier=gold,"
                                        "taints=dedicated=ai:NoSchedule"),
                                7, kube::kTestNow));
  EXPECT_EQ(node.metadata.labels.at("kubernetes.io/hostname"), "node-07");
  EXPECT_EQ(node.metadata.labels.at("topology.kubernetes.io/zone"), "a");
  EXPECT_EQ(node.metadata.labels.at("tier"), "gold");
  for (const kube::ResourceList* list :
       {&node.status.capacity.get(), &node.status.allocatable.get()}) {
    EXPECT_EQ(list->at("cpu").ToString(), "64");
    EXPECT_EQ(list->at("memory").ToString(), "256Gi");
    EXPECT_EQ(list->at("pods").ToString(), "200");
    EXPECT_EQ(list->at("nvidia.com/gpu").ToString(), "8");
  }
  EXPECT_TRUE(kube::IsReady(node));
  EXPECT_EQ(kube::AddressOf(node, "InternalIP"), "172.16.0.7");
  EXPECT_EQ(node.spec.pod_cidr, "10.0.28.0/22");
  ASSERT_EQ(node.spec.taints.size(), 1u);
  EXPECT_EQ(node.spec.taints[0], (kube::Taint{"dedicated", "ai", "NoSchedule"}));
}

TEST(NodeObjects, ShapesSurviveTheirAnnotation) {
  for (const char* text : {"cpu=4", "cpu=64,memory=1000Mi,numa=4,sockets=2,smt=1,gpu=2,pods=50"}) {
    const NodeShape shape = *ParseNodeShape(text);
    EXPECT_EQ(*ParseNodeShape(ToString(shape)), shape) << text;
  }
}

TEST(NodeObjects, PodRangesDoNotOverlap) {
  EXPECT_EQ(PodRange(1), "10.0.4.0/22");
  EXPECT_EQ(PodRange(64), "10.1.0.0/22");
  EXPECT_EQ(AddressIn("10.0.4.0/22", 1), "10.0.4.1");
  EXPECT_EQ(AddressIn("10.0.4.0/22", 256), "10.0.5.0");
  EXPECT_EQ(AddressIn("10.0.4.0/22", 1022), "10.0.7.254");
  EXPECT_EQ(AddressIn("10.0.4.0/22", 1023), std::nullopt);
}

TEST(NodeObjects, LeasesAreRenewedWithMicroseconds) {
  const auto lease = As<kube::Lease>(LeaseObject("node-07", "u", kube::kTestNow + 5us));
  EXPECT_EQ(lease.metadata.ns, "kube-node-lease");
  EXPECT_EQ(lease.spec.holder_identity, "node-07");
  EXPECT_EQ(lease.spec.lease_duration_seconds, 40);
  EXPECT_EQ(kube::FindString(LeaseRenewal("node-07", kube::kTestNow + 5us), {"spec", "renewTime"}),
            "2026-07-01T01:00:00.000005Z");
}

TEST(NodeObjects, TheTopologyIsWhatKoordletReports) {
  const auto topology = As<api::NodeResourceTopology>(
      TopologyObject(Planned("cpu=8,memory=32Gi,numa=2,sockets=1"), "u"));
  EXPECT_EQ(topology.metadata.labels.at("app.kubernetes.io/managed-by"), "Koordinator");
  EXPECT_TRUE(topology.metadata.owner_references.at(0).controller.value());
  EXPECT_THAT(topology.topology_policies, ::testing::ElementsAre("None"));
  ASSERT_EQ(topology.zones.size(), 2u);
  EXPECT_EQ(topology.zones[1].name, "node-1");
  EXPECT_EQ(topology.zones[1].type, "Node");
  EXPECT_EQ(topology.zones[1].resources[0].capacity.ToString(), "4");
  EXPECT_EQ(topology.zones[1].resources[1].allocatable.ToString(), "16Gi");

  const auto& annotations = topology.metadata.annotations;
  const auto cpus = api::CpuTopologyOf(annotations);
  ASSERT_TRUE(cpus.ok() && cpus->has_value());
  EXPECT_EQ((*cpus)->detail.size(), 8u);
  EXPECT_EQ((*cpus)->detail[5], (api::CpuInfo{.id = 5, .core = 2, .socket = 0, .node = 1}));
  EXPECT_EQ(annotations.at("node.koordinator.sh/cpu-shared-pools"),
            R"([{"socket":0,"node":0,"cpuset":"0-3"},{"socket":0,"node":1,"cpuset":"4-7"}])");
  EXPECT_EQ(annotations.at("node.koordinator.sh/be-cpu-shared-pools"),
            annotations.at("node.koordinator.sh/cpu-shared-pools"));
  EXPECT_EQ(annotations.at("kubelet.koordinator.sh/cpu-manager-policy"), R"({"policy":"none"})");
  EXPECT_EQ(annotations.at("node.koordinator.sh/pod-cpu-allocs"), "null");
}

TEST(NodeObjects, GpusAreSpreadOverNumaNodes) {
  const auto device =
      As<api::Device>(DeviceObject(Planned("cpu=64,numa=2,gpu=4,gpu-memory=40Gi"), "u"));
  ASSERT_EQ(device.spec.devices.size(), 4u);
  std::vector<int32_t> numa;
  std::set<std::string> ids;
  for (const api::DeviceInfo& gpu : device.spec.devices) {
    EXPECT_EQ(gpu.type, "gpu");
    EXPECT_TRUE(gpu.health);
    EXPECT_EQ(gpu.resources.at("koordinator.sh/gpu-core").ToString(), "100");
    EXPECT_EQ(gpu.resources.at("koordinator.sh/gpu-memory").ToString(), "40Gi");
    EXPECT_EQ(gpu.resources.at("koordinator.sh/gpu-memory-ratio").ToString(), "100");
    numa.push_back(gpu.topology->node_id);
    ids.insert(gpu.id);
  }
  EXPECT_THAT(numa, ::testing::ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_EQ(device.metadata.labels.at("node.koordinator.sh/gpu-vendor"), "nvidia");
  EXPECT_EQ(device.metadata.labels.at("node.koordinator.sh/gpu-model"), "A100-SXM4-80GB");
}

}  // namespace
}  // namespace koord::localcluster::node_objects_test
