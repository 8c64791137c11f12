#include "scheduler/queue/scheduling_queue.h"

#include <gmock/gmock.h>

#include <map>

#include "base/virtual_loop.h"
#include "scheduler/queue/queue_testing.h"

namespace koord::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SchedulingQueueTest : public ::testing::Test {
 protected:
  SchedulingQueueTest() { Rebuild({}); }

  void Rebuild(QueueOptions options) {
    options.on_incoming = [this](std::string_view pool, std::string_view event) {
      ++incoming_[fmt::format("{}/{}", pool, event)];
    };
    QueueProfile profile{
        .name = std::string(kTestProfile), .pre_enqueue = {&gate_a_, &gate_b_}, .requeue = {}};
    for (RequeuePlugin* plugin :
         std::initializer_list<RequeuePlugin*>{&fit_, &taints_, &gate_a_cure_}) {
      profile.requeue[plugin->name()] = plugin;
    }
    queue_ = std::make_unique<SchedulingQueue>(
        loop_, sort_, std::vector<QueueProfile>{std::move(profile)}, std::move(options));
  }

  void Add(std::string_view name, int32_t priority = 0) {
    ASSERT_TRUE(queue_->Add(MakePod(name, priority)));
  }
  std::string Pop() {
    const auto popped = queue_->Pop();
    return popped.has_value() ? popped->pod->metadata.name : "";
  }
  // Takes the named pod out and lets the attempt fail.
  QueuePool Fail(std::string_view name, AttemptFailure failure) {
    EXPECT_TRUE(queue_->Take(Uid(name)).has_value()) << name;
    return ReturnFailed(name, std::move(failure));
  }
  QueuePool ReturnFailed(std::string_view name, AttemptFailure failure) {
    return queue_->Return(Uid(name), failure).value_or(QueuePool::kNone);
  }
  static AttemptFailure RejectedBy(std::initializer_list<std::string> plugins) {
    AttemptFailure failure{.message = "no room"};
    for (const std::string& plugin : plugins) failure.rejected_by.push_back({plugin});
    return failure;
  }
  static AttemptFailure PendingFor(const std::string& plugin) {
    return {.rejected_by = {{plugin, true}}};
  }
  static AttemptFailure InternalError() { return {.message = "broken"}; }
  static std::string Uid(std::string_view name) { return fmt::format("{}-uid", name); }
  QueuePool PoolOf(std::string_view name) {
    const auto position = queue_->Describe(Uid(name));
    return position.has_value() ? position->pool : QueuePool::kNone;
  }
  void Happens(EventKind kind, const WakeFilter& filter = {}) {
    queue_->OnEvent({.kind = kind}, filter);
  }
  void Activate(std::string_view name) {
    const kube::ObjectKey key{"default", std::string(name)};
    queue_->Activate({&key, 1});
  }

  VirtualLoop loop_;
  TestPrioritySort sort_;
  TestRejector fit_{"NodeResourcesFit", {EventKind::kNodeAdded, EventKind::kAssignedPodRemoved}};
  TestRejector taints_{"TaintToleration", {EventKind::kNodeAdded, EventKind::kNodeUpdated}};
  TestGate gate_a_{"GateA"};
  TestRejector gate_a_cure_{"GateA", {EventKind::kPodGroupChanged}};
  TestGate gate_b_{"GateB"};  // does not say what may open it
  std::map<std::string, int> incoming_;
  std::unique_ptr<SchedulingQueue> queue_;
};

// ---- Order

TEST_F(SchedulingQueueTest, HigherPriorityFirstThenEarlier) {
  Add("b");
  Add("low", -5);
  loop_.Advance(1ms);
  Add("c");
  Add("high", 100);
  Add("d");
  EXPECT_EQ(Pop(), "high");
  EXPECT_EQ(Pop(), "b");
  EXPECT_EQ(Pop(), "c");
  EXPECT_EQ(Pop(), "d");
  EXPECT_EQ(Pop(), "low");
  EXPECT_EQ(Pop(), "");
}

TEST_F(SchedulingQueueTest, RetriedPodsQueueBehindFreshOnes) {
  Add("old");
  ASSERT_EQ(Pop(), "old");
  loop_.Advance(1s);
  Add("fresh");
  loop_.Advance(1s);
  ReturnFailed("old", RejectedBy({"NodeResourcesFit"}));
  Activate("old");
  EXPECT_EQ(Pop(), "fresh");
  EXPECT_EQ(Pop(), "old");
}

