#include <gtest/gtest.h>

#include "simulation/scheduler/scheduler_bed_testing.h"

// A binding is in effect, and the answer is late. Whatever becomes of the pod in the meantime, it
// holds its room as long as it is there and no longer.
namespace koord::localcluster::late_answer_test {
namespace {

class LateAnswer : public ::testing::Test, protected SchedulerBed {
 protected:
  void SetUp() override {
    AddNode("n1");
    network->Hold();
    Create(kPods, Pod("first", "3"));
    server.loop.Advance(1s);
    ASSERT_EQ(NodeOf("first"), "n1");
    ASSERT_EQ(network->held(), 1u);
    Create(kPods, Pod("second", "3"));
    server.loop.Advance(1s);
    ASSERT_EQ(NodeOf("second"), "");
  }

  void ExpectOneIsLeft() {
    server.loop.Advance(10s);
    EXPECT_EQ(NodeOf("second"), "n1");
    EXPECT_EQ(app->scheduler().ledger().pods(), 1u);
    EXPECT_EQ(app->scheduler().ledger().assumed(), 0u);
    EXPECT_TRUE(app->quiet());
  }

  void DeleteFirst() {
    server.Delete(std::string(kPods) + "/first", {{"gracePeriodSeconds", 0}});
    server.loop.Advance(10s);
  }
};

TEST_F(LateAnswer, KeepsThePodWhereItIs) {
  network->LetGo();
  server.loop.Advance(10s);
  EXPECT_EQ(NodeOf("first"), "n1");
  EXPECT_EQ(NodeOf("second"), "");
  EXPECT_EQ(app->scheduler().ledger().pods(), 1u);
}

TEST_F(LateAnswer, DoesNotKeepTheRoomOfAPodThatIsGone) {
  DeleteFirst();
  EXPECT_EQ(NodeOf("second"), "n1");
  network->LetGo();
  ExpectOneIsLeft();
}

TEST_F(LateAnswer, DoesNotKeepTheRoomOfAPodThatIsGoneWhenTheAnswerIsLost) {
  DeleteFirst();
  network->Lose();
  ExpectOneIsLeft();
}

}  // namespace
}  // namespace koord::localcluster::late_answer_test
