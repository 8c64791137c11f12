#include "localcluster/controllers/nodelifecycle/attentive_clock.h"

#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::localcluster::attentive_clock_test {
namespace {

class AttentiveClockTest : public ::testing::Test {
 protected:
  // Lets time pass with an API server that answers at once.
  void Run(Duration span) {
    const SteadyTime end = loop_.clock().Steady() + span;
    while (loop_.clock().Steady() < end) {
      loop_.Advance(std::chrono::milliseconds(100));
      Answer();
    }
  }
  void Answer() {
    while (server_.waiting() > 0) {
      server_.Take().Answer(kube::Json{{"kind", "LeaseList"}, {"items", kube::json::array{}}});
      loop_.RunReady();
    }
  }

  VirtualLoop loop_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {.qps = 0}};
  AttentiveClock clock_{client_};
};

TEST_F(AttentiveClockTest, GoesWithTheTimeWhileTheServerAnswers) {
  clock_.Start();
  const SteadyTime begin = clock_.Now();
  Run(60s);
  EXPECT_EQ(clock_.Now() - begin, Duration(60s));
}

TEST_F(AttentiveClockTest, StandsStillBeforeItIsStarted) {
  loop_.Advance(1h);
  EXPECT_EQ(clock_.Now(), SteadyTime(0));
  EXPECT_EQ(server_.waiting(), 0u);
}

TEST_F(AttentiveClockTest, StandsStillWhileTheLoopIsLate) {
  clock_.Start();
  Run(20s);
  const SteadyTime before = clock_.Now();
  loop_.Stall(10min);
  EXPECT_LE(clock_.Now() - before, Duration(6s)) << "as long as a round may take";
  loop_.RunReady();
  Answer();
  Run(20s);
  EXPECT_LE(clock_.Now() - before, Duration(26s));
  EXPECT_GE(clock_.Now() - before, Duration(20s));
}

TEST_F(AttentiveClockTest, StandsStillWhileTheServerDoesNotAnswer) {
  clock_.Start();
  Run(20s);
  const SteadyTime before = clock_.Now();
  loop_.Advance(25s);  // the question waits, as it does for a slow disk
  EXPECT_LE(clock_.Now() - before, Duration(6s));
  Answer();
  Run(20s);
  EXPECT_LE(clock_.Now() - before, Duration(26s));
  EXPECT_GE(clock_.Now() - before, Duration(20s));
}

TEST_F(AttentiveClockTest, GoesOnAfterAnError) {
  clock_.Start();
  loop_.Advance(5s);
  ASSERT_EQ(server_.waiting(), 1u);
  server_.Take().Fail({.code = 403, .reason = "Forbidden", .message = "no"});
  loop_.RunReady();
  const SteadyTime before = clock_.Now();
  Run(30s);
  EXPECT_EQ(clock_.Now() - before, Duration(30s));
}

}  // namespace
}  // namespace koord::localcluster::attentive_clock_test
