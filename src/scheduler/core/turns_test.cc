#include "scheduler/core/turns.h"

#include <gtest/gtest.h>

#include "base/virtual_loop.h"

namespace koord::scheduler::turns_test {
namespace {

class TurnsTest : public ::testing::Test {
 protected:
  VirtualLoop loop_;
  int left_ = 0;   // steps to take
  int taken_ = 0;  // steps taken
  std::function<void()> in_step_ = [] {};
  Turns turns_{loop_, [this] {
                 if (left_ == 0) return false;
                 --left_;
                 ++taken_;
                 in_step_();
                 return true;
               }};
};

TEST_F(TurnsTest, NothingHappensBeforeTheStart) {
  left_ = 1;
  turns_.Wake();
  loop_.RunReady();
  EXPECT_EQ(taken_, 0);
  turns_.Start();
  EXPECT_EQ(taken_, 0) << "never inside the call";
  EXPECT_TRUE(turns_.posted());
  loop_.RunReady();
  EXPECT_EQ(taken_, 1);
  EXPECT_FALSE(turns_.posted());
}

TEST_F(TurnsTest, RestsUntilItIsWoken) {
  turns_.Start();
  loop_.RunReady();
  left_ = 3;
  loop_.RunReady();
  EXPECT_EQ(taken_, 0);
  turns_.Wake();
  loop_.RunReady();
  EXPECT_EQ(taken_, 3);
}

TEST_F(TurnsTest, LetsOthersOnTheLoopHaveTheirTurn) {
  left_ = 2 * Turns::kStepsATurn;
  int taken_when_it_was_anothers_turn = -1;
  turns_.Start();
  loop_.Post([&] { taken_when_it_was_anothers_turn = taken_; });
  loop_.RunReady();
  EXPECT_EQ(taken_when_it_was_anothers_turn, Turns::kStepsATurn);
  EXPECT_EQ(taken_, 2 * Turns::kStepsATurn);
}

TEST_F(TurnsTest, AStepMayStopIt) {
  left_ = 10;
  in_step_ = [this] { turns_.Stop(); };
  turns_.Start();
  loop_.RunReady();
  EXPECT_EQ(taken_, 1);
  turns_.Start();
  loop_.RunReady();
  EXPECT_EQ(taken_, 2);
}

TEST_F(TurnsTest, BeingWokenTwiceIsOneTurn) {
  turns_.Start();
  turns_.Wake();
  left_ = 1;
  in_step_ = [this] { turns_.Wake(); };
  loop_.RunReady();
  EXPECT_EQ(taken_, 1);
  EXPECT_FALSE(turns_.posted());
}

}  // namespace
}  // namespace koord::scheduler::turns_test
