#include "localcluster/placement/node_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "localcluster/shared/test_objects.h"

namespace koord::localcluster {
namespace {

using Nodes = std::vector<std::shared_ptr<const kube::Node>>;

kube::Node Machine(const std::string& name, int64_t cpu = 4, int64_t pods = 110) {
  kube::Node node;
  node.metadata.name = name;
  node.status.allocatable = {{"cpu", kube::Quantity(cpu)},
                             {"memory", kube::Quantity(int64_t{8} << 30)},
                             {"pods", kube::Quantity(pods)}};
  return node;
}

kube::Pod Asking(int64_t milli_cpu) {
  kube::Pod pod = PendingPod("p");
  pod.spec.containers[0].resources.requests["cpu"] = kube::Quantity::FromMilli(milli_cpu);
  return pod;
}

NodeUse Taken(int64_t cpu, int64_t pods = 1) {
  return {.requested = {{"cpu", kube::Quantity(cpu)}}, .pods = pods};
}

TEST(NodeChoice, PrefersTheNodeWithMostFree) {
  const Nodes nodes = {Shared(Machine("a")), Shared(Machine("b")), Shared(Machine("c"))};
  EXPECT_EQ(ChooseNode(Asking(1000), nodes, {}).node, "a") << "the first of equals";
  EXPECT_EQ(ChooseNode(Asking(1000), nodes, {{"a", Taken(2)}, {"b", Taken(1)}}).node, "c");
  EXPECT_EQ(
      ChooseNode(Asking(0), nodes, {{"a", Taken(0, 3)}, {"b", Taken(0, 1)}, {"c", Taken(0, 2)}})
          .node,
      "b")
      << "fewest pods of equals";
}

TEST(NodeChoice, SaysWhyNothingFits) {
  kube::Node cordoned = Machine("cordoned");
  cordoned.spec.unschedulable = true;
  kube::Node tainted = Machine("tainted");
  tainted.spec.taints.push_back({.key = "k", .effect = "NoSchedule"});
  kube::Node preferred = Machine("preferred", 1);
  preferred.spec.taints.push_back({.key = "k", .effect = "PreferNoSchedule"});
  const Nodes nodes = {Shared(cordoned), Shared(tainted), Shared(preferred),
                       Shared(Machine("small", 1)), Shared(Machine("full", 8, 1))};
  EXPECT_EQ(ChooseNode(Asking(2000), nodes, {{"full", Taken(0)}}).message,
            "0/5 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), "
            "1 node(s) were unschedulable, 2 Insufficient cpu.");
  kube::Pod picky = Asking(1);
  picky.spec.node_selector["disk"] = "ssd";
  EXPECT_EQ(ChooseNode(picky, {Shared(Machine("a"))}, {}).message,
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.");
  EXPECT_EQ(ChooseNode(picky, {}, {}).message, "no nodes available to schedule pods");
}

TEST(NodeChoice, ToleratesWhatThePodTolerates) {
  kube::Node cordoned = Machine("cordoned");
  cordoned.spec.unschedulable = true;
  cordoned.spec.taints.push_back(
      {.key = "node.kubernetes.io/unschedulable", .effect = "NoSchedule"});
  kube::Pod pod = Asking(100);
  EXPECT_EQ(ChooseNode(pod, {Shared(cordoned)}, {}).node, "");
  pod.spec.tolerations.push_back({.op = "Exists"});
  EXPECT_EQ(ChooseNode(pod, {Shared(cordoned)}, {}).node, "cordoned");
}

TEST(NodeChoice, AResourceTheNodeLacksCountsAsNone) {
  kube::Pod pod = Asking(100);
  pod.spec.containers[0].resources.requests["vendor.com/chip"] = kube::Quantity(1);
  EXPECT_EQ(ChooseNode(pod, {Shared(Machine("a"))}, {}).message,
            "0/1 nodes are available: 1 Insufficient vendor.com/chip.");
}

}  // namespace
}  // namespace koord::localcluster
