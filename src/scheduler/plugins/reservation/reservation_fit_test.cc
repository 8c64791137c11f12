// Which pods fit a node by a reservation, and in which words they are told that they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/plugins/reservation/reservation_testing.h"

namespace koord::scheduler::reservation_fit_test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kWebOwners = ", owners: [{labelSelector: {matchLabels: {app: web}}}]";
constexpr std::string_view kWeb = "app: web";

std::string Owned(std::string_view more) { return fmt::format("{}{}", kWebOwners, more); }

// The cluster of test vector TV4: node cpu 40, a plain pod of 6, U with 12 reserved and 5 used for
// others, M with 10 reserved and 4 used for `app: web`.
class ReservationFitTest : public ::testing::Test, protected ReservationBed {
 protected:
  void MakeVector4(std::string_view policy) {
    Node("n", 40);
    AddPod(
        "{metadata: {name: plain}, spec: {nodeName: n, containers: [{resources: {requests: "
        "{cpu: 6}}}]}}");
    Reserve("u", "n", "cpu: 12",
            ", allocateOnce: false, owners: [{labelSelector: {matchLabels: {app: other}}}]");
    Owner("owner-of-u", "n", "cpu: 5", "u");
    Reserve("m", "n", "cpu: 10",
            Owned(fmt::format(", allocateOnce: false, allocatePolicy: {}", policy)));
    Owner("owner-of-m", "n", "cpu: 4", "m");
  }
  // Whether a web pod that asks for this much fits.
  bool Fits(int cpu, std::string_view annotations = "") {
    const auto query = Query(Pod(fmt::format("cpu: {}", cpu), kWeb, annotations));
    return Check(*query, "n").empty();
  }
};

// TV4, with decisions 1 and 2: the node is charged max(reserved, used) for each reservation.
TEST_F(ReservationFitTest, Vector4NodeAccounting) {
  MakeVector4("Aligned");
  const NodeRow row = *ledger.nodes().Find("n");
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], (6 + 12 + 10) * 1000);
  const auto query = Query(Pod("cpu: 1", kWeb));
  const RowDelta* delta = plugin.DeltaOf(*query, row);
  ASSERT_NE(delta, nullptr);
  EXPECT_EQ((RowView{row, delta}.Requested(ledger.nodes(), kCpuId)), 22 * 1000);
  EXPECT_TRUE(Fits(18));
  EXPECT_FALSE(Fits(19));
}

TEST_F(ReservationFitTest, Vector4ThoseWhoNeedNotUseItHaveWhatIsFreeBesides) {
  MakeVector4("Restricted");
  // Via M alone there are 6 left; via the node 12.
  EXPECT_TRUE(Fits(6, Affinity("{}")));
  EXPECT_FALSE(Fits(7, Affinity("{}")));
  EXPECT_TRUE(Fits(12));
  EXPECT_FALSE(Fits(13));
}

TEST_F(ReservationFitTest, Vector5Texts) {
  MakeVector4("Restricted");
  const auto any = Query(Pod("cpu: 7", kWeb, Affinity("{}")));
  EXPECT_EQ(Check(*any, "n"), "Unschedulable: Reservation(s) Insufficient cpu");
  const auto named = Query(Pod("cpu: 7", kWeb, Affinity("{\"name\":\"m\"}")));
  EXPECT_EQ(Check(*named, "n"),
            "Unschedulable: Reservation(s) Insufficient cpu, requested: 7000, used: 4000, "
            "capacity: 10000");
  const auto pod = Pod("cpu: 7", kWeb);
  const auto without = Query(pod);
  EXPECT_EQ(Check(*without, "n"), "");
  EXPECT_EQ(Nominated(pod, *without, "n"), "none");
}

TEST_F(ReservationFitTest, Vector5TextOfTheNode) {
  MakeVector4("Aligned");
  const auto query = Query(Pod("cpu: 19", kWeb, Affinity("{}")));
  EXPECT_EQ(Check(*query, "n"), "Unschedulable: Insufficient cpu by node");
  const auto without = Query(Pod("cpu: 19", kWeb));
  EXPECT_EQ(Check(*without, "n"), "Unschedulable: Insufficient cpu by node");
}

TEST_F(ReservationFitTest, Vector6WhatIsKeptBackIsNotGivenToOwners) {
  Node("n", 40);
  Reserve("r", "n", "cpu: 8", Owned(", allocateOnce: false, allocatePolicy: Restricted"),
          ", annotations: {node.koordinator.sh/reservation: '{\"resources\":{\"cpu\":\"3\"}}'}");
  Owner("o", "n", "cpu: 2", "r");
  EXPECT_TRUE(Fits(3, Affinity("{}")));
  const auto named = Query(Pod("cpu: 4", kWeb, Affinity("{\"name\":\"r\"}")));
  EXPECT_EQ(Check(*named, "n"),
            "Unschedulable: Reservation(s) Insufficient cpu, requested: 4000, used: 2000, "
            "capacity: 5000");
}

