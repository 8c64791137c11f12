// Pods in operating mode Reservation: others may take their place.
#include <gtest/gtest.h>

#include "scheduler/plugins/reservation/reservation_testing.h"

namespace koord::scheduler::acting_pods_test {
namespace {

class ActingPodsTest : public ::testing::Test, protected ReservationBed {
 protected:
  ActingPodsTest() { Node("n", 10); }

  void AddActing(std::string_view status, std::string_view annotations = "") {
    AddPod(fmt::format(
        "{{metadata: {{name: acting, labels: {{scheduling.koordinator.sh/operating-mode: "
        "Reservation}}, annotations: {{scheduling.koordinator.sh/reservation-owners: "
        "'[{{\"labelSelector\":{{\"matchLabels\":{{\"app\":\"web\"}}}}}}]'{}}}}}, spec: "
        "{{nodeName: "
        "n, containers: [{{resources: {{requests: {{cpu: 6}}}}}}]}}, status: {}}}",
        annotations, status));
  }
  static constexpr std::string_view kReady =
      "{phase: Running, conditions: [{type: Ready, status: 'True'}]}";
  std::string NominatedFor(const std::shared_ptr<const kube::Pod>& pod) {
    return Nominated(pod, *Query(pod), "n");
  }
};

TEST_F(ActingPodsTest, OffersItsRoomOnceItRunsAndIsReady) {
  const auto pod = Pod("cpu: 5", "app: web");
  AddActing("{phase: Pending}");
  EXPECT_EQ(NominatedFor(pod), "none");
  AddActing(kReady);
  EXPECT_EQ(NominatedFor(pod), "acting");
  EXPECT_EQ(NominatedFor(Pod("cpu: 5", "app: other")), "none");
  EXPECT_EQ(NominatedFor(Pod("cpu: 5", "app: web", Affinity("{\"name\":\"acting\"}"))), "acting");
}

TEST_F(ActingPodsTest, IsUsedOnce) {
  AddActing(kReady);
  AddPod(
      "{metadata: {name: owner, annotations: {scheduling.koordinator.sh/reservation-allocated: "
      "'{\"name\":\"acting\",\"uid\":\"acting\"}'}}, spec: {nodeName: n, containers: [{resources: "
      "{requests: {cpu: 5}}}]}}");
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[*ledger.nodes().Find("n")], 6000);
  EXPECT_EQ(NominatedFor(Pod("cpu: 1", "app: web")), "none");
}

TEST_F(ActingPodsTest, IsUsedUpWhenItSaysSo) {
  AddActing(kReady, ", scheduling.koordinator.sh/reservation-current-owner: '{\"uid\":\"x\"}'");
  EXPECT_EQ(NominatedFor(Pod("cpu: 1", "app: web")), "none");
}

TEST_F(ActingPodsTest, IsGoneWithItsPod) {
  AddActing(kReady);
  ledger.RemovePod("acting");
  EXPECT_EQ(NominatedFor(Pod("cpu: 1", "app: web")), "none");
}

// It counts as Aligned where policies must get along.
TEST_F(ActingPodsTest, ItsPolicyIsAligned) {
  Reserve("r", "n", "cpu: 1", ", owners: [{}]");
  const auto pod = Pod("cpu: 1", "scheduling.koordinator.sh/operating-mode: Reservation");
  EXPECT_EQ(Check(*Query(pod), "n"),
            "UnschedulableAndUnresolvable: node(s) reservation allocate policy conflict");
  Reserve("r", "n", "cpu: 1", ", owners: [{}], allocatePolicy: Restricted");
  EXPECT_EQ(Check(*Query(pod), "n"), "");
}

}  // namespace
}  // namespace koord::scheduler::acting_pods_test
