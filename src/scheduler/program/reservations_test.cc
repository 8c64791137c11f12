// Reservations from the watch to their node, and pods that draw from them, with the real plugins
// and a server that is played by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/core/reservation_feed.h"
#include "scheduler/program/configured_scheduler_testing.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::reservations_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kReservations = "/apis/scheduling.koordinator.sh/v1alpha1/reservations/";

class ReservationsTest : public testing::Test {
 protected:
  struct Recorder final : kube::EventRecorder {
    explicit Recorder(std::vector<std::string>& notes) : notes(notes) {}
    void Record(const Note& note) override {
      notes.push_back(fmt::format("{} {}: {}", note.regarding.name, note.reason, note.message));
    }
    std::vector<std::string>& notes;
  };

  ReservationsTest() {
    // No controller writes in between.
    auto made = MakeConfiguredScheduler(loop_, client_,
                                        {.configuration = kReservationConfiguration,
                                         .recorder = std::make_unique<Recorder>(events_),
                                         .has_controllers = false},
                                        {});
    EXPECT_TRUE(made.ok()) << made.status();
    scheduler_ = *std::move(made);
    feed_ = std::make_unique<ReservationFeed>(*scheduler_);
    scheduler_->Start();
  }

  void AddNode(std::string_view name, int cpu) {
    scheduler_->OnNode(nullptr, NodeOf(fmt::format("{{metadata: {{name: {}}}, status: "
                                                   "{{allocatable: {{cpu: {}, memory: 64Gi}}}}}}",
                                                   name, cpu)));
  }
  // `status` is that of the reservation, `spec` has further members of it.
  void Show(std::string_view name, int cpu, std::string_view status = "",
            std::string_view spec = "", std::string_view uid = "") {
    auto reservation = FromYaml<api::Reservation>(fmt::format(
        "{{metadata: {{name: {0}, uid: '{4}', resourceVersion: '{5}'}}, spec: {{ttl: 0s, owners: "
        "[{{labelSelector: {{matchLabels: {{app: web}}}}}}], template: {{spec: {{containers: "
        "[{{resources: {{requests: {{cpu: {1}}}}}}}]}}}}{3}}}, status: {{{2}}}}}",
        name, cpu, status, spec, uid.empty() ? UidOf(name) : std::string(uid), ++version_));
    Tell(name, reservation);
  }
  void ShowAvailable(std::string_view name, int cpu, std::string_view node,
                     std::string_view spec = "") {
    Show(name, cpu, Available(node, cpu), spec);
  }
  static std::string Available(std::string_view node, int cpu) {
    return fmt::format("phase: Available, nodeName: {}, allocatable: {{cpu: {}}}", node, cpu);
  }
  void Delete(std::string_view name) { Tell(name, nullptr); }
  void Tell(std::string_view name, std::shared_ptr<const api::Reservation> after) {
    auto& slot = shown_[std::string(name)];
    const auto before = std::exchange(slot, after);
    feed_->OnReservation(before, after);
    loop_.RunReady();
  }
  static std::string UidOf(std::string_view name) { return fmt::format("uid-of-{}", name); }

  std::shared_ptr<const kube::Pod> AddPod(std::string_view name, int cpu,
                                          std::string_view metadata = "labels: {app: web}") {
    auto pod =
        PodOf(fmt::format("{{metadata: {{name: {}, {}}}, spec: {{schedulerName: s, "
                          "containers: [{{resources: {{requests: {{cpu: {}}}}}}}]}}}}",
                          name, metadata, cpu));
    scheduler_->OnPod(nullptr, pod);
    loop_.RunReady();
    return pod;
  }

  // "METHOD path" of the oldest request that nobody has looked at.
  kube::ScriptedHandler::Exchange Take() { return server_.Take(); }
  static std::string WhatOf(const kube::ScriptedHandler::Exchange& exchange) {
    const std::string& target = exchange.request.target;
    return fmt::format("{} {}", exchange.request.method, target.substr(0, target.find('?')));
  }
  // Says yes to the next request, which must be this one.
  void Agree(std::string_view what) {
    auto exchange = Take();
    EXPECT_THAT(WhatOf(exchange), HasSubstr(what));
    exchange.Answer(kube::json::object());
    loop_.RunReady();
  }
  void Refuse(std::string_view what, int code, std::string reason) {
    auto exchange = Take();
    EXPECT_THAT(WhatOf(exchange), HasSubstr(what));
    exchange.Fail({.code = code, .reason = std::move(reason), .message = "no"});
    loop_.RunReady();
  }

