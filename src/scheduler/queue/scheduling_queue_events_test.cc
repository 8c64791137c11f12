#include "scheduler/queue/scheduling_queue_testing.h"

// What wakes pods that wait: events, gates that open, and the net below.
namespace koord::scheduler::scheduling_queue_events_test {
namespace {

using ::testing::ElementsAre;
using SchedulingQueueEventsTest = SchedulingQueueTest;

// ---- Events

TEST_F(SchedulingQueueEventsTest, EventsWakeThosePodsThatTheyMayHelp) {
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

TEST_F(SchedulingQueueEventsTest, PluginsAreNotAskedAboutEventsTheyDoNotWant) {
  for (int i = 0; i < 10; ++i) {
    Add(fmt::format("p{}", i));
    Fail(fmt::format("p{}", i), RejectedBy({"NodeResourcesFit"}));
  }
  Happens(EventKind::kNodeMetricChanged);
  EXPECT_EQ(fit_.asked, 0);
}

TEST_F(SchedulingQueueEventsTest, TheRejectorDecidesAboutEachPod) {
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

TEST_F(SchedulingQueueEventsTest, PodsThatWaitedLongEnoughAreActiveAtOnce) {
  Add("a");
  Fail("a", RejectedBy({"NodeResourcesFit"}));
  loop_.Advance(2s);
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
  EXPECT_EQ(incoming_["active/NodeAdd"], 1);
}

TEST_F(SchedulingQueueEventsTest, PendingPodsSkipTheirBackoff) {
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

TEST_F(SchedulingQueueEventsTest, EventsDoNotDisturbPodsThatBackOff) {
  Add("a");
  Fail("a", InternalError());
  Happens(EventKind::kForced);
  EXPECT_EQ(PoolOf("a"), QueuePool::kErrorBackoff);
}

TEST_F(SchedulingQueueEventsTest, FiltersLimitWhomAnEventWakes) {
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

TEST_F(SchedulingQueueEventsTest, AnEventDoesNotWakeThoseToWhomItIsNoNews) {
  Add("a");
  Add("b");
  for (const char* name : {"a", "b"}) Fail(name, RejectedBy({"NodeResourcesFit"}));
  WakeFilter filter{.except_uid = {}, .max_priority = {}};
  filter.is_no_news_to = [](const kube::Pod& pod) { return pod.metadata.name == "a"; };
  Happens(EventKind::kAssignedPodRemoved, filter);
  EXPECT_EQ(PoolOf("a"), QueuePool::kUnschedulable);
  EXPECT_EQ(PoolOf("b"), QueuePool::kBackoff);
}

// ---- Events while a pod is in flight

TEST_F(SchedulingQueueEventsTest, TellsWhetherAnythingHasHappenedSinceAPodWasTakenOut) {
  Add("a");
  Happens(EventKind::kNodeAdded);
  ASSERT_EQ(Pop(), "a");
  EXPECT_FALSE(queue_->HasHeardSince(Uid("a")));
  Happens(EventKind::kNodeAdded);
  EXPECT_TRUE(queue_->HasHeardSince(Uid("a")));
}

TEST_F(SchedulingQueueEventsTest, EventsDuringAnAttemptCountWhenItFails) {
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

TEST_F(SchedulingQueueEventsTest, EventsBeforeAnAttemptDoNotCount) {
  Add("a");
  Add("b");
  ASSERT_EQ(Pop(), "a");
  Happens(EventKind::kNodeAdded);
  ASSERT_EQ(Pop(), "b");
  EXPECT_EQ(ReturnFailed("b", RejectedBy({"NodeResourcesFit"})), QueuePool::kUnschedulable);
  EXPECT_EQ(ReturnFailed("a", RejectedBy({"NodeResourcesFit"})), QueuePool::kBackoff);
}

TEST_F(SchedulingQueueEventsTest, TheLogHoldsNoMoreThanSomebodyNeeds) {
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

TEST_F(SchedulingQueueEventsTest, APodThatMissedTooManyEventsIsTriedAgain) {
  Rebuild({.max_logged_events = 3});
  Add("a");
  ASSERT_EQ(Pop(), "a");
  Happens(EventKind::kNodeAdded);
  for (int i = 0; i < 3; ++i) Happens(EventKind::kServiceChanged);
  EXPECT_EQ(queue_->logged_events(), 3u);
  EXPECT_EQ(ReturnFailed("a", RejectedBy({"NodeResourcesFit"})), QueuePool::kBackoff);
}

// ---- Gates

TEST_F(SchedulingQueueEventsTest, GatedPodsWaitSilently) {
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

TEST_F(SchedulingQueueEventsTest, OnlyEventsOfItsGateOpenIt) {
  gate_a_.held = {"a"};
  Add("a");
  gate_a_.held = {};
  Happens(EventKind::kNodeAdded);
  EXPECT_EQ(PoolOf("a"), QueuePool::kGated);
  Happens(EventKind::kPodGroupChanged);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(SchedulingQueueEventsTest, TheGateThatHeldLastIsAskedFirst) {
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

TEST_F(SchedulingQueueEventsTest, GatesAreAskedWheneverAPodWouldMoveOn) {
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

TEST_F(SchedulingQueueEventsTest, GatesAreNotAskedWhenBackoffEnds) {
  Add("a");
  Fail("a", InternalError());
  gate_a_.held = {"a"};
  loop_.Advance(2s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

// ---- The net below

TEST_F(SchedulingQueueEventsTest, ForgottenPodsAreTriedAfterFiveMinutes) {
  loop_.Advance(10s);
  Add("a");
  Fail("a", RejectedBy({"NodeResourcesFit"}));  // at 10 s; more than 5 min old at 330 s
  loop_.Advance(319s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kUnschedulable);
  loop_.Advance(1s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
  EXPECT_EQ(incoming_["active/UnschedulableTimeout"], 1);
}

TEST_F(SchedulingQueueEventsTest, FiveMinutesToTheSecondIsNotLonger) {
  Add("a");
  Fail("a", RejectedBy({"NodeResourcesFit"}));
  loop_.Advance(329s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kUnschedulable);
  loop_.Advance(1s);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(SchedulingQueueEventsTest, PodsThatOnlyTheFlushSavedAreCounted) {
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

TEST_F(SchedulingQueueEventsTest, TheFlushTriesGatesAgainOnceInFiveMinutes) {
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

TEST_F(SchedulingQueueEventsTest, AnIdleQueueSetsNoTimers) {
  Add("a");
  ASSERT_EQ(Pop(), "a");
  queue_->Done(Uid("a"));
  EXPECT_FALSE(loop_.Step(1h));
}

}  // namespace
}  // namespace koord::scheduler::scheduling_queue_events_test
