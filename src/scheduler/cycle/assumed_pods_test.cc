#include "scheduler/cycle/assumed_pods.h"

#include <gmock/gmock.h>

#include "scheduler/cycle/cycle_testing.h"

namespace koord::scheduler::assumed_pods_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AssumedPodsTest : public ::testing::Test {
 protected:
  AssumedPodsTest() {
    bed_.AddNode("a");
    bed_.AddNode("b");
    bed_.AddPod("p");
  }
  void PlaceOn(std::string_view node) {
    bed_.assumed->Place(bed_.runtime, bed_.Pop(), bed_.RowOf(node));
    bed_.loop.RunReady();
  }
  bool IsCharged() const { return bed_.ledger.Find("p") != nullptr; }

  CycleBed bed_;
};

TEST_F(AssumedPodsTest, APodIsChargedUntilItIsBoundAndAfter) {
  PlaceOn("b");
  EXPECT_TRUE(IsCharged());
  EXPECT_EQ(bed_.assumed->binding(), 1u);
  bed_.AnswerBinding();
  EXPECT_TRUE(IsCharged());
  EXPECT_TRUE(bed_.assumed->empty());
  EXPECT_EQ(bed_.settled, 1);
  EXPECT_THAT(bed_.plugin->bound, ElementsAre("p b"));
  EXPECT_THAT(bed_.Notes(), ElementsAre("Scheduled: Successfully assigned default/p to b"));
  EXPECT_THAT(bed_.finished, ElementsAre("p scheduled"));
  EXPECT_EQ(bed_.PoolOf("p"), "");
}

TEST_F(AssumedPodsTest, APodThatIsNotBoundGivesEverythingBack) {
  PlaceOn("a");
  bed_.AnswerBinding(Verdict::Error("conflict"));
  EXPECT_FALSE(IsCharged());
  EXPECT_TRUE(bed_.assumed->empty());
  EXPECT_EQ(bed_.plugin->unreserved, 1);
  EXPECT_THAT(bed_.Notes(),
              ElementsAre("FailedScheduling: running Bind plugin \"Told\": conflict"));
  EXPECT_EQ(bed_.PoolOf("p"), "backoff");
}

TEST_F(AssumedPodsTest, APodThatWasSeenOnItsNodeStaysThereWhateverTheAnswer) {
  PlaceOn("a");
  bed_.ledger.SetPod(PodOf("{metadata: {name: p}, spec: {nodeName: a, schedulerName: s}}"));
  bed_.AnswerBinding(Verdict::Error("the connection was lost"));
  EXPECT_TRUE(IsCharged());
}

TEST_F(AssumedPodsTest, ThePluginsMayRefuseTheNode) {
  bed_.plugin->reserve = Verdict::Unschedulable("no CPU left");
  PlaceOn("a");
  EXPECT_FALSE(IsCharged());
  EXPECT_TRUE(bed_.assumed->empty());
  EXPECT_EQ(bed_.plugin->unreserved, 1);
  EXPECT_THAT(bed_.plugin->binding, IsEmpty());
  EXPECT_THAT(bed_.Notes(),
              ElementsAre("FailedScheduling: 0/1 nodes are available: 1 no CPU left."));
  EXPECT_EQ(bed_.PoolOf("p"), "unschedulable");
}

TEST_F(AssumedPodsTest, ItWaitsForItsPermit) {
  bed_.plugin->permit = {Verdict::Wait(), 1min};
  PlaceOn("a");
  EXPECT_TRUE(IsCharged());
  EXPECT_EQ(bed_.assumed->binding(), 0u) << "it only waits";
  EXPECT_FALSE(bed_.assumed->empty());
  EXPECT_THAT(bed_.plugin->binding, IsEmpty());
  bed_.waiting.Allow("p", "Told");
  bed_.loop.RunReady();
  EXPECT_EQ(bed_.assumed->binding(), 1u);
  bed_.AnswerBinding();
  EXPECT_THAT(bed_.plugin->bound, ElementsAre("p a"));
}

TEST_F(AssumedPodsTest, ARefusedPermitIsAboutTheNodeThatItHad) {
  bed_.plugin->permit = {Verdict::Wait(), 1min};
  PlaceOn("a");
  bed_.waiting.Reject("p", "Told", "the gang is gone");
  bed_.loop.RunReady();
  EXPECT_FALSE(IsCharged());
  EXPECT_THAT(bed_.Notes(),
              ElementsAre("FailedScheduling: 0/1 nodes are available: 1 the gang is gone."));
}

// A pod that waits on b and was promised a.
class RejectedPodTest : public AssumedPodsTest {
 protected:
  void Reject(PromiseAfter promise) {
    bed_.plugin->permit = {Verdict::Wait(), 1min};
    PlaceOn("b");
    ASSERT_EQ(bed_.nominations.NodeOf("p"), "");
    bed_.waiting.Reject("p", "Told", "the gang is gone", promise);
    bed_.loop.RunReady();
  }
};

TEST_F(RejectedPodTest, IsPromisedNothingUnlessSomebodySaysSo) {
  bed_.nominations.Nominate(*bed_.pending.begin(), "a");
  Reject(PromiseAfter::kNothing);
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "");
}

