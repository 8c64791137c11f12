#include "kube/controller/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"

namespace koord::kube::work_queue_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WorkQueueTest : public testing::Test {
 protected:
  WorkQueue::Handler Hold() {
    return [this](const std::string& key, WorkQueue::Finish done) {
      started_.push_back(key);
      finish_[key] = std::move(done);
    };
  }
  WorkQueue::Handler Fail() {
    return [this](const std::string& key, const WorkQueue::Finish& done) {
      started_.push_back(key);
      at_.push_back(loop_.clock().Steady());
      done(false);
    };
  }

  VirtualLoop loop_;
  std::vector<std::string> started_;
  std::vector<SteadyTime> at_;
  std::map<std::string, WorkQueue::Finish> finish_;
};

TEST_F(WorkQueueTest, HandlesEachKeyOnceInOrderAndNotInsideAdd) {
  WorkQueue queue(loop_, Hold(), 10);
  queue.Add("a");
  queue.Add("b");
  queue.Add("a");
  EXPECT_THAT(started_, IsEmpty());
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_FALSE(queue.idle());
  loop_.RunReady();
  EXPECT_THAT(started_, ElementsAre("a", "b"));
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_FALSE(queue.idle());
  finish_["a"](true);
  finish_["b"](true);
  EXPECT_TRUE(queue.idle());
}

TEST_F(WorkQueueTest, NeverHandlesAKeyTwiceAtTheSameTime) {
  WorkQueue queue(loop_, Hold(), 10);
  queue.Add("a");
  loop_.RunReady();
  queue.Add("a");
  loop_.RunReady();
  EXPECT_THAT(started_, ElementsAre("a"));
  finish_["a"](true);
  loop_.RunReady();
  EXPECT_THAT(started_, ElementsAre("a", "a"));
}

TEST_F(WorkQueueTest, KeepsToItsConcurrency) {
  WorkQueue queue(loop_, Hold(), 2);
  for (const char* key : {"a", "b", "c"}) queue.Add(key);
  loop_.RunReady();
  EXPECT_THAT(started_, ElementsAre("a", "b"));
  finish_["b"](true);
  loop_.RunReady();
  EXPECT_THAT(started_, ElementsAre("a", "b", "c"));
}

TEST_F(WorkQueueTest, PausesLongerAfterEachFailure) {
  WorkQueue queue(loop_, Fail());
  queue.Add("a");
  loop_.Advance(5ms + 10ms + 20ms);
  EXPECT_THAT(at_, ElementsAre(0ms, 5ms, 15ms, 35ms));
  loop_.Advance(24h);
  EXPECT_EQ(at_.back() - at_[at_.size() - 2], 1000s);
}

TEST_F(WorkQueueTest, SuccessStartsThePausesOver) {
  bool ok = false;
  WorkQueue queue(loop_, [&](const std::string&, const WorkQueue::Finish& done) {
    at_.push_back(loop_.clock().Steady());
    done(ok);
  });
  queue.Add("a");
  loop_.Advance(5ms);
  ok = true;
  loop_.Advance(10ms);
  ok = false;
  queue.Add("a");
  loop_.Advance(5ms);
  EXPECT_THAT(at_, ElementsAre(0ms, 5ms, 15ms, 15ms, 20ms));
}

TEST_F(WorkQueueTest, LimitsRetriesOverAllKeys) {
  WorkQueue queue(loop_, Fail());
  for (int i = 0; i < 200; ++i) queue.Add(std::to_string(i));
  loop_.Advance(5ms);
  // All once, and the burst of 100 a second time.
  EXPECT_EQ(started_.size(), 300u);
  // The first of those behind the burst waits 100 ms for a token at 10 a second.
  started_.clear();
  loop_.Advance(94ms);
  EXPECT_EQ(std::count(started_.begin(), started_.end(), "100"), 0);
  loop_.Advance(1ms);
  EXPECT_EQ(std::count(started_.begin(), started_.end(), "100"), 1);
}

TEST_F(WorkQueueTest, NewsDuringAFailureIsHandledAtOnce) {
  WorkQueue queue(loop_, Hold());
  queue.Add("a");
  loop_.RunReady();
  queue.Add("a");
  finish_["a"](false);
  loop_.RunReady();
  EXPECT_THAT(started_, ElementsAre("a", "a"));
}

TEST_F(WorkQueueTest, AddsLaterAtTheEarliestOfTheWishedTimes) {
  WorkQueue queue(loop_, Hold());
  queue.AddAfter("a", 10s);
  queue.AddAfter("a", 5s);
  queue.AddAfter("a", 20s);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_TRUE(queue.idle());
  loop_.Advance(4999ms);
  EXPECT_THAT(started_, IsEmpty());
  loop_.Advance(1ms);
  EXPECT_THAT(started_, ElementsAre("a"));
  finish_["a"](true);
  loop_.Advance(1min);
  EXPECT_THAT(started_, ElementsAre("a"));
}

TEST_F(WorkQueueTest, FinishingTwiceOrAfterTheQueueIsHarmless) {
  auto queue = std::make_unique<WorkQueue>(loop_, Hold());
  queue->Add("a");
  loop_.RunReady();
  WorkQueue::Finish first = finish_["a"];
  first(true);
  queue->Add("a");
  loop_.RunReady();
  first(false);
  loop_.Advance(1s);
  EXPECT_THAT(started_, ElementsAre("a", "a"));
  queue->Add("b");
  queue->AddAfter("c", 1s);
  queue = nullptr;
  finish_["a"](false);
  loop_.Advance(1min);
  EXPECT_THAT(started_, ElementsAre("a", "a"));
}

}  // namespace
}  // namespace koord::kube::work_queue_test