// TV7: a Restricted reservation may be about some of its resources only; options that name none of
// them mean all.
TEST_F(ReservationFitTest, Vector7RestrictedOptions) {
  Node("n", 40);
  const auto reserve = [&](std::string_view resource) {
    Reserve(
        "r", "n", "cpu: 4, memory: 4Gi", Owned(", allocatePolicy: Restricted"),
        fmt::format(", annotations: {{scheduling.koordinator.sh/reservation-restricted-options: "
                    "'{{\"resources\":[\"{}\"]}}'}}",
                    resource));
  };
  reserve("memory");
  const auto cpu = Pod("cpu: 8, memory: 1Gi", kWeb, Affinity("{}"));
  const auto memory = Pod("cpu: 1, memory: 8Gi", kWeb, Affinity("{}"));
  EXPECT_EQ(Check(*Query(cpu), "n"), "");
  EXPECT_EQ(Check(*Query(memory), "n"), "Unschedulable: Reservation(s) Insufficient memory");
  reserve("example.com/gpu");
  EXPECT_EQ(Check(*Query(cpu), "n"), "Unschedulable: Reservation(s) Insufficient cpu");
}

// Decision 1: node 10, reservation 6, owner 10: strangers see nothing free.
TEST_F(ReservationFitTest, WhatCrossesTheBoundaryStaysCharged) {
  const NodeRow row = Node("n", 10);
  Reserve("r", "n", "cpu: 6", Owned(", allocateOnce: false"));
  EXPECT_TRUE(Fits(10));
  Owner("o", "n", "cpu: 10", "r");
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 10'000);
  EXPECT_FALSE(Fits(1));
}

TEST_F(ReservationFitTest, OfSeveralReservationsAPodUsesOne) {
  Node("n", 10);
  Reserve("a", "n", "cpu: 4", kWebOwners);
  Reserve("b", "n", "cpu: 5", kWebOwners);
  EXPECT_TRUE(Fits(6));  // b and what is free besides
  EXPECT_FALSE(Fits(7));
}

TEST_F(ReservationFitTest, ReservationsThatShareNoResourceWithThePodAreLeftAlone) {
  Node("n", 10, ", example.com/gpu: 4");
  Reserve("r", "n", "example.com/gpu: 2", kWebOwners);
  const auto pod = Pod("cpu: 2", kWeb);
  const auto query = Query(pod);
  EXPECT_EQ(Check(*query, "n"), "");
  EXPECT_EQ(Nominated(pod, *query, "n"), "none");
  const auto wants_it = Pod("cpu: 2", kWeb, Affinity("{}"));
  EXPECT_EQ(Nominated(wants_it, *Query(wants_it), "n"), "r");
}

TEST_F(ReservationFitTest, PlacesInAReservation) {
  Node("n", 40);
  Reserve("r", "n", "cpu: 8, pods: 1", Owned(", allocateOnce: false, allocatePolicy: Restricted"));
  EXPECT_TRUE(Fits(1, Affinity("{}")));
  Owner("o", "n", "cpu: 1", "r");
  EXPECT_EQ(Check(*Query(Pod("cpu: 1", kWeb, Affinity("{}"))), "n"),
            "Unschedulable: Reservation(s) Too many pods");
  EXPECT_EQ(Check(*Query(Pod("cpu: 1", kWeb, Affinity("{\"name\":\"r\"}"))), "n"),
            "Unschedulable: Reservation(s) Too many pods, requested: 1, used: 1, capacity: 1");
}

// A port that another reservation holds is not free for those who draw from this one.
TEST_F(ReservationFitTest, PortsOfAReservationAreForThoseWhoDrawFromIt) {
  Node("n", 40);
  Set("{metadata: {name: a, uid: uid-of-a}, spec: {ttl: 0s, owners: [{labelSelector: {matchLabels: "
      "{app: web}}}], template: {spec: {containers: [{ports: [{hostPort: 80}], resources: "
      "{requests: {cpu: 2}}}]}}}, status: {phase: Available, nodeName: n, allocatable: {cpu: 2}}}");
  Reserve("b", "n", "cpu: 8", Owned(", allocatePolicy: Restricted"));
  const auto pod = PodOf(
      "{metadata: {name: p, labels: {app: web}}, spec: {containers: [{ports: [{hostPort: 80}], "
      "resources: {requests: {cpu: 2}}}]}}");
  EXPECT_EQ(Nominated(pod, *Query(pod), "n"), "a");
  const auto wants_b = PodOf(
      "{metadata: {name: p, labels: {app: web}, annotations: "
      "{scheduling.koordinator.sh/reservation-affinity: '{\"reservationSelector\":{}}'}}, spec: "
      "{containers: [{ports: [{hostPort: 80}], resources: {requests: {cpu: 3}}}]}}");
  EXPECT_EQ(Nominated(wants_b, *Query(wants_b), "n"), "a") << "b holds no port 80";
}