TEST_F(RejectedPodTest, MayKeepWhatItWasPromisedBefore) {
  bed_.nominations.Nominate(*bed_.pending.begin(), "a");
  Reject(PromiseAfter::kAsBefore);
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "a");
}

TEST_F(RejectedPodTest, KeepsNothingWhereNothingWasPromised) {
  Reject(PromiseAfter::kAsBefore);
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "");
}

TEST_F(RejectedPodTest, MayBePromisedTheNodeThatItHad) {
  bed_.nominations.Nominate(*bed_.pending.begin(), "a");
  Reject(PromiseAfter::kItsNode);
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "b");
  EXPECT_FALSE(IsCharged()) << "it is promised room, and holds none";
}

TEST_F(AssumedPodsTest, APluginThatRefusesTheNodeMayLeaveThePromise) {
  bed_.nominations.Nominate(*bed_.pending.begin(), "b");
  bed_.plugin->reserve = Verdict::Unschedulable("not yet");
  bed_.plugin->reserve.promise = PromiseAfter::kAsBefore;
  PlaceOn("b");
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "b");
}

TEST_F(AssumedPodsTest, APromisedNodeThatIsNotUsedIsFreeForOthers) {
  bed_.nominations.Nominate(*bed_.pending.begin(), "a");
  // Somebody who waits for room.
  bed_.AddPod("other");
  const auto placed = bed_.Pop();
  bed_.failures->Handle(bed_.runtime, *bed_.Pop(),
                        {.rejected = true, .message = "no room", .rejected_by = {{"Told"}}});
  ASSERT_EQ(bed_.PoolOf("other"), "unschedulable");
  bed_.assumed->Place(bed_.runtime, placed, bed_.RowOf("b"));
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "");
  EXPECT_NE(bed_.PoolOf("other"), "unschedulable");
}

TEST_F(AssumedPodsTest, APodThatIsDeletedWhileItIsBoundGivesItsRoomBackAfterTheAnswer) {
  PlaceOn("a");
  bed_.pending.clear();
  bed_.queue->Delete("p");
  EXPECT_FALSE(bed_.assumed->OnGone("p"));
  EXPECT_TRUE(IsCharged()) << "it may be on the node by now";
  bed_.AnswerBinding();
  EXPECT_FALSE(IsCharged());
}

TEST_F(AssumedPodsTest, APodThatIsDeletedWhileItWaitsIsRejected) {
  bed_.plugin->permit = {Verdict::Wait(), 1min};
  PlaceOn("a");
  bed_.pending.clear();
  bed_.queue->Delete("p");
  EXPECT_FALSE(bed_.assumed->OnGone("p"));
  bed_.loop.RunReady();
  EXPECT_FALSE(IsCharged());
  EXPECT_TRUE(bed_.assumed->empty());
}

TEST_F(AssumedPodsTest, APodThatWasSeenOnItsNodeGivesItsRoomBackAtOnce) {
  PlaceOn("a");
  bed_.ledger.SetPod(PodOf("{metadata: {name: p}, spec: {nodeName: a, schedulerName: s}}"));
  EXPECT_TRUE(bed_.assumed->OnGone("p"));
  EXPECT_FALSE(IsCharged());
}

TEST_F(AssumedPodsTest, IsDrainedOnceNothingIsBeingBound) {
  int drained = 0;
  bed_.assumed->WhenDrained([&] { ++drained; });
  EXPECT_EQ(drained, 1);
  PlaceOn("a");
  bed_.assumed->WhenDrained([&] { ++drained; });
  EXPECT_EQ(drained, 1);
  bed_.AnswerBinding();
  EXPECT_EQ(drained, 2);
}

TEST_F(AssumedPodsTest, WhatReserveGivesIsChargedWithTheAmountsAndGivenBackWithThem) {
  bed_.plugin->gives = {0, 1};
  const std::string before = bed_.ledger.Fingerprint();
  PlaceOn("a");
  ASSERT_TRUE(IsCharged());
  ASSERT_NE(bed_.ledger.Find("p")->held, nullptr);
  EXPECT_EQ(bed_.ledger.Find("p")->held->cpus.ToString(), "0-1");
  bed_.AnswerBinding(Verdict::Error("conflict"));
  EXPECT_EQ(bed_.ledger.Fingerprint(), before);
}

TEST_F(AssumedPodsTest, NothingIsChargedWhileReserveMayRefuse) {
  bed_.plugin->gives = {0, 1};
  bed_.plugin->reserve = Verdict::Unschedulable("no CPU left");
  const std::string before = bed_.ledger.Fingerprint();
  PlaceOn("a");
  EXPECT_EQ(bed_.ledger.Fingerprint(), before);
}

TEST_F(AssumedPodsTest, APodThatThePermitRefusesGivesEverythingBack) {
  bed_.plugin->gives = {0, 1};
  bed_.plugin->permit = {Verdict::Unschedulable("the gang has failed"), {}};
  const std::string before = bed_.ledger.Fingerprint();
  PlaceOn("a");
  EXPECT_EQ(bed_.ledger.Fingerprint(), before);
  EXPECT_EQ(bed_.plugin->unreserved, 1);
}

}  // namespace
}  // namespace koord::scheduler::assumed_pods_test