  // Where a pod or reserve pod is charged; "" if nowhere. A star: assumed.
  std::string Charged(std::string_view uid) {
    const PodInfo* pod = scheduler_->ledger().Find(uid);
    if (pod == nullptr) return "";
    return scheduler_->ledger().NodeOf(*pod) + (pod->assumed ? "*" : "");
  }
  std::string DrawsFrom(std::string_view uid) {
    const PodInfo* pod = scheduler_->ledger().Find(uid);
    if (pod == nullptr || pod->held == nullptr || !pod->held->draws_from) return "";
    return pod->held->draws_from->name;
  }
  int64_t RequestedCpu(std::string_view node) {
    const NodeTable& nodes = scheduler_->ledger().nodes();
    return nodes.requested(kCpuId)[*nodes.Find(node)] / 1000;
  }
  bool IsQueued(std::string_view uid) { return scheduler_->queue().Describe(uid).has_value(); }

  VirtualLoop loop_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {.qps = 0}};
  std::vector<std::string> events_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<ReservationFeed> feed_;
  std::map<std::string, std::shared_ptr<const api::Reservation>> shown_;
  int version_ = 0;
};

// ---- How a reservation gets its node

TEST_F(ReservationsTest, AReservationIsGivenANodeLikeAPod) {
  AddNode("n", 8);
  Show("r", 4);
  EXPECT_EQ(Charged("uid-of-r"), "n*");
  auto written = Take();
  EXPECT_EQ(WhatOf(written), fmt::format("PATCH {}r/status", kReservations));
  const kube::Json body = *kube::ParseJson(written.request.body);
  EXPECT_EQ(kube::FindString(body, {"metadata", "uid"}), "uid-of-r");
  EXPECT_EQ(kube::FindString(body, {"metadata", "resourceVersion"}), "1");
  EXPECT_EQ(kube::FindString(body, {"status", "phase"}), "Available");
  EXPECT_EQ(kube::FindString(body, {"status", "nodeName"}), "n");
  EXPECT_EQ(kube::FindString(body, {"status", "allocatable", "cpu"}), "4");
  written.Answer(kube::json::object());
  loop_.RunReady();
  EXPECT_THAT(events_, ElementsAre("r Scheduled: Successfully assigned r to n"));
  ShowAvailable("r", 4, "n");
  EXPECT_EQ(Charged("uid-of-r"), "n");
  EXPECT_EQ(RequestedCpu("n"), 4);
  EXPECT_FALSE(IsQueued("uid-of-r"));
}

TEST_F(ReservationsTest, ARefusedBindingGivesTheRoomBack) {
  AddNode("n", 8);
  Show("r", 4);
  Refuse("r/status", 403, "Forbidden");
  EXPECT_EQ(Charged("uid-of-r"), "");
  EXPECT_EQ(RequestedCpu("n"), 0);
  EXPECT_TRUE(IsQueued("uid-of-r"));
}

TEST_F(ReservationsTest, ABindingIsDecidedOnWhatTheReservationIsByThen) {
  AddNode("n", 8);
  Show("r", 4);
  Refuse("r/status", 409, "Conflict");
  auto read = Take();
  EXPECT_EQ(WhatOf(read), fmt::format("GET {}r", kReservations));
  read.Answer({{"metadata", {{"name", "r"}, {"uid", "uid-of-r"}, {"resourceVersion", "9"}}},
               {"status", {{"phase", "Failed"}}}});
  loop_.RunReady();
  EXPECT_EQ(Charged("uid-of-r"), "");
  ASSERT_FALSE(events_.empty());
  EXPECT_THAT(events_.front(), HasSubstr("reservation is not active"));
}

