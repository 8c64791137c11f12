#include "scheduler/queue/wait_groups.h"

#include <gmock/gmock.h>

#include "scheduler/queue/scheduling_queue_testing.h"

namespace koord::scheduler::wait_groups_test {
namespace {

// Does as it is told.
class TestProbe final : public ShapeProbe {
 public:
  bool MightFit(Unfit&, WallTime, std::vector<std::string_view>& rejectors) override {
    ++asked;
    if (!fits) rejectors = rejected_by;
    return fits;
  }

  bool fits = true;
  std::vector<std::string_view> rejected_by;  // what has changed, if it does not fit
  int asked = 0;
};

// Pods of one shape that fit nowhere.
class WaitGroupsTest : public SchedulingQueueTest {
 protected:
  WaitGroupsTest() { Rebuild({}, &probe_); }

  AttemptFailure Nowhere(std::initializer_list<std::string> plugins = {"NodeResourcesFit"}) {
    AttemptFailure failure = RejectedBy(plugins);
    failure.unfit = Unfit{.shape = shape_};
    return failure;
  }
  void AddWaiting(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      Add(name);
      EXPECT_EQ(Fail(name, Nowhere()), QueuePool::kUnschedulable);
      loop_.Advance(1ms);
    }
    loop_.Advance(12s);  // everybody's backoff is over
  }
  size_t Waiting() { return queue_->counts().unschedulable; }

  TestProbe probe_;
  const ShapePtr shape_ = [] {
    auto shape = std::make_shared<PodShape>();
    shape->id = 1;
    shape->sample = MakePod("sample");
    return shape;
  }();
};

TEST_F(WaitGroupsTest, AnEventWakesTheFirstOfAShape) {
  AddWaiting({"a", "b", "c"});
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
  EXPECT_EQ(Waiting(), 2u);
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(Waiting(), 2u) << "one is on its way already";
}

TEST_F(WaitGroupsTest, OthersFollowWhileThereIsRoom) {
  AddWaiting({"a", "b", "c", "d", "e"});
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(Pop(), "b") << "also before the first is bound";
  EXPECT_EQ(PoolOf("c"), QueuePool::kActive) << "twice as many follow";
  EXPECT_EQ(PoolOf("d"), QueuePool::kUnschedulable);
  probe_.fits = false;
  EXPECT_EQ(Pop(), "c");
  EXPECT_EQ(Pop(), "");
  EXPECT_EQ(Waiting(), 2u);
}

TEST_F(WaitGroupsTest, OneThatFitsNowhereSpeaksForAll) {
  AddWaiting({"a", "b", "c"});
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(ReturnFailed("a", Nowhere()), QueuePool::kUnschedulable);
  EXPECT_EQ(Pop(), "");
  EXPECT_EQ(Waiting(), 3u);
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(Pop(), "b") << "who waits for longest is next";
}

TEST_F(WaitGroupsTest, NobodyIsWokenForWhatDoesNotHelp) {
  AddWaiting({"a", "b"});
  probe_.fits = false;
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(Waiting(), 2u);
  EXPECT_EQ(probe_.asked, 1);
  Happens(EventKind::kNodeUpdated);
  EXPECT_EQ(probe_.asked, 1) << "nobody who rejected them cares";
}

TEST_F(WaitGroupsTest, WhatRejectsThemNowIsWhatTheyWaitFor) {
  AddWaiting({"a", "b"});
  probe_.fits = false;
  probe_.rejected_by = {"TaintToleration"};  // a node has room, but also a taint
  Happens(EventKind::kAssignedPodRemoved);
  probe_.fits = true;
  Happens(EventKind::kNodeUpdated);  // which goes
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
  EXPECT_THAT(queue_->Describe(Uid("b"))->waits_for, testing::Contains(EventKind::kNodeUpdated));
}

TEST_F(WaitGroupsTest, TheNextIsWokenForOneThatIsGone) {
  AddWaiting({"a", "b"});
  EXPECT_EQ(Pop(), "");
  std::string popped;
  queue_->OnReady([&] { popped = Pop(); });
  Happens(EventKind::kAssignedPodRemoved);
  queue_->Delete(Uid("a"));
  loop_.RunReady();
  EXPECT_EQ(popped, "b");
}

TEST_F(WaitGroupsTest, OneWhoseBackoffIsOverGoesFirst) {
  Add("often");
  for (int i = 0; i < 5; ++i) Fail("often", Nowhere());  // 10 s
  loop_.Advance(1ms);
  Add("seldom");
  Fail("seldom", Nowhere());  // 1 s
  loop_.Advance(4s);
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(PoolOf("seldom"), QueuePool::kActive);
  EXPECT_EQ(PoolOf("often"), QueuePool::kUnschedulable);
}

TEST_F(WaitGroupsTest, OneThatAGateHoldsBackIsPassedOver) {
  AddWaiting({"a", "b"});
  gate_a_.held = {"a"};
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(PoolOf("a"), QueuePool::kGated);
  EXPECT_EQ(PoolOf("b"), QueuePool::kActive);
}

TEST_F(WaitGroupsTest, AFilterThatLeavesNobodyDoesNotEndTheWait) {
  AddWaiting({"a"});
  Happens(EventKind::kAssignedPodRemoved, {.except_uid = Uid("a")});
  Happens(EventKind::kAssignedPodRemoved, {.max_priority = -1});
  EXPECT_EQ(PoolOf("a"), QueuePool::kUnschedulable);
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(PoolOf("a"), QueuePool::kActive);
}

TEST_F(WaitGroupsTest, OneThatIsPromisedANodeWaitsForItself) {
  AddWaiting({"a", "b"});
  auto promised = MakePod("b");
  promised->status.nominated_node_name = "n";
  queue_->Update(promised);
  probe_.fits = false;  // to others
  Happens(EventKind::kAssignedPodRemoved);
  EXPECT_EQ(PoolOf("a"), QueuePool::kUnschedulable);
  EXPECT_EQ(PoolOf("b"), QueuePool::kActive);
}

TEST_F(WaitGroupsTest, AllAreTriedWhenForced) {
  AddWaiting({"a", "b", "c"});
  probe_.fits = false;
  Happens(EventKind::kForced);
  EXPECT_EQ(queue_->counts().active, 3u);
}

TEST_F(WaitGroupsTest, AThousandArePlacedWithFewQuestions) {
  for (int i = 0; i < 1000; ++i) {
    const std::string name = fmt::format("p{}", i);
    Add(name);
    Fail(name, Nowhere());
  }
  loop_.Advance(12s);
  Happens(EventKind::kNodeAdded);
  int placed = 0;
  for (std::string name = Pop(); !name.empty(); name = Pop()) {
    queue_->Done(Uid(name));
    ++placed;
  }
  EXPECT_EQ(placed, 1000);
  EXPECT_LE(probe_.asked, 12);
}

}  // namespace
}  // namespace koord::scheduler::wait_groups_test