TEST_F(SchedulingQueueTest, ChangedPriorityChangesTheOrder) {
  Add("a", 1);
  Add("b", 2);
  Add("c", 3);
  queue_->Update(MakePod("a", 4));
  queue_->Update(MakePod("c", -1));
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(Pop(), "b");
  EXPECT_EQ(Pop(), "c");
}

TEST_F(SchedulingQueueTest, PodsOfOtherSchedulersAreRefused) {
  auto pod = MakePod("stranger");
  pod->spec.scheduler_name = "default-scheduler";
  EXPECT_FALSE(queue_->Add(pod));
  EXPECT_FALSE(queue_->Serves("default-scheduler"));
  EXPECT_TRUE(queue_->Serves(kTestProfile));
  EXPECT_EQ(Pop(), "");
}

TEST_F(SchedulingQueueTest, PopCountsAttemptsAndRemembersTheFirst) {
  Add("a");
  loop_.Advance(3s);
  const WallTime first = loop_.clock().Now();
  ASSERT_EQ(queue_->Pop()->attempts, 1);
  ReturnFailed("a", RejectedBy({"NodeResourcesFit"}));
  loop_.Advance(1min);
  Activate("a");
  const auto again = queue_->Pop();
  EXPECT_EQ(again->attempts, 2);
  EXPECT_EQ(again->first_attempt_at, first);
  EXPECT_EQ(again->first_attempt, 3s);
}

// ---- Backoff

TEST_F(SchedulingQueueTest, BackoffEndsAtAWholeSecond) {
  Add("a");
  loop_.Advance(500ms);
  EXPECT_EQ(Fail("a", InternalError()), QueuePool::kErrorBackoff);
  loop_.Advance(1499ms);
  EXPECT_EQ(PoolOf("a"), QueuePool::kErrorBackoff);
  loop_.Advance(1ms);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
  EXPECT_EQ(incoming_["active/BackoffComplete"], 1);
}

TEST_F(SchedulingQueueTest, ErrorsCountInARowAndBeforeRejections) {
  Add("a");
  for (int i = 0; i < 5; ++i) Fail("a", RejectedBy({"NodeResourcesFit"}));
  Fail("a", InternalError());
  Fail("a", InternalError());
  auto position = *queue_->Describe(Uid("a"));
  EXPECT_EQ(position.unschedulable_count, 5);
  EXPECT_EQ(position.error_count, 2);
  EXPECT_EQ(position.backoff_left, 3s);  // two seconds, and it is still waiting during the last one
  Fail("a", RejectedBy({"NodeResourcesFit"}));
  position = *queue_->Describe(Uid("a"));
  EXPECT_EQ(position.unschedulable_count, 6);
  EXPECT_EQ(position.error_count, 0);
}

TEST_F(SchedulingQueueTest, RejectedPodsAreTakenEarlyWhenNobodyElseIsThere) {
  Add("rejected");
  Add("rejected-later");
  Add("broken");
  for (const char* name : {"rejected", "rejected-later"}) {
    Fail(name, RejectedBy({"NodeResourcesFit"}));
    loop_.Advance(1s);
  }
  Fail("broken", InternalError());
  Fail("rejected-later", RejectedBy({"NodeResourcesFit"}));
  Happens(EventKind::kNodeAdded);
  ASSERT_EQ(PoolOf("rejected-later"), QueuePool::kBackoff);
  Add("fresh");
  EXPECT_EQ(PoolOf("rejected"), QueuePool::kActive);  // its second is over
  EXPECT_EQ(Pop(), "rejected");
  EXPECT_EQ(Pop(), "fresh");
  EXPECT_EQ(Pop(), "rejected-later");
  EXPECT_EQ(Pop(), "");  // an error must wait
  EXPECT_EQ(PoolOf("broken"), QueuePool::kErrorBackoff);
}

TEST_F(SchedulingQueueTest, BackoffPoolIsOrderedByExpiryThenSort) {
  for (const char* name : {"twice", "once"}) Add(name);
  Add("once-high", 7);
  Fail("twice", RejectedBy({"NodeResourcesFit"}));
  Fail("twice", RejectedBy({"NodeResourcesFit"}));
  Fail("once", RejectedBy({"NodeResourcesFit"}));
  Fail("once-high", RejectedBy({"NodeResourcesFit"}));
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(queue_->counts().backoff, 3u);
  EXPECT_EQ(Pop(), "once-high");
  EXPECT_EQ(Pop(), "once");
  EXPECT_EQ(Pop(), "twice");
}