TEST_F(ReservationsTest, ABindingWhoseAnswerWasLostIsFoundOut) {
  AddNode("n", 8);
  Show("r", 4);
  Refuse("r/status", 500, "InternalError");
  auto read = Take();
  EXPECT_EQ(WhatOf(read), fmt::format("GET {}r", kReservations));
  read.Answer({{"metadata", {{"name", "r"}, {"uid", "uid-of-r"}, {"resourceVersion", "9"}}},
               {"status", {{"phase", "Available"}, {"nodeName", "n"}}}});
  loop_.RunReady();
  EXPECT_EQ(Charged("uid-of-r"), "n*");
  EXPECT_EQ(server_.waiting(), 0u);
}

// Deleted while it was being bound: nothing is said to anybody, and nothing stays.
TEST_F(ReservationsTest, DeletedWhileItIsBeingBound) {
  AddNode("n", 8);
  Show("r", 4);
  Delete("r");
  Refuse("r/status", 404, "NotFound");
  EXPECT_EQ(Charged("uid-of-r"), "");
  EXPECT_FALSE(IsQueued("uid-of-r"));
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(server_.waiting(), 0u);
}

TEST_F(ReservationsTest, OneThatDoesNotFitIsToldSo) {
  AddNode("n", 2);
  Show("r", 4);
  EXPECT_THAT(events_, ElementsAre(HasSubstr("r FailedScheduling: 0/1 nodes are available: 1 "
                                             "Insufficient cpu.")));
  EXPECT_EQ(WhatOf(Take()), fmt::format("GET {}r", kReservations));  // to set its condition
  EXPECT_TRUE(IsQueued("uid-of-r"));
}

// ---- What the watch shows

// Decision 7: without a scheduler's name it is for the first profile.
TEST_F(ReservationsTest, WhoSchedulesIt) {
  Show("ours", 1);
  EXPECT_TRUE(IsQueued("uid-of-ours"));
  auto reservation = FromYaml<api::Reservation>(
      "{metadata: {name: theirs, uid: uid-of-theirs}, spec: {ttl: 0s, owners: [{}], template: "
      "{spec: {schedulerName: other}}}}");
  Tell("theirs", reservation);
  EXPECT_FALSE(IsQueued("uid-of-theirs"));
}

TEST_F(ReservationsTest, OneOfAnotherSchedulerHoldsItsRoom) {
  AddNode("n", 8);
  Tell("theirs", FromYaml<api::Reservation>(
                     "{metadata: {name: theirs, uid: u}, spec: {ttl: 0s, owners: [{}], template: "
                     "{spec: {schedulerName: other}}}, status: {phase: Available, nodeName: n, "
                     "allocatable: {cpu: 3}}}"));
  EXPECT_EQ(RequestedCpu("n"), 3);
}

TEST_F(ReservationsTest, AnInvalidOneIsNotQueued) {
  Tell("r", FromYaml<api::Reservation>(
                "{metadata: {name: r, uid: uid-of-r}, spec: {ttl: 0s, owners: [{}]}}"));
  EXPECT_FALSE(IsQueued("uid-of-r"));
  Show("r", 1);
  EXPECT_TRUE(IsQueued("uid-of-r"));
}

TEST_F(ReservationsTest, OneThatHasEndedHoldsNothing) {
  AddNode("n", 8);
  for (const std::string_view phase : {"Failed", "Succeeded"}) {
    ShowAvailable("r", 4, "n");
    EXPECT_EQ(RequestedCpu("n"), 4);
    Show("r", 4, fmt::format("phase: {}, nodeName: n", phase));
    EXPECT_EQ(Charged("uid-of-r"), "");
    EXPECT_FALSE(IsQueued("uid-of-r"));
    EXPECT_EQ(RequestedCpu("n"), 0);
    Delete("r");
  }
}

TEST_F(ReservationsTest, OneThatIsGoneHoldsNothing) {
  AddNode("n", 8);
  ShowAvailable("r", 4, "n");
  Delete("r");
  EXPECT_EQ(Charged("uid-of-r"), "");
  EXPECT_EQ(RequestedCpu("n"), 0);
}

// An interrupted watch shows one that was made anew as a change.
TEST_F(ReservationsTest, MadeAnewUnderTheSameName) {
  AddNode("n", 8);
  ShowAvailable("r", 4, "n");
  Show("r", 2, Available("n", 2), "", "another");
  EXPECT_EQ(Charged("uid-of-r"), "");
  EXPECT_EQ(Charged("another"), "n");
  EXPECT_EQ(RequestedCpu("n"), 2);
}

