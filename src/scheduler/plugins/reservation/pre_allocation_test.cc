// Reservations that are placed over running pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/plugins/reservation/reservation_testing.h"

namespace koord::scheduler::pre_allocation_test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kRestricted = ", allocatePolicy: Restricted";

class PreAllocationTest : public ::testing::Test {
 protected:
  PreAllocationTest() { bed_->Node("n", 10); }

  void Configure(const PreAllocationConfig& config) {
    ReservationArgs args;
    args.pre_allocation_config = config;
    query_.reset();
    bed_ = std::make_unique<ReservationBed>(args);
    bed_->Node("n", 10);
  }
  void AddPod(std::string_view name, int cpu, std::string_view metadata = "labels: {app: web}") {
    bed_->AddPod(
        fmt::format("{{metadata: {{name: {}, {}}}, spec: {{nodeName: n, containers: "
                    "[{{resources: {{requests: {{cpu: {}}}}}}}]}}}}",
                    name, metadata, cpu));
  }
  void MakeReservation(int cpu, std::string_view spec = kRestricted,
                       std::string_view metadata = "") {
    const auto reservation = bed_->Reserve(
        "r", "", fmt::format("cpu: {}", cpu),
        fmt::format(
            ", preAllocation: true, owners: [{{labelSelector: {{matchLabels: {{app: web}}}}}}]{}",
            spec),
        metadata);
    pod_ = MakeReservePod(*reservation, "koord-scheduler");
    query_ = bed_->Query(pod_);
  }
  static constexpr std::string_view kRequired =
      ", labels: {scheduling.koordinator.sh/pre-allocation-required: 'true'}";

  std::string Admitted() { return bed_->plugin.Admit(*pod_, *query_).Message(); }
  std::string Check() { return bed_->Check(*query_, "n"); }
  // Whom it takes over: what they are told at PreBind, where a client would tell them, is what
  // Reserve has chosen.
  std::vector<std::string> Removed() {
    std::vector<std::string> names;
    const RowDelta* delta = bed_->plugin.DeltaOf(*query_, *bed_->ledger.nodes().Find("n"));
    if (delta == nullptr) return names;
    for (const PodInfo* pod : delta->removed) names.push_back(pod->pod->metadata.name);
    return names;
  }

  std::unique_ptr<ReservationBed> bed_ = std::make_unique<ReservationBed>();
  std::shared_ptr<const kube::Pod> pod_;
  std::unique_ptr<PodQuery> query_;
};

TEST_F(PreAllocationTest, OnlyRestrictedOnes) {
  MakeReservation(4, "");
  EXPECT_EQ(Admitted(),
            "node(s) reservation pre allocation is unsupported with current attributes");
  MakeReservation(4);
  EXPECT_EQ(Admitted(), "");
}

TEST_F(PreAllocationTest, ClusterModeMustBeEnabled) {
  constexpr std::string_view kCluster =
      ", allocatePolicy: Restricted, preAllocationPolicy: {mode: Cluster}";
  MakeReservation(4, kCluster);
  EXPECT_EQ(Admitted(), "reservation requires cluster mode pre-allocation which is disabled");
  Configure({.enable_cluster_mode = true});
  MakeReservation(4, kCluster);
  EXPECT_EQ(Admitted(), "");
}

TEST_F(PreAllocationTest, ARequiredOneNeedsPodsToTake) {
  MakeReservation(4, kRestricted, kRequired);
  EXPECT_EQ(Admitted(), "node(s) no pod match reservation with pre allocation required");
  AddPod("a", 4);
  EXPECT_EQ(Admitted(), "");
  EXPECT_EQ(Check(), "");
}

// The node is full, but one of its pods fits into the reservation and makes room for it.
TEST_F(PreAllocationTest, TakesAPodThatMakesRoom) {
  AddPod("a", 6);
  AddPod("stranger", 4, "labels: {app: other}");
  MakeReservation(6);
  EXPECT_THAT(Removed(), ElementsAre("a"));
  EXPECT_EQ(Check(), "");
  MakeReservation(7);
  EXPECT_EQ(Check(), "Unschedulable: Insufficient cpu by node");
  MakeReservation(5);
  EXPECT_EQ(Check(), "Unschedulable: Insufficient cpu by node") << "the pod does not fit into it";
}

TEST_F(PreAllocationTest, ReasonsOfARequiredOne) {
  AddPod("a", 6);
  MakeReservation(5, kRestricted, kRequired);
  EXPECT_EQ(Check(), "Unschedulable: Reservation(s) Insufficient cpu");
}

TEST_F(PreAllocationTest, TakesSeveralIfItMay) {
  AddPod("a", 3);
  AddPod("b", 3);
  AddPod("stranger", 3, "labels: {app: other}");
  MakeReservation(7);
  EXPECT_EQ(Check(), "Unschedulable: Insufficient cpu by node");
  MakeReservation(7, ", allocatePolicy: Restricted, preAllocationPolicy: {enableMultiple: true}");
  EXPECT_EQ(Check(), "");
  EXPECT_EQ(bed_->plugin.PreScore(*query_, {}).code, Code::kSkip);
}

TEST_F(PreAllocationTest, PodsThatDrawFromAnotherAreNotTaken) {
  bed_->Reserve("other", "n", "cpu: 2", ", owners: [{}], allocatePolicy: Restricted");
  bed_->Owner("o", "n", "cpu: 2", "other");
  MakeReservation(4);
  EXPECT_TRUE(Removed().empty());
}

TEST_F(PreAllocationTest, InClusterModeThoseThatSayTheyMayBeTakenTheMostUrgentFirst) {
  Configure({.enable_cluster_mode = true});
  const auto labels = [](int urgency) {
    return fmt::format(
        "labels: {{pod.koordinator.sh/is-pre-allocatable: 'true'}}, annotations: "
        "{{pod.koordinator.sh/pre-allocatable-priority: '{}'}}",
        urgency);
  };
  AddPod("a", 2, labels(1));
  AddPod("b", 2, labels(5));
  AddPod("web", 2);
  MakeReservation(4, ", allocatePolicy: Restricted, preAllocationPolicy: {mode: Cluster}");
  EXPECT_THAT(Removed(), ElementsAre("b", "a"));
}

TEST_F(PreAllocationTest, MayPreferToTakeNobody) {
  AddPod("a", 2);
  Configure({.prefer_no_pre_allocated_pods = true});
  AddPod("a", 2);
  MakeReservation(4);
  EXPECT_EQ(Check(), "");
  Attempt attempt{.pod = pod_, .shape = query_->shared_shape()};
  attempt.row = *bed_->ledger.nodes().Find("n");
  EXPECT_TRUE(bed_->plugin.Reserve(attempt).ok());
  EXPECT_EQ(attempt.state<AttemptState>(bed_->plugin.slot()), nullptr);
}

// Candidates are looked for again when the pods of a node change.
TEST_F(PreAllocationTest, FollowsThePodsOfANode) {
  MakeReservation(6);
  EXPECT_TRUE(Removed().empty());
  AddPod("a", 6);
  EXPECT_THAT(Removed(), ElementsAre("a"));
  bed_->ledger.RemovePod("a");
  EXPECT_TRUE(Removed().empty());
}

TEST_F(PreAllocationTest, ScoresByThePodThatIsTaken) {
  AddPod("a", 3);
  AddPod("b", 5);
  MakeReservation(6);
  EXPECT_THAT(bed_->Scores(bed_->plugin, *query_), ElementsAre(83));
}

}  // namespace
}  // namespace koord::scheduler::pre_allocation_test
