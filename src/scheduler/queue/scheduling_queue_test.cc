#include "scheduler/queue/scheduling_queue.h"

#include "scheduler/queue/scheduling_queue_testing.h"

namespace koord::scheduler::scheduling_queue_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// ---- Updates

TEST_F(SchedulingQueueTest, UpdatesOfPodsThatWait) {
  using Change = std::function<void(kube::Pod&)>;
  struct Case {
    std::string_view what;
    Change change;
    QueuePool expected;
  };
  const Case kCases[] = {
      {"labels", [](kube::Pod& pod) { pod.metadata.labels.Mutable()["a"] = "b"; },
       QueuePool::kBackoff},
      {"tolerations", [](kube::Pod& pod) { pod.spec.tolerations.Mutable().emplace_back(); },
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
  changed->metadata.labels.Mutable()["ready"] = "yes";
  queue_->Update(changed);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(SchedulingQueueTest, UpdatesOfPodsThatBackOffLeaveThemThere) {
  Add("a");
  Fail("a", InternalError());
  auto changed = MakePod("a");
  changed->metadata.labels.Mutable()["a"] = "b";
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

TEST_F(SchedulingQueueTest, APodThatAnotherGateHoldsIsNotTaken) {
  gate_a_.held = {"gated"};
  gate_b_.held = {"gated"};
  Add("gated");
  EXPECT_FALSE(queue_->Take(Uid("gated"), nullptr, gate_a_.name()).has_value());
  EXPECT_EQ(queue_->HeldBy(Uid("gated"), gate_a_.name()), gate_b_.name());
  EXPECT_EQ(PoolOf("gated"), QueuePool::kGated);
  gate_b_.held = {};
  EXPECT_EQ(queue_->HeldBy(Uid("gated"), gate_a_.name()), "");
  EXPECT_FALSE(queue_->Take(Uid("gated")).has_value()) << "nobody's own gate";
  EXPECT_TRUE(queue_->Take(Uid("gated"), nullptr, gate_a_.name()).has_value());
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
    const auto taken = queue_->Take(Uid(name), &*first, gate_a_.name());
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

// A plugin that has rejected nobody may have something to offer.
TEST_F(SchedulingQueueTest, WhoeverOnlyListensWakesPodsAndIsNotBlamed) {
  Add("p");
  Fail("p",
       {.rejected_by = {{.plugin = "NodeResourcesFit"}, {.plugin = "GateA", .only_listens = true}},
        .message = "no room"});
  EXPECT_THAT(queue_->Describe(Uid("p"))->rejected_by, ElementsAre("NodeResourcesFit"));
  std::map<std::string, size_t> blamed;
  const auto count = [&](std::string_view, std::string_view plugin, size_t pods) {
    blamed[std::string(plugin)] = pods;
  };
  queue_->ForEachRejector(count);
  EXPECT_EQ(blamed["NodeResourcesFit"], 1u);
  EXPECT_EQ(blamed["GateA"], 0u);
  Happens(EventKind::kPodGroupChanged);
  EXPECT_NE(PoolOf("p"), QueuePool::kUnschedulable);
  EXPECT_TRUE(queue_->Take(Uid("p")).has_value());
  queue_->ForEachRejector(count);
  EXPECT_EQ(blamed["NodeResourcesFit"], 0u);
  EXPECT_EQ(blamed["GateA"], 0u);
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
}  // namespace koord::scheduler::scheduling_queue_test