TEST_F(ReservationsTest, OneThatLosesItsNodeIsQueuedAgain) {
  AddNode("n", 1);
  ShowAvailable("r", 4, "n");
  Show("r", 4);
  EXPECT_EQ(Charged("uid-of-r"), "");
  EXPECT_TRUE(IsQueued("uid-of-r"));
}

// Editing status.allocatable takes effect.
TEST_F(ReservationsTest, ResizedByItsStatus) {
  AddNode("n", 8);
  ShowAvailable("r", 4, "n");
  Show("r", 4, Available("n", 6));
  EXPECT_EQ(RequestedCpu("n"), 6);
}

// ---- Pods that draw from them

TEST_F(ReservationsTest, APodDrawsFromItsReservation) {
  AddNode("n", 8);
  AddNode("m", 8);
  ShowAvailable("r", 4, "n");
  AddPod("p", 2);
  EXPECT_EQ(Charged("p"), "n*");
  EXPECT_EQ(DrawsFrom("p"), "r");
  EXPECT_EQ(RequestedCpu("n"), 4) << "what is reserved and used is charged once";
  // Decision 8: who uses it is written down before it is bound.
  auto mark = Take();
  EXPECT_EQ(WhatOf(mark), fmt::format("PATCH {}r", kReservations));
  EXPECT_THAT(mark.request.body, HasSubstr("reservation-current-owner"));
  mark.Answer(kube::json::object());
  loop_.RunReady();
  auto binding = Take();
  EXPECT_EQ(WhatOf(binding), "POST /api/v1/namespaces/default/pods/p/binding");
  EXPECT_THAT(binding.request.body, HasSubstr("scheduling.koordinator.sh/reservation-allocated"));
  EXPECT_THAT(binding.request.body, HasSubstr("uid-of-r"));
}

TEST_F(ReservationsTest, OneThatMayBeUsedAgainNeedsNoMark) {
  AddNode("n", 8);
  ShowAvailable("r", 4, "n", ", allocateOnce: false");
  AddPod("p", 2);
  EXPECT_EQ(WhatOf(Take()), "POST /api/v1/namespaces/default/pods/p/binding");
  AddPod("q", 2);
  EXPECT_EQ(DrawsFrom("q"), "r");
}

TEST_F(ReservationsTest, OneThatIsUsedOnceIsUsedOnce) {
  AddNode("n", 8);
  ShowAvailable("r", 4, "n");
  AddPod("p", 2);
  AddPod("q", 2);
  EXPECT_EQ(DrawsFrom("p"), "r");
  EXPECT_EQ(DrawsFrom("q"), "");
  EXPECT_EQ(RequestedCpu("n"), 6);
}

// A binding that fails gives everything back, and the next pod may have it.
TEST_F(ReservationsTest, AFailedBindingGivesTheReservationBack) {
  AddNode("n", 4);
  ShowAvailable("r", 4, "n");
  AddPod("p", 2);
  Agree("reservations/r");
  Refuse("binding", 403, "Forbidden");
  EXPECT_EQ(Charged("p"), "");
  EXPECT_EQ(RequestedCpu("n"), 4);
  auto unmark = Take();
  EXPECT_EQ(WhatOf(unmark), fmt::format("PATCH {}r", kReservations));
  EXPECT_THAT(unmark.request.body, HasSubstr("\"op\":\"remove\""));
  while (server_.waiting() > 0) Take().Answer(kube::json::object());
  loop_.RunReady();
  AddPod("q", 4);
  EXPECT_EQ(DrawsFrom("q"), "r");
}

// The reservation vanishes before its consumer is written down: the pod is not bound.
TEST_F(ReservationsTest, GoneBeforeItIsMarked) {
  AddNode("n", 8);
  ShowAvailable("r", 4, "n");
  AddPod("p", 2);
  Refuse("reservations/r", 404, "NotFound");
  EXPECT_EQ(Charged("p"), "");
  ASSERT_FALSE(events_.empty());
  EXPECT_THAT(events_.front(), HasSubstr("cannot find target reservation"));
}

