#include "scheduler/cycle/failure_handler.h"

#include <gmock/gmock.h>

#include "scheduler/cycle/cycle_testing.h"

namespace koord::scheduler::failure_handler_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FailureHandlerTest : public ::testing::Test {
 protected:
  void Fail(FailedAttempt failure) {
    const auto attempt = bed_.Pop();
    bed_.failures->Handle(bed_.runtime, *attempt, std::move(failure));
    bed_.loop.RunReady();
  }
  // What is written into the status of the pod, of these members only.
  kube::Json WrittenStatus() {
    const auto exchange = bed_.server.Take();
    const kube::Json body = *kube::ParseJson(exchange.request.body);
    return body.at("status");
  }

  CycleBed bed_;
};

TEST_F(FailureHandlerTest, ARejectedPodWaitsForAnEventAndItsOwnerIsTold) {
  bed_.AddPod("p");
  Fail({.rejected = true, .message = "no room", .rejected_by = {{"Told"}}});
  EXPECT_EQ(bed_.PoolOf("p"), ToString(QueuePool::kUnschedulable));
  EXPECT_THAT(bed_.Notes(), ElementsAre("FailedScheduling: no room"));
  const kube::Json condition = WrittenStatus().at("conditions").at(0);
  EXPECT_EQ(condition.at("reason"), "Unschedulable");
  EXPECT_EQ(condition.at("message"), "no room");
  EXPECT_THAT(bed_.finished, ElementsAre("p unschedulable"));
}

TEST_F(FailureHandlerTest, AnErrorIsTriedAgainAfterAWhile) {
  bed_.AddPod("p");
  Fail(FailedAttempt::Error("out of order"));
  EXPECT_EQ(bed_.PoolOf("p"), ToString(QueuePool::kErrorBackoff));
  EXPECT_EQ(WrittenStatus().at("conditions").at(0).at("reason"), "SchedulerError");
  EXPECT_THAT(bed_.finished, ElementsAre("p error"));
}

TEST_F(FailureHandlerTest, ThePodIsPromisedANodeAndLosesItAgain) {
  bed_.AddPod("p");
  Fail({.message = "", .nominated_node = "a"});
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "a");
  EXPECT_EQ(WrittenStatus().at("nominatedNodeName"), "a");
  bed_.queue->Activate(std::vector<kube::ObjectKey>{{"default", "p"}});
  Fail({.message = "", .nominated_node = std::nullopt});
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "a") << "nothing was said about it";
  bed_.queue->Activate(std::vector<kube::ObjectKey>{{"default", "p"}});
  Fail(FailedAttempt::Error(""));
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "");
}

TEST_F(FailureHandlerTest, NothingIsSaidOfAPodThatIsGone) {
  bed_.AddPod("p");
  const auto attempt = bed_.Pop();
  bed_.pending.clear();
  bed_.queue->Delete("p");
  bed_.failures->Handle(bed_.runtime, *attempt, {.message = "late", .nominated_node = "a"});
  bed_.loop.RunReady();
  EXPECT_EQ(bed_.PoolOf("p"), "");
  EXPECT_EQ(bed_.nominations.NodeOf("p"), "");
  EXPECT_THAT(bed_.Notes(), IsEmpty());
  EXPECT_EQ(bed_.server.waiting(), 0u);
}

TEST_F(FailureHandlerTest, OnlyALeaderTells) {
  bed_.may_write = false;
  bed_.AddPod("p");
  Fail({.rejected = true, .message = "no room", .rejected_by = {{"Told"}}});
  EXPECT_EQ(bed_.PoolOf("p"), ToString(QueuePool::kUnschedulable));
  EXPECT_THAT(bed_.Notes(), IsEmpty());
  EXPECT_EQ(bed_.server.waiting(), 0u);
}

TEST_F(FailureHandlerTest, AWordAboutTheChosenNodeIsAboutOneNode) {
  Verdict verdict = Verdict::Unschedulable("no CPU left");
  verdict.plugin = "Told";
  const FailedAttempt rejected = FailedAttempt::OnItsNode(verdict);
  EXPECT_TRUE(rejected.rejected);
  EXPECT_EQ(rejected.message, "0/1 nodes are available: 1 no CPU left.");
  ASSERT_EQ(rejected.rejected_by.size(), 1u);
  EXPECT_EQ(rejected.rejected_by[0].plugin, "Told");
  const FailedAttempt failed = FailedAttempt::OnItsNode(Verdict::Error("out of order"));
  EXPECT_FALSE(failed.rejected);
  EXPECT_EQ(failed.message, "out of order");
  EXPECT_THAT(failed.rejected_by, IsEmpty());
}

}  // namespace
}  // namespace koord::scheduler::failure_handler_test
