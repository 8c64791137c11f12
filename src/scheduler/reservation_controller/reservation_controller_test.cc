#include "scheduler/reservation_controller/reservation_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::reservation_controller_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Recorder final : public kube::EventRecorder {
 public:
  void Record(const Note& note) override {
    notes.push_back(fmt::format("{} {}: {}", note.regarding.name, note.reason, note.message));
  }
  std::vector<std::string> notes;
};

class ReservationControllerTest : public testing::Test {
 protected:
  ReservationControllerTest() {
    bed_.AddNode("{metadata: {name: n1}, status: {allocatable: {cpu: '10'}}}");
    bed_.context.client = &client_;
    bed_.context.recorder = &recorder_;
    bed_.context.pending = &pending_;
    bed_.context.leader_parts = &parts_;
  }

  void Add(ReservationController::Options options = {}) {
    options.args.SetDefaults();
    ReservationController::AddTo(bed_.context, options);
    parts_.Start();
    loop().RunReady();
  }
  void SetReservation(std::string_view more, std::string_view spec = "ttl: 1h",
                      std::string_view version = "1") {
    bed_.objects.reservations.Set(FromYaml<api::Reservation>(fmt::format(
        "{{metadata: {{name: r, uid: u, resourceVersion: '{}', creationTimestamp: '{}'{}}}, spec: "
        "{{owners: [{{}}], template: {{spec: {{}}}}, {}}}, status: {{phase: Available, nodeName: "
        "n1, allocatable: {{cpu: 4}}}}}}",
        version, kube::FormatTime(loop().clock().Now()), more, spec)));
    loop().RunReady();
  }
  void SetOwner(std::string_view node = "n1") {
    bed_.ledger.SetPod(PodOf(fmt::format(
        "{{metadata: {{name: p, uid: p, resourceVersion: '5', annotations: "
        "{{scheduling.koordinator.sh/reservation-allocated: "
        "'{{\"name\":\"r\",\"uid\":\"u\"}}'}}}}, "
        "spec: {{nodeName: {}, containers: [{{resources: {{requests: {{cpu: 2}}}}}}]}}}}",
        node)));
    loop().RunReady();
  }
  // "PATCH path body", and answers it.
  std::string Written() {
    loop().RunReady();
    if (server_.waiting() == 0) return "";
    auto exchange = server_.Take();
    std::string text = fmt::format("{} {} {}", exchange.request.method, exchange.request.target,
                                   exchange.request.body);
    exchange.Answer({{"metadata", {{"name", "r"}, {"uid", "u"}, {"resourceVersion", "2"}}}});
    loop().RunReady();
    return text;
  }
  VirtualLoop& loop() { return bed_.loop; }

  PluginBed bed_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      bed_.loop, std::make_shared<kube::InProcessTransport>(bed_.loop, server_), {.qps = 0}};
  Recorder recorder_;
  PendingPods pending_;
  LeaderParts parts_;
};

constexpr const char* kStatusPath =
    "PATCH /apis/scheduling.koordinator.sh/v1alpha1/reservations/r/status ";

TEST_F(ReservationControllerTest, ShowsAnOwnerWhenItComesAndWhenItGoes) {
  Add();
  SetReservation("", "ttl: 1h, allocateOnce: false");
  EXPECT_EQ(Written(), "");
  SetOwner();
  const std::string written = Written();
  EXPECT_THAT(written, testing::StartsWith(kStatusPath));
  EXPECT_THAT(written, testing::HasSubstr(R"("allocated":{"cpu":"2"})"));
  EXPECT_EQ(Written(), "") << "not again before it is shown";
  bed_.objects.reservations.Set(FromYaml<api::Reservation>(
      "{metadata: {name: r, uid: u, resourceVersion: '2', creationTimestamp: "
      "'2099-01-01T00:00:00Z'}, spec: {owners: [{}], template: {spec: {}}, ttl: 1h, allocateOnce: "
      "false}, status: {phase: Available, nodeName: n1, allocatable: {cpu: 4}, currentOwners: "
      "[{namespace: default, name: p, uid: p}], allocated: {cpu: 2}}}"));
  EXPECT_EQ(Written(), "");
  bed_.ledger.RemovePod("p");
  EXPECT_THAT(Written(), testing::HasSubstr(R"("allocated":null)"));
}

// Decision 9.
TEST_F(ReservationControllerTest, OwnersElsewhereDoNotCount) {
  bed_.AddNode("{metadata: {name: n2}}");
  Add();
  SetReservation("");
  SetOwner("n2");
  EXPECT_EQ(Written(), "");
}

TEST_F(ReservationControllerTest, APodThatIsBeingBoundCountsOnceItIsShown) {
  Add();
  SetReservation("");
  const auto pod = PodOf(
      "{metadata: {name: p, uid: p, annotations: {scheduling.koordinator.sh/reservation-allocated: "
      "'{\"name\":\"r\",\"uid\":\"u\"}'}}, spec: {nodeName: n1}}");
  auto held = std::make_unique<Holdings>();
  held->draws_from = Holdings::Reservation{"r", "u"};
  ASSERT_TRUE(bed_.ledger
                  .Assume(pod, bed_.ledger.shapes().Of(pod), *bed_.ledger.nodes().Find("n1"),
                          std::move(held))
                  .ok());
  EXPECT_EQ(Written(), "");
  bed_.ledger.SetPod(pod);
  EXPECT_THAT(Written(), testing::HasSubstr(R"("phase":"Succeeded")"));
}