TEST_F(ReservationsTest, AboutToGoWhenItIsMarked) {
  AddNode("n", 8);
  ShowAvailable("r", 4, "n");
  AddPod("p", 2);
  Take().Answer({{"metadata", {{"deletionTimestamp", "2026-01-01T00:00:00Z"}}}});
  loop_.RunReady();
  ASSERT_FALSE(events_.empty());
  EXPECT_THAT(events_.front(), HasSubstr("target reservation is terminating"));
  EXPECT_EQ(Charged("p"), "");
}

// It vanishes while its pod is being bound: the pod stays, and pays for itself.
TEST_F(ReservationsTest, GoneWhileThePodIsBeingBound) {
  AddNode("n", 8);
  ShowAvailable("r", 4, "n");
  AddPod("p", 2);
  Agree("reservations/r");
  Delete("r");
  EXPECT_EQ(RequestedCpu("n"), 2);
  Agree("binding");
  EXPECT_EQ(Charged("p"), "n*");
  EXPECT_EQ(RequestedCpu("n"), 2);
}

TEST_F(ReservationsTest, APodThatMustUseOneIsToldWhyItDoesNot) {
  AddNode("n", 4);
  ShowAvailable("r", 2, "n", ", allocatePolicy: Restricted");
  AddPod("p", 3,
         "labels: {app: web}, annotations: {scheduling.koordinator.sh/reservation-affinity: '{}'}");
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(events_[0],
            "p FailedScheduling-Reservation: 0/1 reservations are available: 1 Reservation(s) "
            "Insufficient cpu.");
  EXPECT_THAT(
      events_[1],
      HasSubstr("p FailedScheduling: 0/1 nodes are available: 1 Reservation(s) Insufficient "
                "cpu. 1 Reservation(s) matched owner total, preemption: "));
}

TEST_F(ReservationsTest, APodThatMustUseOneHearsIfThereIsNone) {
  AddNode("n", 4);
  AddPod("p", 3,
         "labels: {app: web}, annotations: {scheduling.koordinator.sh/reservation-affinity: '{}'}");
  ASSERT_FALSE(events_.empty());
  EXPECT_THAT(events_.back(),
              HasSubstr("0/1 nodes are available: node(s) no reservations match reservation "
                        "affinity. 0 Reservation(s) matched owner total"));
}

// A pod that others have rejected hears of a reservation for it: nobody else would tell it.
TEST_F(ReservationsTest, WaitingPodsWakeWhenThereIsAReservationForThem) {
  AddNode("n", 4);
  scheduler_->OnPod(nullptr, PodOf("{metadata: {name: old}, spec: {nodeName: n, containers: "
                                   "[{resources: {requests: {cpu: 2}}}]}}"));
  ShowAvailable("r", 2, "n", ", unschedulable: true");
  for (const char* name : {"p1", "p2"}) AddPod(name, 2);
  AddPod("stranger", 2, "labels: {app: other}");
  EXPECT_EQ(Charged("p1"), "");
  ShowAvailable("r", 2, "n");
  loop_.Advance(2s);
  EXPECT_TRUE(Charged("p1") == "n*" || Charged("p2") == "n*");
  EXPECT_EQ(Charged("stranger"), "");
  EXPECT_EQ(scheduler_->queue().rescued(), 0u);
}

// The same for one pod of a workload, which waits together with its like.
TEST_F(ReservationsTest, AWaitingPodThatIsNamedWakes) {
  AddNode("n", 4);
  scheduler_->OnPod(nullptr, PodOf("{metadata: {name: old}, spec: {nodeName: n, containers: "
                                   "[{resources: {requests: {cpu: 2}}}]}}"));
  ShowAvailable("r", 2, "n", ", unschedulable: true");
  for (const char* name : {"p1", "p2", "p3"}) AddPod(name, 2, "labels: {app: db}");
  Tell("r", FromYaml<api::Reservation>(
                "{metadata: {name: r, uid: uid-of-r}, spec: {ttl: 0s, owners: [{object: {name: p2, "
                "namespace: default}}], template: {spec: {containers: [{resources: {requests: "
                "{cpu: 2}}}]}}}, status: {phase: Available, nodeName: n, allocatable: {cpu: 2}}}"));
  loop_.Advance(2s);
  EXPECT_EQ(Charged("p2"), "n*");
  EXPECT_EQ(Charged("p1"), "");
}

}  // namespace
}  // namespace koord::scheduler::reservations_test
