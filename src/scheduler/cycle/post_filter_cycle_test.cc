#include "scheduler/cycle/post_filter_cycle.h"

#include <gmock/gmock.h>

#include "scheduler/cycle/cycle_testing.h"

namespace koord::scheduler::post_filter_cycle_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class PostFilterCycleTest : public ::testing::Test {
 protected:
  PostFilterCycleTest() {
    bed_.AddNode("a");
    bed_.AddNode("b");
    bed_.plugin->refused = {"a", "b"};
  }
  void Run(const Extenders::Answer* said = nullptr) {
    bed_.post_filter->Run(bed_.runtime, bed_.Pop(), said);
    bed_.loop.RunReady();
  }
  void Say(std::string body) {
    bed_.extender.Take().Answer(200, std::move(body));
    bed_.loop.RunReady();
  }
  std::vector<std::string> RejectorsOf(std::string_view uid) const {
    return bed_.queue->Describe(uid)->rejected_by;
  }

  CycleBed bed_;
};

TEST_F(PostFilterCycleTest, SaysWhyAndWhatThePluginsSaidToIt) {
  bed_.plugin->post_filter = {Verdict::Unschedulable("preemption: nobody is less important.")};
  bed_.AddPod("p");
  Run();
  EXPECT_THAT(bed_.Notes(), ElementsAre("FailedScheduling: 0/2 nodes are available: 2 node(s) were "
                                        "refused. preemption: nobody is less important."));
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("Told"));
  EXPECT_EQ(bed_.PoolOf("p"), "unschedulable");
}

TEST_F(PostFilterCycleTest, ANodeThatAPluginMakesRoomOnIsPromised) {
  bed_.plugin->post_filter = {Verdict::Success(), "b"};
  bed_.AddPod("p");
  Run();
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "b");
  EXPECT_TRUE(bed_.nominations.rows().Has(bed_.RowOf("b")));
}

TEST_F(PostFilterCycleTest, WhatCameOfItIsToldAfterAllPluginsHaveSpoken) {
  bed_.plugin->post_filter = {Verdict::Unschedulable("no."), "", true};
  bed_.AddPod("p");
  bed_.AddPod("q");
  Run();
  EXPECT_THAT(bed_.plugin->after, ElementsAre("p 2/2 no. "));
  Run();
  EXPECT_EQ(bed_.plugin->post_filters, 1);
  EXPECT_THAT(bed_.plugin->after, ElementsAre("p 2/2 no. ", "q 2/2 no. "))
      << "also of pods that fail like others";
}

TEST_F(PostFilterCycleTest, AlsoAPromiseIsToldAfterwards) {
  bed_.plugin->post_filter = {Verdict::Success(), "b"};
  bed_.AddPod("p");
  Run();
  EXPECT_THAT(bed_.plugin->after, ElementsAre("p 2/2  b"));
}

TEST_F(PostFilterCycleTest, AFilterThatFailsIsAnErrorAndNobodyIsEvicted) {
  bed_.plugin->filter_is_broken = true;
  bed_.AddPod("p");
  Run();
  EXPECT_THAT(bed_.Notes(),
              ElementsAre("FailedScheduling: running \"Told\" filter plugin: out of order"));
  EXPECT_EQ(bed_.plugin->post_filters, 0);
  EXPECT_THAT(bed_.finished, ElementsAre("p error"));
}

TEST_F(PostFilterCycleTest, WhatHoldsForTheShapeIsFoundOutOnce) {
  bed_.plugin->post_filter = {.verdict = Verdict::Unschedulable("no."), .of_shape = true};
  bed_.AddPod("p");
  bed_.AddPod("q");
  Run();
  const std::string said = bed_.Notes().at(0);
  Run();
  EXPECT_EQ(bed_.plugin->post_filters, 1);
  EXPECT_THAT(bed_.Notes(), ElementsAre(said));
  EXPECT_THAT(RejectorsOf("q"), ElementsAre("Told"));
}

TEST_F(PostFilterCycleTest, WhatHoldsForOnePodIsFoundOutForEach) {
  bed_.AddPod("p");
  bed_.AddPod("q");
  Run();
  Run();
  EXPECT_EQ(bed_.plugin->post_filters, 2);
}

TEST_F(PostFilterCycleTest, AnExtenderThatLeftNodesOutHasRejectedThePodToo) {
  bed_.plugin->refused = {"a"};
  bed_.UseExtender({.filter_verb = "filter"});
  Extenders::Answer said{.narrowed = true, .refused = {{"b", "no licence", true}}};
  bed_.AddPod("p");
  Run(&said);
  EXPECT_THAT(bed_.Notes(), ElementsAre("FailedScheduling: 0/2 nodes are available: 1 no licence, "
                                        "1 node(s) were refused."));
  EXPECT_THAT(RejectorsOf("p"), UnorderedElementsAre("Told", std::string(kExtenderName)));
}

TEST_F(PostFilterCycleTest, ExtendersAreAskedBeforeAnybodyIsEvicted) {
  bed_.UseExtender({.preempt_verb = "preempt", .node_cache_capable = true});
  bed_.ledger.SetPod(PodOf("{metadata: {name: v}, spec: {nodeName: a}}"));
  bed_.plugin->plans = {{.node = "a", .victims = {bed_.ledger.Find("v")->pod}}};
  bed_.plugin->post_filter = {Verdict::Success(), "a"};
  bed_.AddPod("p");
  Run();
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "");
  EXPECT_THAT(bed_.finished, IsEmpty()) << "they have not answered";
  Say(R"({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "v"}]}}})");
  EXPECT_EQ(bed_.plugin->chosen_from, 1u);
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "a");
  EXPECT_THAT(bed_.finished, ElementsAre("p unschedulable"));
}

TEST_F(PostFilterCycleTest, NobodyIsEvictedForAPodThatIsGoneByThen) {
  bed_.UseExtender({.preempt_verb = "preempt", .node_cache_capable = true});
  bed_.ledger.SetPod(PodOf("{metadata: {name: v}, spec: {nodeName: a}}"));
  bed_.plugin->plans = {{.node = "a", .victims = {bed_.ledger.Find("v")->pod}}};
  bed_.AddPod("p");
  Run();
  bed_.pending.clear();
  Say(R"({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "v"}]}}})");
  EXPECT_EQ(bed_.plugin->chosen_from, 0u);
  EXPECT_THAT(bed_.finished, ElementsAre("p unschedulable"));
}

}  // namespace
}  // namespace koord::scheduler::post_filter_cycle_test
