#include "koordlet/agent/start_phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/virtual_loop.h"

namespace koord::koordlet::start_phases_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StartPhasesTest : public testing::Test {
 protected:
  void Start() {
    phases_.Start([this] { taken_.push_back("ready"); });
  }

  VirtualLoop loop_;
  bool knows_node_ = false;
  bool has_measured_ = false;
  std::vector<std::string> taken_;
  StartPhases phases_{loop_,
                      {.knows_node = [this] { return knows_node_; },
                       .measure = [this] { taken_.push_back("measure"); },
                       .has_measured = [this] { return has_measured_; },
                       .act = [this] { taken_.push_back("act"); }}};
};

TEST_F(StartPhasesTest, EachStepWaitsForWhatItNeeds) {
  EXPECT_FALSE(phases_.Healthy().ok()) << "before it has started";
  Start();
  loop_.Advance(1min);
  EXPECT_THAT(taken_, IsEmpty());
  EXPECT_EQ(Message(phases_.Healthy()), "the node and its pods are not known yet");
  knows_node_ = true;
  loop_.Advance(1min);
  EXPECT_THAT(taken_, ElementsAre("measure"));
  EXPECT_EQ(Message(phases_.Healthy()), "usage has not been measured yet");
  has_measured_ = true;
  loop_.Advance(1min);
  EXPECT_THAT(taken_, ElementsAre("measure", "act", "ready"));
  EXPECT_TRUE(phases_.acting());
  EXPECT_TRUE(phases_.Healthy().ok());
}

TEST_F(StartPhasesTest, WhatIsKnownAlreadyIsNotWaitedFor) {
  knows_node_ = has_measured_ = true;
  Start();
  EXPECT_THAT(taken_, ElementsAre("measure", "act", "ready"));
}

TEST_F(StartPhasesTest, NothingIsDoneBeforeItIsMeasured) {
  has_measured_ = true;
  Start();
  loop_.Advance(1min);
  EXPECT_THAT(taken_, IsEmpty());
}

TEST_F(StartPhasesTest, NoStepIsTakenOnceItIsStopped) {
  Start();
  phases_.Stop();
  knows_node_ = has_measured_ = true;
  loop_.Advance(1min);
  EXPECT_THAT(taken_, IsEmpty());
  EXPECT_TRUE(phases_.stopped());
  EXPECT_FALSE(phases_.Healthy().ok());
}

}  // namespace
}  // namespace koord::koordlet::start_phases_test