// Decision 8.
TEST_F(ReservationControllerTest, IsUsedUpByAPodThatWasGoneBeforeAnybodyLooked) {
  Add();
  const auto pod = PodOf("{metadata: {name: p, uid: p}}");
  pending_.Set(pod);
  SetReservation(R"(, annotations: {scheduling.koordinator.sh/reservation-current-owner:
                     '{"namespace":"default","name":"p","uid":"p"}'})");
  EXPECT_EQ(Written(), "") << "the pod waits: its binding came to nothing, or is under way";
  pending_.Remove("p");
  EXPECT_THAT(Written(), testing::HasSubstr(R"("phase":"Succeeded")"));
}

TEST_F(ReservationControllerTest, ExpiresInTime) {
  Add();
  SetReservation("", "ttl: 20s");
  loop().Advance(20s);
  EXPECT_EQ(Written(), "");
  loop().Advance(15s);
  EXPECT_THAT(Written(), testing::HasSubstr(R"("reason":"Expired")"));
}

TEST_F(ReservationControllerTest, ExpiresWithItsNode) {
  Add();
  SetReservation("", "ttl: 0s");
  EXPECT_EQ(Written(), "");
  bed_.ledger.RemoveNode("n1");
  EXPECT_THAT(Written(), testing::HasSubstr(R"("reason":"Expired")"));
}

TEST_F(ReservationControllerTest, TriesAgainWhenSomebodyElseHasWritten) {
  Add();
  SetReservation("");
  SetOwner();
  loop().RunReady();
  server_.Take().Fail({.code = 409, .reason = "Conflict", .message = "changed"});
  loop().Advance(1s);
  EXPECT_THAT(Written(), testing::HasSubstr(R"("phase":"Succeeded")"));
}

TEST_F(ReservationControllerTest, WritesOnlyWhileItLeads) {
  ReservationController::AddTo(bed_.context, {});
  SetReservation("");
  SetOwner();
  EXPECT_EQ(Written(), "");
  parts_.Start();
  loop().RunReady();
  auto exchange = server_.Take();
  parts_.Stop();
  bool stopped = false;
  parts_.WhenStopped([&] { stopped = true; });
  EXPECT_FALSE(stopped) << "a write is under way";
  exchange.Answer({{"metadata", {{"resourceVersion", "2"}}}});
  loop().Advance(1min);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(Written(), "");
}

TEST_F(ReservationControllerTest, OfSeveralProfilesIsThereOnce) {
  ReservationController::AddTo(bed_.context, {});
  Add();
  SetReservation("");
  SetOwner();
  EXPECT_NE(Written(), "");
  EXPECT_EQ(Written(), "");
}

TEST_F(ReservationControllerTest, CollectsWhatHasEnded) {
  Add({.args = {.gc_duration_seconds = 3600, .gc_interval_seconds = 60}});
  bed_.objects.reservations.Set(FromYaml<api::Reservation>(fmt::format(
      "{{metadata: {{name: r, uid: u}}, spec: {{ttl: 1h}}, status: {{phase: Succeeded, nodeName: "
      "n1, conditions: [{{type: Ready, status: 'False', reason: Succeeded, lastProbeTime: "
      "'{}'}}]}}}}",
      kube::FormatTime(loop().clock().Now()))));
  loop().Advance(59min);
  EXPECT_EQ(Written(), "");
  loop().Advance(2min);
  EXPECT_THAT(Written(),
              testing::AllOf(testing::StartsWith(
                                 "DELETE /apis/scheduling.koordinator.sh/v1alpha1/reservations/r "),
                             testing::HasSubstr(R"("uid":"u")")));
}

TEST_F(ReservationControllerTest, CollectsNothingIfToldSo) {
  Add({.args = {.disable_garbage_collection = true}});
  bed_.objects.reservations.Set(FromYaml<api::Reservation>(
      "{metadata: {name: r, uid: u}, status: {phase: Succeeded, nodeName: gone}}"));
  loop().Advance(48h);
  EXPECT_EQ(Written(), "");
}

TEST_F(ReservationControllerTest, PodsForgetAReservationThatIsGoneOnlyBehindTheGate) {
  Add({.args = {}, .clean_allocated = true});
  SetReservation("", "ttl: 1h, allocateOnce: false");
  SetOwner();
  Written();
  bed_.objects.reservations.Remove({"", "r"});
  EXPECT_EQ(
      Written(),
      "PATCH /api/v1/namespaces/default/pods/p "
      R"({"metadata":{"annotations":{"scheduling.koordinator.sh/reservation-allocated":null},)"
      R"("resourceVersion":"5","uid":"p"}})");
}

TEST_F(ReservationControllerTest, PodsRememberAReservationThatIsGone) {
  Add();
  SetReservation("", "ttl: 1h, allocateOnce: false");
  SetOwner();
  Written();
  bed_.objects.reservations.Remove({"", "r"});
  EXPECT_EQ(Written(), "");
}

// Decision 31.
TEST_F(ReservationControllerTest, WarnsOnceOfOneThatNobodyCanUse) {
  Add();
  const char* broken = ", annotations: {node.koordinator.sh/reservation: '{'}";
  SetReservation(broken);
  SetReservation(broken, "ttl: 1h", "2");
  ASSERT_EQ(recorder_.notes.size(), 1u);
  EXPECT_THAT(recorder_.notes.front(),
              testing::StartsWith("r InvalidReservation: nobody can use it: "));
}

}  // namespace
}  // namespace koord::scheduler::reservation_controller_test
