#include "localcluster/controllers/replicaset/deletion_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/objects/objects_testing.h"

namespace koord::localcluster::deletion_order_test {
namespace {

using ::testing::ElementsAre;

kube::Pod NotReady(kube::Pod pod) {
  pod.status.conditions[0].status = "False";
  return pod;
}
kube::Pod ReadyFor(kube::Pod pod, Duration time) {
  pod.status.conditions[0].last_transition_time = kube::kTestNow - time;
  return pod;
}
kube::Pod MadeAgo(kube::Pod pod, Duration time) {
  pod.metadata.creation_timestamp = kube::kTestNow - time;
  return pod;
}
kube::Pod WithCost(kube::Pod pod, std::string cost) {
  pod.metadata.annotations["controller.kubernetes.io/pod-deletion-cost"] = std::move(cost);
  return pod;
}
kube::Pod Restarted(kube::Pod pod, int32_t times) {
  pod.status.container_statuses.Mutable().resize(1);
  pod.status.container_statuses.Mutable()[0].restart_count = times;
  return pod;
}
kube::Pod InPhase(kube::Pod pod, std::string phase) {
  pod.status.phase = std::move(phase);
  return pod;
}

TEST(DeletionOrder, TheLesserLossGoesFirst) {
  struct Case {
    std::string_view name;
    kube::Pod first, second;
  };
  const kube::Pod a = kube::ReadyPod("a"), b = kube::ReadyPod("b");
  const Case cases[] = {
      {"not assigned", kube::PendingPod("b"), NotReady(InPhase(kube::ReadyPod("a"), "Pending"))},
      {"pending before running", NotReady(InPhase(b, "Pending")), NotReady(a)},
      {"unknown before running", NotReady(InPhase(b, "Unknown")), NotReady(a)},
      {"not ready before ready", NotReady(b), a},
      {"lower cost", WithCost(b, "-5"), WithCost(a, "3")},
      {"no cost is zero", b, WithCost(a, "1")},
      {"a senseless cost is zero", WithCost(b, "cheap"), WithCost(a, "1")},
      {"cost outweighs crowding", WithCost(kube::ReadyPod("b", "n2"), "-1"), a},
      {"on the fuller node", kube::ReadyPod("b", "n1"), kube::ReadyPod("a", "n2")},
      {"crowding outweighs time", ReadyFor(b, 50min), ReadyFor(kube::ReadyPod("a", "n2"), 10s)},
      {"ready for a shorter time", ReadyFor(b, 1min), ReadyFor(a, 10min)},
      {"restarted more often", Restarted(b, 3), Restarted(a, 1)},
      {"made later", MadeAgo(b, 1min), MadeAgo(a, 1h)},
      {"ages within a factor of two are alike", MadeAgo(a, 61min), MadeAgo(b, 60min)},
  };
  const std::map<std::string, int> neighbours = {{"n1", 3}, {"n2", 1}};
  for (const Case& c : cases) {
    PodList pods = {SharedOf(c.second), SharedOf(c.first)};
    SortForDeletion(pods, neighbours, kube::kTestNow);
    EXPECT_EQ(pods[0]->metadata.name, c.first.metadata.name) << c.name;
  }
}

}  // namespace
}  // namespace koord::localcluster::deletion_order_test