TEST_F(ReservationFitTest, IgnoredResourcesAreNotCompared) {
  ReservationArgs args;
  args.ignored_resources = {"example.com/gpu"};
  ReservationBed bed(args);
  bed.Node("n", 10, ", example.com/gpu: 1");
  bed.Reserve("r", "n", "cpu: 4, example.com/gpu: 1", Owned(", allocatePolicy: Restricted"));
  EXPECT_EQ(bed.Check(*bed.Query(Pod("cpu: 2, example.com/gpu: 4", kWeb, Affinity("{}"))), "n"),
            "");
}

// ---- Which reservation, and what the node is worth

class ReservationScoreTest : public ReservationFitTest {
 protected:
  // TV8: on nodes a, b and c; `order` of the first two.
  void MakeVector8(std::string_view first, std::string_view second) {
    const auto labels = [](std::string_view order) {
      return order.empty()
                 ? std::string()
                 : fmt::format(", labels: {{scheduling.koordinator.sh/reservation-order: '{}'}}",
                               order);
    };
    const std::string reusable = Owned(", allocateOnce: false");
    Reserve("r1", nodes_[0], "cpu: 6, memory: 12Gi", reusable, labels(first));
    Owner("o1", nodes_[0], "cpu: 1", "r1");
    Reserve("r2", nodes_[1], "cpu: 6, memory: 12Gi", reusable, labels(second));
    Owner("o2", nodes_[1], "cpu: 4", "r2");
    Reserve("r3", nodes_[2], "cpu: 4, memory: 4Gi", reusable);
  }
  std::string NominatedOn(std::string_view node) { return Nominated(pod_, *Query(pod_), node); }

  std::array<std::string_view, 3> nodes_{"n", "n", "n"};
  std::shared_ptr<const kube::Pod> pod_ = Pod("cpu: 3, memory: 4Gi", kWeb);
};

TEST_F(ReservationScoreTest, Vector8TheFullestIsChosen) {
  Node("n", 40);
  MakeVector8("", "");
  EXPECT_EQ(NominatedOn("n"), "r3");
}

TEST_F(ReservationScoreTest, Vector8TheSmallestOrderIsChosen) {
  Node("n", 40);
  MakeVector8("7", "-1");
  EXPECT_EQ(NominatedOn("n"), "r2");
}

TEST_F(ReservationScoreTest, Vector8OrdersThatAreNoneDoNotCount) {
  Node("n", 40);
  MakeVector8("0", "x");
  EXPECT_EQ(NominatedOn("n"), "r3");
}

TEST_F(ReservationScoreTest, Vector8ScoresOfNodes) {
  nodes_ = {"a", "b", "c"};
  for (const std::string_view node : {"a", "b", "c", "d"}) Node(node, 40);
  MakeVector8("", "");
  EXPECT_THAT(RawScores(plugin, *Query(pod_)), ElementsAre(49, 16, 87, 0));
  EXPECT_THAT(Scores(plugin, *Query(pod_)), ElementsAre(56, 18, 100, 0));
}

TEST_F(ReservationScoreTest, Vector8ScoresOfNodesWithAnOrder) {
  nodes_ = {"a", "b", "c"};
  for (const std::string_view node : {"a", "b", "c", "d"}) Node(node, 40);
  MakeVector8("7", "-1");
  // b is worth 1000, the others what they were: a tenth of that after normalising.
  EXPECT_THAT(Scores(plugin, *Query(pod_)), ElementsAre(4, 100, 8, 0));
}

// D11: of equal ones the oldest, then by name.
TEST_F(ReservationScoreTest, TiesAreBrokenByAgeAndThenByName) {
  Node("n", 40);
  const auto reserve = [&](std::string_view name, std::string_view created) {
    Reserve(name, "n", "cpu: 4, memory: 4Gi", kWebOwners,
            fmt::format(", creationTimestamp: {}", created));
  };
  reserve("c", "2026-01-02T00:00:00Z");
  reserve("b", "2026-01-02T00:00:00Z");
  EXPECT_EQ(NominatedOn("n"), "b");
  reserve("z", "2026-01-01T00:00:00Z");
  EXPECT_EQ(NominatedOn("n"), "z");
}

}  // namespace
}  // namespace koord::scheduler::reservation_fit_test
