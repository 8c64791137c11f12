// Which reservations are there for a pod, as they come, change, are used and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/plugins/reservation/reservation_testing.h"

namespace koord::scheduler::offers_test {
namespace {

constexpr std::string_view kWebOwners = ", owners: [{labelSelector: {matchLabels: {app: web}}}]";
constexpr std::string_view kWeb = "app: web";

class OffersTest : public ::testing::Test, protected ReservationBed {
 protected:
  OffersTest() { Node("n", 20); }

  // What a pod finds on the node.
  bool Finds(const std::shared_ptr<const kube::Pod>& pod) {
    const auto query = Query(pod);
    return plugin.DeltaOf(*query, *ledger.nodes().Find("n")) != nullptr;
  }
};

TEST_F(OffersTest, PodsThatNothingIsReservedForAreLeftAlone) {
  Query(Pod("cpu: 1"));
  EXPECT_EQ(pre_filter.verdict.code, Code::kSkip);
  Reserve("r", "n", "cpu: 4", kWebOwners);
  Query(Pod("cpu: 1", "app: other"));
  EXPECT_EQ(pre_filter.verdict.code, Code::kSkip);
  Query(Pod("cpu: 1", kWeb));
  EXPECT_EQ(pre_filter.verdict.code, Code::kSuccess);
}

TEST_F(OffersTest, AShapeThatIsKnownHearsOfItsFirstReservation) {
  Reserve("other", "n", "cpu: 1", ", owners: [{object: {namespace: elsewhere}}]");
  const auto query = Query(Pod("cpu: 1", kWeb));
  const uint64_t version = plugin.VersionFor(query->shape());
  Reserve("r", "n", "cpu: 4", kWebOwners);
  EXPECT_NE(plugin.VersionFor(query->shape()), version);
  const auto again = Query(Pod("cpu: 1", kWeb));
  EXPECT_EQ(pre_filter.verdict.code, Code::kSuccess);
  // From then on it is refreshed by row.
  const uint64_t now = plugin.VersionFor(query->shape());
  const uint64_t position = ledger.nodes().log_end();
  Reserve("r2", "n", "cpu: 4", kWebOwners);
  EXPECT_EQ(plugin.VersionFor(query->shape()), now);
  EXPECT_GT(ledger.nodes().log_end(), position);
  EXPECT_EQ(plugin.DeltaOf(*again, *ledger.nodes().Find("n"))->removed.size(), 2);
}

TEST_F(OffersTest, OnlyWhileAvailable) {
  Set("{metadata: {name: r, uid: uid-of-r}, spec: {ttl: 0s, owners: [{}]}, status: {phase: "
      "Waiting, "
      "nodeName: n}}");
  EXPECT_FALSE(Finds(Pod("cpu: 1")));
  Reserve("r", "n", "cpu: 4", ", owners: [{}]");
  EXPECT_TRUE(Finds(Pod("cpu: 1")));
  Set("{metadata: {name: r, uid: uid-of-r}, spec: {ttl: 0s, owners: [{}]}, status: {phase: Failed, "
      "nodeName: n}}");
  EXPECT_FALSE(Finds(Pod("cpu: 1")));
}

TEST_F(OffersTest, AnObjectThatIsGoneIsNoOffer) {
  Reserve("r", "n", "cpu: 4", ", owners: [{}]");
  Delete("r");
  EXPECT_FALSE(Finds(Pod("cpu: 1")));
}

// The same name with another uid is another reservation.
TEST_F(OffersTest, MadeAnewUnderTheSameName) {
  Reserve("r", "n", "cpu: 4", kWebOwners);
  ledger.RemovePod("uid-of-r");
  Set("{metadata: {name: r, uid: another}, spec: {ttl: 0s, owners: [{labelSelector: {matchLabels: "
      "{app: db}}}]}, status: {phase: Available, nodeName: n, allocatable: {cpu: 1}}}");
  EXPECT_FALSE(Finds(Pod("cpu: 1", kWeb)));
  EXPECT_TRUE(Finds(Pod("cpu: 1", "app: db")));
}

TEST_F(OffersTest, UsedOnceUnlessItMayBeUsedAgain) {
  Reserve("once", "n", "cpu: 4", kWebOwners);
  Owner("o", "n", "cpu: 1", "once");
  EXPECT_FALSE(Finds(Pod("cpu: 1", kWeb)));
  Reserve("often", "n", "cpu: 4",
          ", allocateOnce: false, owners: [{labelSelector: {matchLabels: {app: web}}}]");
  Owner("p", "n", "cpu: 1", "often");
  EXPECT_TRUE(Finds(Pod("cpu: 1", kWeb)));
}

// Decision 8: its owner is gone before anybody has taken note: it was used all the same.
TEST_F(OffersTest, UsedOnceForGoodAlsoWhenTheOwnerIsGone) {
  Reserve("once", "n", "cpu: 4", kWebOwners);
  Owner("o", "n", "cpu: 1", "once");
  ledger.RemovePod("o");
  EXPECT_FALSE(Finds(Pod("cpu: 1", kWeb)));
}

// One that was only assumed to be bound has used nothing.
TEST_F(OffersTest, AnAssumptionThatIsTakenBackHasUsedNothing) {
  Reserve("once", "n", "cpu: 4", kWebOwners);
  const auto pod = Pod("cpu: 1", kWeb);
  auto held = std::make_unique<Holdings>();
  held->draws_from = Holdings::Reservation{"once", "uid-of-once"};
  ASSERT_TRUE(
      ledger.Assume(pod, ledger.shapes().Of(pod), *ledger.nodes().Find("n"), std::move(held)).ok());
  EXPECT_FALSE(Finds(pod));
  ledger.Forget(pod->metadata.uid);
  EXPECT_TRUE(Finds(pod));
}

// Decision 9: owners count on the reservation's node alone.
TEST_F(OffersTest, OwnersOfOtherNodesAreNone) {
  Node("m", 20);
  Reserve("once", "n", "cpu: 4", kWebOwners);
  Owner("o", "m", "cpu: 1", "once");
  EXPECT_TRUE(Finds(Pod("cpu: 1", kWeb)));
}

// Decision 7: without owners it is for those who name it.
TEST_F(OffersTest, WithoutOwnersForThoseWhoNameIt) {
  Reserve("r", "n", "cpu: 4");
  EXPECT_FALSE(Finds(Pod("cpu: 1", kWeb)));
  EXPECT_FALSE(Finds(Pod("cpu: 1", kWeb, Affinity("{}"))));
  EXPECT_TRUE(Finds(Pod("cpu: 1", kWeb, Affinity("{\"name\":\"r\"}"))));
  EXPECT_TRUE(Finds(Pod("cpu: 1", "scheduling.koordinator.sh/reservation: r")));
}

// A reservation for one pod of a workload is not for its like.
TEST_F(OffersTest, ForOnePodByItsName) {
  const auto pod = [](std::string_view name) {
    return PodOf(fmt::format("{{metadata: {{name: {}, labels: {{app: web}}}}}}", name));
  };
  EXPECT_EQ(ledger.shapes().Of(pod("web-0")), ledger.shapes().Of(pod("web-1")));
  Reserve("r", "n", "cpu: 4", ", owners: [{object: {name: web-1, namespace: default}}]");
  EXPECT_FALSE(Finds(pod("web-0")));
  EXPECT_TRUE(Finds(pod("web-1")));
  EXPECT_FALSE(Finds(pod("web-2")));
  Delete("r");
  EXPECT_FALSE(Finds(pod("web-1")));
  EXPECT_EQ(ledger.shapes().Of(pod("web-0")), ledger.shapes().Of(pod("web-1")));
}

// Labels of the node count for affinity, and may change.
TEST_F(OffersTest, LabelsOfTheNodeAreFollowed) {
  Reserve("r", "n", "cpu: 4", kWebOwners);
  const auto query =
      Query(Pod("cpu: 1", kWeb, Affinity("{\"reservationSelector\":{\"zone\":\"z\"}}")));
  const NodeRow row = *ledger.nodes().Find("n");
  EXPECT_EQ(plugin.DeltaOf(*query, row), nullptr);
  EXPECT_EQ(plugin.Admit(*query->shape().sample, *query).Message(),
            "node(s) no reservations match reservation affinity");
  AddNode("{metadata: {name: n, labels: {zone: z}}, status: {allocatable: {cpu: 20}}}");
  EXPECT_NE(plugin.DeltaOf(*query, row), nullptr);
  EXPECT_TRUE(plugin.Admit(*query->shape().sample, *query).ok());
  EXPECT_TRUE(pre_filter.rows->Has(row));
}

TEST_F(OffersTest, ThoseWhoIgnoreReservationsSeeAllAsFreeAndUseNone) {
  Reserve("r", "n", "cpu: 4", kWebOwners);
  const auto pod = Pod("cpu: 18", "scheduling.koordinator.sh/reservation-ignored: 'true'");
  EXPECT_TRUE(Finds(pod));
  const auto query = Query(pod);
  EXPECT_EQ(Check(*query, "n"), "");
  EXPECT_EQ(Nominated(pod, *query, "n"), "none");
  EXPECT_EQ(plugin.PreScore(*query, {}).code, Code::kSkip);
}

TEST_F(OffersTest, WhatCannotBeReadIsAnErrorOfThePod) {
  Query(Pod("cpu: 1", "", Affinity("{")));
  EXPECT_EQ(pre_filter.verdict.code, Code::kError);
}

TEST_F(OffersTest, AReservationThatCannotBeReadServesNobody) {
  Reserve("r", "n", "cpu: 4",
          ", owners: [{labelSelector: {matchExpressions: [{key: a, operator: Wrong}]}}]");
  EXPECT_FALSE(Finds(Pod("cpu: 1", kWeb)));
}

// ---- When pods that wait are worth trying

TEST_F(OffersTest, AReservationThatIsAvailableMayHelpThosePodsThatItIsFor) {
  const ClusterEvent event{.kind = EventKind::kReservationChanged,
                           .reservation_after = Reserve("r", "n", "cpu: 4", kWebOwners)};
  EXPECT_TRUE(plugin.MightCure(*Pod("cpu: 1", kWeb), event));
  EXPECT_FALSE(plugin.MightCure(*Pod("cpu: 1", "app: other"), event));
  EXPECT_FALSE(plugin.MightCure(*Pod("cpu: 1", kWeb, Affinity("{\"name\":\"x\"}")), event));
  const ClusterEvent waits{.kind = EventKind::kReservationChanged,
                           .reservation_after = Reserve("q", "", "cpu: 4", kWebOwners)};
  EXPECT_FALSE(plugin.MightCure(*Pod("cpu: 1", kWeb), waits));
}

TEST_F(OffersTest, ClustersWithoutReservationsTryNobodyForThem) {
  const ClusterEvent event{.kind = EventKind::kAssignedPodRemoved, .pod_before = Pod("cpu: 1")};
  EXPECT_FALSE(plugin.MightCure(*Pod("cpu: 1", kWeb), event));
}

// 20 CPUs, of which 15 are reserved and given only as a whole: 16 do not fit, until the reservation
// is gone, or its node has more, or somebody else leaves.
TEST_F(OffersTest, PodsThatWereRejectedBecauseOfAReservationAreTriedWhenThereIsRoomWithoutIt) {
  const auto reservation =
      Reserve("r", "n", "cpu: 15", std::string(kWebOwners) + ", allocatePolicy: Restricted");
  const auto pod = Pod("cpu: 16", kWeb);
  ASSERT_EQ(Check(*Query(pod), "n"), "Unschedulable: Insufficient cpu by node");
  const auto reserve_pod = ledger.Find("uid-of-r")->pod;
  Delete("r");
  EXPECT_TRUE(
      plugin.MightCure(*pod, {.kind = EventKind::kAssignedPodRemoved, .pod_before = reserve_pod}));
  EXPECT_TRUE(plugin.MightCure(
      *pod, {.kind = EventKind::kNodeUpdated, .node_changes = {.allocatable = true}}));
  EXPECT_FALSE(
      plugin.MightCure(*pod, {.kind = EventKind::kNodeUpdated, .node_changes = {.images = true}}));
}

// ---- Who was to use one up

TEST_F(OffersTest, OneWhoseConsumerRunsElsewhereCanBeUsed) {
  Node("m", 4);
  Reserve("r", "n", "cpu: 4", kWebOwners,
          ", annotations: {scheduling.koordinator.sh/reservation-current-owner: "
          "'{\"name\":\"x\",\"uid\":\"x\"}'}");
  EXPECT_FALSE(Finds(Pod("cpu: 1", kWeb))) << "it is gone, and may have used it";
  AddPod("{metadata: {name: x}, spec: {nodeName: m}}");
  EXPECT_TRUE(Finds(Pod("cpu: 1", kWeb)));
}

// ---- What reservations ask of nodes

class NeighboursTest : public OffersTest {
 protected:
  std::string CheckReservation(std::string_view policy, std::string_view node_name = "") {
    auto reservation = *FromYaml<api::Reservation>(
        fmt::format("{{metadata: {{name: new, uid: uid-of-new}}, spec: {{ttl: 0s, owners: [{{}}], "
                    "allocatePolicy: '{}', template: {{spec: {{nodeName: '{}', containers: "
                    "[{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}}}",
                    policy, node_name));
    return Check(*Query(MakeReservePod(reservation, "koord-scheduler")), "n");
  }
};

TEST_F(NeighboursTest, TheDeprecatedPolicyStandsAlone) {
  constexpr std::string_view kConflict =
      "UnschedulableAndUnresolvable: node(s) reservation allocate policy conflict";
  EXPECT_EQ(CheckReservation(""), "");
  Reserve("r", "n", "cpu: 4", ", owners: [{}], allocatePolicy: Aligned");
  EXPECT_EQ(CheckReservation(""), kConflict);
  EXPECT_EQ(CheckReservation("Aligned"), "");
  EXPECT_EQ(CheckReservation("Restricted"), "");
  Reserve("r", "n", "cpu: 4", ", owners: [{}]");
  EXPECT_EQ(CheckReservation(""), "");
  EXPECT_EQ(CheckReservation("Restricted"), kConflict);
  // One that is used up does not count.
  Owner("o", "n", "cpu: 1", "r");
  EXPECT_EQ(CheckReservation("Restricted"), "");
}

TEST_F(NeighboursTest, ATemplateMayNameItsNode) {
  EXPECT_EQ(CheckReservation("", "n"), "");
  EXPECT_EQ(CheckReservation("", "m"),
            "UnschedulableAndUnresolvable: node(s) didn't match the nodeName specified by "
            "reservation");
}

// Reservations that ask for the same are of one shape, whatever their names.
TEST_F(NeighboursTest, ReservationsOfOneKindShareAShape) {
  const auto shape = [&](std::string_view name, std::string_view policy) {
    return ledger.shapes().Of(
        MakeReservePod(*FromYaml<api::Reservation>(fmt::format(
                           "{{metadata: {{name: {0}, uid: u-{0}}}, spec: {{allocatePolicy: '{1}', "
                           "resources: {{requests: {{cpu: 1}}}}}}}}",
                           name, policy)),
                       "koord-scheduler"));
  };
  const auto a = shape("a", "");
  EXPECT_EQ(a, shape("b", ""));
  EXPECT_NE(a, shape("c", "Aligned"));
}

}  // namespace
}  // namespace koord::scheduler::offers_test
