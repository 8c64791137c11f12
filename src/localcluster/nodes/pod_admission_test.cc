#include "localcluster/nodes/pod_admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/objects/objects_testing.h"
#include "localcluster/nodes/machines.h"
#include "localcluster/nodes/node_objects.h"

namespace koord::localcluster::pod_admission_test {
namespace {

kube::Node SmallNode() {
  kube::Node node;
  node.metadata.name = "n1";
  node.status.allocatable = {{"cpu", kube::Quantity(2)},
                             {"memory", kube::Quantity(int64_t{4} << 30)},
                             {"kubernetes.io/batch-cpu", kube::Quantity(500)},
                             {"pods", kube::Quantity(3)}};
  return node;
}

kube::Pod Asking(const std::string& resource, kube::Quantity amount) {
  kube::Pod pod = kube::PendingPod("p");
  pod.spec.containers.Mutable()[0].resources.requests[resource] = std::move(amount);
  return pod;
}

TEST(PodAdmission, OnlyWhatFitsIsTaken) {
  const kube::ResourceList used = {{"cpu", kube::Quantity::FromMilli(1500)}};
  const kube::Node node = SmallNode();
  EXPECT_EQ(CheckAdmission(node, used, 2, Asking("cpu", kube::Quantity::FromMilli(500))),
            std::nullopt);
  EXPECT_EQ(CheckAdmission(node, used, 2, Asking("cpu", kube::Quantity::FromMilli(501))),
            (Rejection{"OutOfcpu",
                       "Node didn't have enough resource: cpu, requested: 501, used: 1500, "
                       "capacity: 2000"}));
  EXPECT_EQ(CheckAdmission(node, used, 3, kube::PendingPod("p")),
            (Rejection{"OutOfpods",
                       "Node didn't have enough resource: pods, requested: 1, used: 3, "
                       "capacity: 3"}));
  EXPECT_EQ(
      CheckAdmission(node, {}, 0, Asking("kubernetes.io/batch-cpu", kube::Quantity(501)))->reason,
      "OutOfkubernetes.io/batch-cpu");
  EXPECT_EQ(CheckAdmission(node, {}, 0, Asking("kubernetes.io/mid-cpu", kube::Quantity(1)))->reason,
            "OutOfkubernetes.io/mid-cpu");
  EXPECT_EQ(CheckAdmission(node, {}, 0, Asking("vendor.com/chip", kube::Quantity(1))), std::nullopt)
      << "what the node knows nothing of is the vendor's business";
}

TEST(PodAdmission, TheNodeMustBeOneThePodAskedFor) {
  kube::Pod pod = kube::PendingPod("p");
  pod.spec.node_selector.Mutable()["disk"] = "ssd";
  EXPECT_EQ(CheckAdmission(SmallNode(), {}, 0, pod),
            (Rejection{"NodeAffinity", "Predicate NodeAffinity failed"}));
}

TEST(PodAdmission, ANodeThatDoesNotCountPodsTakesAny) {
  kube::Node node = SmallNode();
  node.status.allocatable.Mutable().erase("pods");
  EXPECT_EQ(CheckAdmission(node, {}, 5000, kube::PendingPod("p")), std::nullopt);
}

TEST(Machine, GivesAddressesAndCountsWhatIsTaken) {
  Machine machine(1, std::nullopt);
  kube::Pod a = Asking("cpu", kube::Quantity(1));
  kube::Pod b = a;
  b.metadata.uid = "b";
  EXPECT_EQ(machine.Take(a, "10.0.4.0/22"), "10.0.4.1");
  EXPECT_EQ(machine.Take(b, "10.0.4.0/22"), "10.0.4.2");
  EXPECT_EQ(machine.Take(b, "10.0.4.0/22"), std::nullopt) << "it has been taken";
  EXPECT_EQ(machine.used().at("cpu"), kube::Quantity(2));
  machine.Release(a.metadata.uid);
  EXPECT_EQ(machine.pod_count(), 1u);
  EXPECT_EQ(machine.used().at("cpu"), kube::Quantity(1));
  a.metadata.uid = "c";
  EXPECT_EQ(machine.Take(a, "10.0.4.0/22"), "10.0.4.1") << "free again";
}

TEST(Machine, RemembersWhatRanBeforeARestart) {
  Machine machine(1, std::nullopt);
  kube::Pod running = kube::ReadyPod("a");
  running.status.pod_ip = "10.0.4.1";
  machine.Remember(running);
  machine.Remember(running);
  EXPECT_EQ(machine.pod_count(), 1u);
  EXPECT_EQ(machine.Take(kube::PendingPod("b"), "10.0.4.0/22"), "10.0.4.2");
}

TEST(Machine, AddressRangesEnd) {
  Machine machine(1, std::nullopt);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(machine.Take(kube::PendingPod(std::to_string(i)), "10.0.0.0/30"));
  }
  EXPECT_EQ(machine.Take(kube::PendingPod("x"), "10.0.0.0/30"), std::nullopt);
  EXPECT_EQ(machine.Take(kube::PendingPod("x"), "nonsense"), std::nullopt);
}

}  // namespace
}  // namespace koord::localcluster::pod_admission_test
