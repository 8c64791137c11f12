#include "scheduler/cycle/scheduling_cycle.h"

#include <gmock/gmock.h>

#include "scheduler/cycle/cycle_testing.h"

namespace koord::scheduler::scheduling_cycle_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SchedulingCycleTest : public ::testing::Test {
 protected:
  void Say(std::string body) {
    bed_.extender.Take().Answer(200, std::move(body));
    bed_.loop.RunReady();
  }

  CycleBed bed_;
};

TEST_F(SchedulingCycleTest, APodGoesToANodeThatIsNotRefused) {
  bed_.AddNode("a");
  bed_.AddNode("b");
  bed_.plugin->refused = {"a"};
  bed_.AddPod("p");
  bed_.Try();
  bed_.AnswerBinding();
  EXPECT_THAT(bed_.plugin->bound, ElementsAre("p b"));
}

TEST_F(SchedulingCycleTest, PreemptionIsNotTriedWhereThereAreNoNodes) {
  bed_.AddPod("p");
  bed_.Try();
  EXPECT_THAT(bed_.Notes(), ElementsAre("FailedScheduling: no nodes available to schedule pods"));
  EXPECT_EQ(bed_.plugin->post_filters, 0);
  EXPECT_EQ(bed_.PoolOf("p"), "backoff");
}

TEST_F(SchedulingCycleTest, PreemptionIsTriedWhereEveryNodeIsRefused) {
  bed_.AddNode("a");
  bed_.plugin->refused = {"a"};
  bed_.AddPod("p");
  bed_.Try();
  EXPECT_EQ(bed_.plugin->post_filters, 1);
  EXPECT_EQ(bed_.PoolOf("p"), "unschedulable");
}

TEST_F(SchedulingCycleTest, APodThatIsBeingDeletedIsNotTried) {
  bed_.AddNode("a");
  bed_.AddPod("p", ", deletionTimestamp: '2026-01-01T00:00:00Z'");
  bed_.Try();
  EXPECT_THAT(bed_.finished, ElementsAre("p skipped"));
  EXPECT_THAT(bed_.Notes(), ElementsAre("FailedScheduling: skip schedule deleting pod: default/p"));
  EXPECT_THAT(bed_.plugin->binding, IsEmpty());
}

TEST_F(SchedulingCycleTest, APodThatHasANodeByNowIsNotTried) {
  bed_.AddNode("a");
  bed_.AddPod("p");
  bed_.ledger.SetPod(PodOf("{metadata: {name: p}, spec: {nodeName: a, schedulerName: s}}"));
  bed_.Try();
  EXPECT_THAT(bed_.finished, ElementsAre("p skipped"));
  EXPECT_THAT(bed_.Notes(), IsEmpty());
}

TEST_F(SchedulingCycleTest, APodThatNobodyServesAnyMoreIsNotTried) {
  bed_.AddNode("a");
  bed_.AddPod("p");
  bed_.cycle->Run(nullptr, *bed_.queue->Pop());
  EXPECT_THAT(bed_.finished, ElementsAre("p skipped"));
  EXPECT_EQ(bed_.PoolOf("p"), "");
}

TEST_F(SchedulingCycleTest, OnlyALeaderTellsWhatHasNoEffect) {
  constexpr std::string_view kGang = ", labels: {pod-group.scheduling.sigs.k8s.io: t}";
  bed_.AddNode("a");
  bed_.may_write = false;
  bed_.AddPod("p", kGang);
  bed_.Try();
  EXPECT_THAT(bed_.Notes(), IsEmpty());
  bed_.may_write = true;
  bed_.AddPod("q", kGang);
  bed_.Try();
  EXPECT_THAT(bed_.Notes(), ElementsAre(HasSubstr("NotSupported: label pod-group")));
}

TEST_F(SchedulingCycleTest, WhatTheExtenderLeavesIsDecidedAboutAsThingsAreByThen) {
  bed_.UseExtender({.filter_verb = "filter", .node_cache_capable = true});
  for (const char* node : {"a", "b", "c"}) bed_.AddNode(node);
  bed_.AddPod("p");
  bed_.Try();
  EXPECT_THAT(bed_.plugin->binding, IsEmpty());
  bed_.ledger.RemoveNode("a");
  Say(R"({"NodeNames": ["a", "c"]})");
  bed_.AnswerBinding();
  EXPECT_THAT(bed_.plugin->bound, ElementsAre("p c"));
}

TEST_F(SchedulingCycleTest, AnAnswerThatComesAfterTheStopDecidesNothing) {
  bed_.UseExtender({.filter_verb = "filter", .node_cache_capable = true});
  bed_.AddNode("a");
  bed_.nominations.Nominate(bed_.AddPod("p"), "a");
  bed_.Try();
  bed_.running = false;
  Say(R"({"NodeNames": ["a"]})");
  EXPECT_THAT(bed_.plugin->binding, IsEmpty());
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "a") << "it says nothing about the promise";
  EXPECT_THAT(bed_.Notes(), ElementsAre("FailedScheduling: the scheduler was stopped"));
}

TEST_F(SchedulingCycleTest, AnAnswerAboutAPodThatIsGoneDecidesNothing) {
  bed_.UseExtender({.filter_verb = "filter", .node_cache_capable = true});
  bed_.AddNode("a");
  bed_.AddPod("p");
  bed_.Try();
  bed_.pending.clear();
  Say(R"({"NodeNames": ["a"]})");
  EXPECT_THAT(bed_.plugin->binding, IsEmpty());
  EXPECT_THAT(bed_.finished, ElementsAre("p error"));
}

}  // namespace
}  // namespace koord::scheduler::scheduling_cycle_test