TEST_F(SchedulingQueueTest, WithoutBackoffEverythingIsTriedAtOnce) {
  Rebuild({.backoff = {1s, 0s}});
  Add("a");
  EXPECT_EQ(Fail("a", InternalError()), QueuePool::kActive);
  Fail("a", RejectedBy({"NodeResourcesFit"}));
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(SchedulingQueueTest, JumpsOfTheWallClockChangeNothing) {
  Add("a");
  Fail("a", InternalError());
  loop_.JumpWallClock(1h);
  EXPECT_EQ(queue_->Describe(Uid("a"))->backoff_left, 2s);
  loop_.Advance(1s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kErrorBackoff);
  loop_.JumpWallClock(-2h);
  loop_.Advance(1s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

// ---- Events

TEST_F(SchedulingQueueTest, EventsWakeThosePodsThatTheyMayHelp) {
  struct Case {
    std::string_view what;
    std::initializer_list<std::string> rejected_by;
    EventKind event;
    QueuePool expected;
  };
  for (const Case& test :
       {Case{"the rejector waits for it",
             {"NodeResourcesFit"},
             EventKind::kAssignedPodRemoved,
             QueuePool::kBackoff},
        {"the rejector does not care",
         {"TaintToleration"},
         EventKind::kAssignedPodRemoved,
         QueuePool::kUnschedulable},
        {"one of two cares",
         {"TaintToleration", "NodeResourcesFit"},
         EventKind::kAssignedPodRemoved,
         QueuePool::kBackoff},
        {"a rejector that says nothing",
         {"Silent"},
         EventKind::kServiceChanged,
         QueuePool::kBackoff},
        {"forced", {"TaintToleration"}, EventKind::kForced, QueuePool::kBackoff}}) {
    Rebuild({});
    Add("a");
    ASSERT_EQ(Fail("a", RejectedBy(test.rejected_by)), QueuePool::kUnschedulable) << test.what;
    Happens(test.event);
    EXPECT_EQ(PoolOf("a"), test.expected) << test.what;
  }
}

TEST_F(SchedulingQueueTest, PluginsAreNotAskedAboutEventsTheyDoNotWant) {
  for (int i = 0; i < 10; ++i) {
    Add(fmt::format("p{}", i));
    Fail(fmt::format("p{}", i), RejectedBy({"NodeResourcesFit"}));
  }
  Happens(EventKind::kNodeMetricChanged);
  EXPECT_EQ(fit_.asked, 0);
}

TEST_F(SchedulingQueueTest, TheRejectorDecidesAboutEachPod) {
  Add("small");
  Add("large");
  for (const char* name : {"small", "large"}) Fail(name, RejectedBy({"NodeResourcesFit"}));
  fit_.cures = [](const kube::Pod& pod, const ClusterEvent&) {
    return pod.metadata.name == "small";
  };
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(PoolOf("small"), QueuePool::kBackoff);
  EXPECT_EQ(PoolOf("large"), QueuePool::kUnschedulable);
}

TEST_F(SchedulingQueueTest, PodsThatWaitedLongEnoughAreActiveAtOnce) {
  Add("a");
  Fail("a", RejectedBy({"NodeResourcesFit"}));
  loop_.Advance(2s);
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
  EXPECT_EQ(incoming_["active/NodeAdd"], 1);
}

TEST_F(SchedulingQueueTest, PendingPodsSkipTheirBackoff) {
  Add("a");
  Add("b");
  Fail("a", PendingFor("NodeResourcesFit"));
  // Pending for one plugin, rejected by another: only the first one's word lifts the backoff.
  Fail("b", {.rejected_by = {{"TaintToleration", false}, {"NodeResourcesFit", true}}});
  Happens(EventKind::kNodeUpdated);
  EXPECT_EQ(PoolOf("a"), QueuePool::kUnschedulable);
  EXPECT_EQ(PoolOf("b"), QueuePool::kBackoff);
  Fail("b", {.rejected_by = {{"TaintToleration", false}, {"NodeResourcesFit", true}}});
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
  EXPECT_EQ(PoolOf("b"), QueuePool::kActive);
}

TEST_F(SchedulingQueueTest, EventsDoNotDisturbPodsThatBackOff) {
  Add("a");
  Fail("a", InternalError());
  Happens(EventKind::kForced);
  EXPECT_EQ(PoolOf("a"), QueuePool::kErrorBackoff);
}

TEST_F(SchedulingQueueTest, FiltersLimitWhomAnEventWakes) {
  for (const auto& [name, priority] : {std::pair{"low", 1}, {"equal", 5}, {"high", 9}}) {
    Add(name, priority);
  }
  // "high" and "equal" wait, "low" is in flight: the filter holds for it as well.
  for (const char* name : {"high", "equal"}) Fail(name, RejectedBy({"NodeResourcesFit"}));
  ASSERT_EQ(Pop(), "low");
  Happens(EventKind::kAssignedPodRemoved, {.except_uid = {}, .max_priority = 5});
  EXPECT_EQ(PoolOf("high"), QueuePool::kUnschedulable);
  EXPECT_EQ(PoolOf("equal"), QueuePool::kBackoff);
  EXPECT_EQ(ReturnFailed("low", RejectedBy({"NodeResourcesFit"})), QueuePool::kBackoff);

  ASSERT_EQ(Fail("equal", RejectedBy({"NodeResourcesFit"})), QueuePool::kUnschedulable);
  Happens(EventKind::kAssignedPodRemoved, {.except_uid = Uid("equal"), .max_priority = {}});
  EXPECT_EQ(PoolOf("equal"), QueuePool::kUnschedulable);
  EXPECT_EQ(PoolOf("high"), QueuePool::kBackoff);

  ASSERT_TRUE(queue_->Take(Uid("equal")).has_value());
  Happens(EventKind::kAssignedPodRemoved, {.except_uid = Uid("equal"), .max_priority = {}});
  EXPECT_EQ(ReturnFailed("equal", RejectedBy({"NodeResourcesFit"})), QueuePool::kUnschedulable);
}

// ---- Events while a pod is in flight

TEST_F(SchedulingQueueTest, EventsDuringAnAttemptCountWhenItFails) {
  struct Case {
    std::string_view what;
    AttemptFailure failure;
    EventKind event;
    QueuePool expected;
  };
  for (const Case& test :
       {Case{"may help", RejectedBy({"NodeResourcesFit"}), EventKind::kNodeAdded,
             QueuePool::kBackoff},
        {"cannot help", RejectedBy({"NodeResourcesFit"}), EventKind::kNodeUpdated,
         QueuePool::kUnschedulable},
        {"may help a pending pod", PendingFor("NodeResourcesFit"), EventKind::kNodeAdded,
         QueuePool::kActive},
        {"any event for one who says nothing", RejectedBy({"Silent"}),
         EventKind::kElasticQuotaChanged, QueuePool::kBackoff},
        {"forced", RejectedBy({"NodeResourcesFit"}), EventKind::kForced, QueuePool::kBackoff},
        {"errors back off anyway", InternalError(), EventKind::kNodeUpdated,
         QueuePool::kErrorBackoff}}) {
    Rebuild({});
    Add("a");
    ASSERT_EQ(Pop(), "a");
    Happens(test.event);
    EXPECT_EQ(ReturnFailed("a", test.failure), test.expected) << test.what;
  }
}

TEST_F(SchedulingQueueTest, EventsBeforeAnAttemptDoNotCount) {
  Add("a");
  Add("b");
  ASSERT_EQ(Pop(), "a");
  Happens(EventKind::kNodeAdded);
  ASSERT_EQ(Pop(), "b");
  EXPECT_EQ(ReturnFailed("b", RejectedBy({"NodeResourcesFit"})), QueuePool::kUnschedulable);
  EXPECT_EQ(ReturnFailed("a", RejectedBy({"NodeResourcesFit"})), QueuePool::kBackoff);
}

TEST_F(SchedulingQueueTest, TheLogHoldsNoMoreThanSomebodyNeeds) {
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(queue_->logged_events(), 0u);  // nobody in flight
  for (const char* name : {"a", "b", "c"}) {
    Add(name);
    ASSERT_EQ(Pop(), name);
    Happens(EventKind::kNodeAdded);
  }
  EXPECT_EQ(queue_->logged_events(), 3u);
  queue_->Done(Uid("b"));
  EXPECT_EQ(queue_->logged_events(), 3u);
  queue_->Done(Uid("a"));
  EXPECT_EQ(queue_->logged_events(), 1u);
  queue_->Drop(Uid("c"));
  EXPECT_EQ(queue_->logged_events(), 0u);
}

TEST_F(SchedulingQueueTest, APodThatMissedTooManyEventsIsTriedAgain) {
  Rebuild({.max_logged_events = 3});
  Add("a");
  ASSERT_EQ(Pop(), "a");
  Happens(EventKind::kNodeAdded);
  for (int i = 0; i < 3; ++i) Happens(EventKind::kServiceChanged);
  EXPECT_EQ(queue_->logged_events(), 3u);
  EXPECT_EQ(ReturnFailed("a", RejectedBy({"NodeResourcesFit"})), QueuePool::kBackoff);
}

// ---- Gates

TEST_F(SchedulingQueueTest, GatedPodsWaitSilently) {
  gate_a_.held = {"a"};
  Add("a");
  EXPECT_EQ(PoolOf("a"), QueuePool::kGated);
  EXPECT_EQ(Pop(), "");
  const auto position = queue_->Describe(Uid("a"));
  EXPECT_EQ(position->attempts, 0);
  EXPECT_EQ(position->gated_by, "GateA");
  EXPECT_EQ(position->message, "GateA holds a");
  EXPECT_THAT(position->waits_for, ElementsAre(EventKind::kPodGroupChanged));
  EXPECT_EQ(queue_->counts().gated, 1u);
  EXPECT_EQ(queue_->counts().unschedulable, 0u);
}

TEST_F(SchedulingQueueTest, OnlyEventsOfItsGateOpenIt) {
  gate_a_.held = {"a"};
  Add("a");
  gate_a_.held = {};
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(PoolOf("a"), QueuePool::kGated);
  Happens(EventKind::kPodGroupChanged);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(SchedulingQueueTest, TheGateThatHeldLastIsAskedFirst) {
  gate_b_.held = {"a"};
  Add("a");
  gate_a_.asked = gate_b_.asked = 0;
  Happens(EventKind::kServiceChanged);  // GateB does not say what may open it
  EXPECT_EQ(gate_a_.asked, 0);
  EXPECT_EQ(gate_b_.asked, 1);
  gate_b_.held = {};
  gate_a_.held = {"a"};
  Happens(EventKind::kServiceChanged);
  EXPECT_EQ(queue_->Describe(Uid("a"))->gated_by, "GateA");
  EXPECT_EQ(queue_->counts().gated, 1u);
}

TEST_F(SchedulingQueueTest, GatesAreAskedWheneverAPodWouldMoveOn) {
  Add("a");
  Fail("a", RejectedBy({"NodeResourcesFit"}));
  gate_a_.held = {"a"};
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(PoolOf("a"), QueuePool::kGated);
  Happens(EventKind::kNodeAdded);  // what it was rejected for matters no more
  EXPECT_EQ(PoolOf("a"), QueuePool::kGated);
  gate_a_.held = {};
  Happens(EventKind::kPodGroupChanged);
  EXPECT_EQ(PoolOf("a"), QueuePool::kBackoff);

  gate_a_.held = {"a", "b"};
  EXPECT_EQ(Pop(), "a");  // not when it leaves the backoff
  EXPECT_EQ(ReturnFailed("a", InternalError()), QueuePool::kGated);
  Add("b");
  Activate("b");
  EXPECT_EQ(PoolOf("b"), QueuePool::kGated);
}

TEST_F(SchedulingQueueTest, GatesAreNotAskedWhenBackoffEnds) {
  Add("a");
  Fail("a", InternalError());
  gate_a_.held = {"a"};
  loop_.Advance(2s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

// ---- The net below

TEST_F(SchedulingQueueTest, ForgottenPodsAreTriedAfterFiveMinutes) {
  loop_.Advance(10s);
  Add("a");
  Fail("a", RejectedBy({"NodeResourcesFit"}));  // at 10 s; more than 5 min old at 330 s
  loop_.Advance(319s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kUnschedulable);
  loop_.Advance(1s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
  EXPECT_EQ(incoming_["active/UnschedulableTimeout"], 1);
}

TEST_F(SchedulingQueueTest, FiveMinutesToTheSecondIsNotLonger) {
  Add("a");
  Fail("a", RejectedBy({"NodeResourcesFit"}));
  loop_.Advance(329s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kUnschedulable);
  loop_.Advance(1s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(SchedulingQueueTest, PodsThatOnlyTheFlushSavedAreCounted) {
  for (const char* name : {"lost", "hopeless", "woken"}) {
    Add(name);
    Fail(name, RejectedBy({"NodeResourcesFit"}));
  }
  loop_.Advance(5min);
  Activate("woken");
  queue_->Take(Uid("woken"));
  queue_->Done(Uid("woken"));
  loop_.Advance(30s);
  Fail("hopeless", RejectedBy({"NodeResourcesFit"}));
  EXPECT_EQ(queue_->rescued(), 0u);
  EXPECT_EQ(Pop(), "lost");
  queue_->Done(Uid("lost"));
  EXPECT_EQ(queue_->rescued(), 1u);
  Happens(EventKind::kNodeAdded);
  queue_->Take(Uid("hopeless"));
  queue_->Done(Uid("hopeless"));
  EXPECT_EQ(queue_->rescued(), 1u);
}

TEST_F(SchedulingQueueTest, TheFlushTriesGatesAgainOnceInFiveMinutes) {
  gate_a_.held = {"a"};
  Add("a");
  gate_a_.asked = 0;
  loop_.Advance(16min);
  EXPECT_EQ(gate_a_.asked, 2);
  EXPECT_EQ(PoolOf("a"), QueuePool::kGated);
  gate_a_.held = {};
  loop_.Advance(6min);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(SchedulingQueueTest, AnIdleQueueSetsNoTimers) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  queue_->Done(Uid("a"));
  EXPECT_FALSE(loop_.Step(1h));
}

// ---- Updates

TEST_F(SchedulingQueueTest, UpdatesOfPodsThatWait) {
  using Change = std::function<void(kube::Pod&)>;
  struct Case {
    std::string_view what;
    Change change;
    QueuePool expected;
  };
  const Case kCases[] = {
      {"labels", [](kube::Pod& pod) { pod.metadata.labels["a"] = "b"; }, QueuePool::kBackoff},
      {"tolerations", [](kube::Pod& pod) { pod.spec.tolerations.emplace_back(); },
       QueuePool::kBackoff},
      {"annotations", [](kube::Pod& pod) { pod.metadata.annotations["a"] = "b"; },
       QueuePool::kBackoff},
      {"deletion", [](kube::Pod& pod) { pod.metadata.deletion_timestamp = WallTime{}; },
       QueuePool::kBackoff},
      {"its condition", [](kube::Pod& pod) { pod.status.conditions.emplace_back(); },
       QueuePool::kUnschedulable},
      {"its nomination", [](kube::Pod& pod) { pod.status.nominated_node_name = "n"; },
       QueuePool::kUnschedulable},
      {"the version", [](kube::Pod& pod) { pod.metadata.resource_version = "7"; },
       QueuePool::kUnschedulable},
  };
  for (const bool in_flight : {false, true}) {
    for (const Case& test : kCases) {
      Rebuild({});
      Add("a");
      ASSERT_EQ(Pop(), "a");
      if (!in_flight) ReturnFailed("a", RejectedBy({"NodeResourcesFit"}));
      auto changed = MakePod("a");
      test.change(*changed);
      queue_->Update(changed);
      if (in_flight) ReturnFailed("a", RejectedBy({"NodeResourcesFit"}));
      EXPECT_EQ(PoolOf("a"), test.expected) << test.what << (in_flight ? " in flight" : "");
      const auto taken = queue_->Take(Uid("a"));
      EXPECT_EQ(taken->pod, changed) << test.what;
    }
  }
}

TEST_F(SchedulingQueueTest, AnUpdateThatOpensTheGateLetsThePodThrough) {
  gate_a_.held = {"a"};
  Add("a");
  gate_a_.held = {};
  auto changed = MakePod("a");
  changed->metadata.labels["ready"] = "yes";
  queue_->Update(changed);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(SchedulingQueueTest, UpdatesOfPodsThatBackOffLeaveThemThere) {
  Add("a");
  Fail("a", InternalError());
  auto changed = MakePod("a");
  changed->metadata.labels["a"] = "b";
  queue_->Update(changed);
  EXPECT_EQ(PoolOf("a"), QueuePool::kErrorBackoff);
  EXPECT_EQ(queue_->Take(Uid("a"))->pod, changed);
}

TEST_F(SchedulingQueueTest, UpdatesOfUnknownPodsAddThem) {
  EXPECT_TRUE(queue_->Update(MakePod("a")));
  EXPECT_EQ(Pop(), "a");
}

// ---- Deletion

TEST_F(SchedulingQueueTest, DeletedPodsLeaveEveryPool) {
  gate_a_.held = {"gated"};
  for (const char* name : {"active", "backoff", "error", "unschedulable", "gated"}) Add(name);
  Fail("backoff", RejectedBy({"NodeResourcesFit"}));
  Happens(EventKind::kNodeAdded);
  Fail("error", InternalError());
  Fail("unschedulable", RejectedBy({"NodeResourcesFit"}));
  for (const char* name : {"active", "backoff", "error", "unschedulable", "gated"}) {
    EXPECT_TRUE(queue_->Delete(Uid(name))) << name;
    EXPECT_FALSE(queue_->Describe(Uid(name)).has_value()) << name;
    EXPECT_FALSE(queue_->Delete(Uid(name))) << name;
  }
  Happens(EventKind::kForced);
  loop_.Advance(10min);
  EXPECT_EQ(Pop(), "");
  queue_->ForEachRejector([](std::string_view, std::string_view plugin, size_t pods) {
    EXPECT_EQ(pods, 0u) << plugin;
  });
}

TEST_F(SchedulingQueueTest, APodThatIsDeletedDuringItsAttemptDoesNotComeBack) {
  for (const bool error : {false, true}) {
    Add("a");
    ASSERT_EQ(Pop(), "a");
    EXPECT_TRUE(queue_->Delete(Uid("a")));
    EXPECT_FALSE(queue_->Describe(Uid("a")).has_value());
    EXPECT_EQ(queue_->Return(Uid("a"), error ? InternalError() : RejectedBy({"NodeResourcesFit"})),
              std::nullopt);
    Happens(EventKind::kForced);
    loop_.Advance(10min);
    EXPECT_EQ(Pop(), "");
    EXPECT_EQ(queue_->counts().in_flight, 0u);
  }
}

TEST_F(SchedulingQueueTest, ANewPodOfTheSameNameIsNotConfusedWithTheOldOne) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  queue_->Delete(Uid("a"));
  auto second = MakePod("a");
  second->metadata.uid = "second";
  queue_->Add(second);
  EXPECT_EQ(queue_->Return(Uid("a"), RejectedBy({"NodeResourcesFit"})), std::nullopt);
  EXPECT_EQ(queue_->Describe(kube::ObjectKey{"default", "a"})->pool, QueuePool::kActive);
  EXPECT_EQ(queue_->Pop()->pod, second);

  // The same without the deletion ever having been seen, in flight and not.
  auto third = MakePod("a");
  third->metadata.uid = "third";
  queue_->Add(third);
  auto fourth = MakePod("a");
  fourth->metadata.uid = "fourth";
  queue_->Add(fourth);
  EXPECT_EQ(queue_->Return("second", InternalError()), std::nullopt);
  EXPECT_EQ(queue_->Pop()->pod, fourth);
  EXPECT_EQ(Pop(), "");
}

TEST_F(SchedulingQueueTest, AttemptsEndOnce) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  queue_->Done(Uid("a"));
  EXPECT_EQ(queue_->Return(Uid("a"), InternalError()), std::nullopt);
  Add("b");
  queue_->Done(Uid("b"));  // not in flight: nothing happens
  EXPECT_EQ(Pop(), "b");
}

// ---- Activation and choosing

TEST_F(SchedulingQueueTest, ActivatedPodsSkipWhateverTheyWaitedFor) {
  for (const char* name : {"backoff", "error", "unschedulable", "flying"}) Add(name);
  ASSERT_TRUE(queue_->Take(Uid("flying")).has_value());
  Fail("backoff", RejectedBy({"NodeResourcesFit"}));
  Happens(EventKind::kNodeAdded);
  queue_->Drop(Uid("flying"));
  Add("flying");
  ASSERT_TRUE(queue_->Take(Uid("flying")).has_value());
  Fail("error", InternalError());
  Fail("unschedulable", RejectedBy({"NodeResourcesFit"}));
  for (const char* name : {"backoff", "error", "unschedulable", "flying", "unknown"}) {
    Activate(name);
  }
  for (const char* name : {"backoff", "error", "unschedulable"}) {
    EXPECT_EQ(PoolOf(name), QueuePool::kActive) << name;
  }
  // One in flight backs off, or two pods that activate each other would never rest.
  EXPECT_EQ(ReturnFailed("flying", RejectedBy({"TaintToleration"})), QueuePool::kBackoff);
}

TEST_F(SchedulingQueueTest, APodCanBeTakenFromAnyPool) {
  gate_a_.held = {"gated"};
  for (const char* name : {"first", "active", "error", "unschedulable", "gated"}) Add(name);
  const auto first = queue_->Pop();
  ASSERT_EQ(first->pod->metadata.name, "first");
  Fail("error", InternalError());
  Fail("unschedulable", RejectedBy({"NodeResourcesFit"}));
  loop_.Advance(1s);
  for (const char* name : {"active", "error", "unschedulable", "gated"}) {
    const auto taken = queue_->Take(Uid(name), &*first);
    ASSERT_TRUE(taken.has_value()) << name;
    EXPECT_EQ(taken->pod->metadata.name, name);
    EXPECT_EQ(taken->attempts, first->attempts) << name;
    EXPECT_EQ(taken->timestamp, first->timestamp) << name;
    EXPECT_EQ(taken->first_attempt_at, first->first_attempt_at) << name;
    EXPECT_EQ(PoolOf(name), QueuePool::kInFlight) << name;
    EXPECT_FALSE(queue_->Take(Uid(name)).has_value()) << name;
  }
  EXPECT_EQ(queue_->counts().in_flight, 5u);
  EXPECT_EQ(Pop(), "");
}

TEST_F(SchedulingQueueTest, TellsWhenThereIsWorkAgain) {
  int told = 0;
  queue_->OnReady([&] { ++told; });
  Add("a");
  loop_.RunReady();
  EXPECT_EQ(told, 0);  // nobody was turned away
  ASSERT_EQ(Pop(), "a");
  ASSERT_EQ(Pop(), "");
  ReturnFailed("a", InternalError());
  loop_.RunReady();
  EXPECT_EQ(told, 0);  // an error may not be taken early
  loop_.Advance(2s);
  EXPECT_EQ(told, 1);
  Add("b");
  loop_.RunReady();
  EXPECT_EQ(told, 1);  // once is enough
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(Pop(), "b");
  EXPECT_EQ(Pop(), "");
  ReturnFailed("b", RejectedBy({"NodeResourcesFit"}));
  Happens(EventKind::kNodeAdded);  // into backoff, from which it may be taken
  loop_.RunReady();
  EXPECT_EQ(told, 2);
}

// ---- Telling

TEST_F(SchedulingQueueTest, DescribesWhereAPodIsAndWhatItWaitsFor) {
  Add("first", 5);
  Add("second");
  Add("third");
  EXPECT_EQ(queue_->Describe(Uid("third"))->ahead, 2u);
  EXPECT_FALSE(queue_->Describe(Uid("third"))->first_attempt_at.has_value());
  EXPECT_FALSE(queue_->Describe("nobody").has_value());

  Fail("second", RejectedBy({"NodeResourcesFit", "TaintToleration"}));
  const auto waiting = *queue_->Describe(kube::ObjectKey{"default", "second"});
  EXPECT_EQ(waiting.pool, QueuePool::kUnschedulable);
  EXPECT_THAT(waiting.rejected_by, ElementsAre("NodeResourcesFit", "TaintToleration"));
  EXPECT_THAT(waiting.waits_for, ElementsAre(EventKind::kNodeAdded, EventKind::kNodeUpdated,
                                             EventKind::kAssignedPodRemoved));
  EXPECT_FALSE(waiting.waits_for_any_event);
  EXPECT_EQ(waiting.message, "no room");
  EXPECT_EQ(waiting.first_attempt_at, VirtualLoop::kStart);

  Fail("third", RejectedBy({"NodeResourcesFit", "Silent"}));
  EXPECT_TRUE(queue_->Describe(Uid("third"))->waits_for_any_event);
  EXPECT_THAT(queue_->Describe(Uid("third"))->waits_for, IsEmpty());
}

TEST_F(SchedulingQueueTest, CountsPodsPerPoolAndPerRejector) {
  gate_a_.held = {"gated"};
  for (const char* name : {"active", "backoff", "error", "u1", "u2", "gated", "flying"}) Add(name);
  Fail("backoff", RejectedBy({"NodeResourcesFit"}));
  Happens(EventKind::kNodeAdded);
  Fail("error", InternalError());
  Fail("u1", RejectedBy({"NodeResourcesFit", "NodeResourcesFit"}));
  Fail("u2", RejectedBy({"NodeResourcesFit", "TaintToleration"}));
  queue_->Take(Uid("flying"));
  const auto counts = queue_->counts();
  EXPECT_EQ(counts.active, 1u);
  EXPECT_EQ(counts.backoff, 2u);
  EXPECT_EQ(counts.unschedulable, 2u);
  EXPECT_EQ(counts.gated, 1u);
  EXPECT_EQ(counts.in_flight, 1u);

  std::map<std::string, size_t> rejectors;
  queue_->ForEachRejector([&](std::string_view profile, std::string_view plugin, size_t pods) {
    EXPECT_EQ(profile, kTestProfile);
    rejectors[std::string(plugin)] = pods;
  });
  EXPECT_EQ(rejectors["NodeResourcesFit"], 3u);
  EXPECT_EQ(rejectors["TaintToleration"], 1u);
}

TEST_F(SchedulingQueueTest, CountsPodsThatEnterAPool) {
  gate_a_.held = {"gated"};
  Add("gated");
  Add("a");
  Fail("a", RejectedBy({"NodeResourcesFit"}));
  Happens(EventKind::kAssignedPodRemoved);
  Fail("a", InternalError());
  Activate("a");
  const std::map<std::string, int> expected = {{"gated/PodAdd", 1},
                                               {"active/PodAdd", 1},
                                               {"unschedulable/ScheduleAttemptFailure", 1},
                                               {"backoff/AssignedPodDelete", 1},
                                               {"backoff/ScheduleAttemptFailure", 1},
                                               {"active/ForceActivate", 1}};
  EXPECT_EQ(incoming_, expected);
}

}  // namespace
}  // namespace koord::scheduler
