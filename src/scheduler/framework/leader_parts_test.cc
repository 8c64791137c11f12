#include "scheduler/framework/leader_parts.h"

#include <gtest/gtest.h>

#include <string>

namespace koord::scheduler::leader_parts_test {
namespace {

// A controller that notes what it is told, and whose last write is answered when the test says so.
class FakeController final : public LeaderPart {
 public:
  struct Life {
    int starts = 0;
    bool running = false;
    Task stopped = nullptr;
  };
  FakeController(std::string name, Life& life) : name_(std::move(name)), life_(life) {}

  std::string_view name() const override { return name_; }
  void Start() override {
    ++life_.starts;
    life_.running = true;
  }
  void Stop(Task done) override {
    life_.running = false;
    life_.stopped = std::move(done);
  }

 private:
  const std::string name_;
  Life& life_;
};

class LeaderPartsTest : public testing::Test {
 protected:
  bool Add(std::string name, FakeController::Life& life) {
    return parts_.Add(std::make_unique<FakeController>(std::move(name), life));
  }

  FakeController::Life a_, b_;
  LeaderParts parts_;
};

TEST_F(LeaderPartsTest, RunOnlyWhileThisProcessLeads) {
  Add("a", a_);
  EXPECT_FALSE(a_.running);
  parts_.Start();
  parts_.Start();
  EXPECT_TRUE(a_.running);
  EXPECT_EQ(a_.starts, 1);
  parts_.Stop();
  EXPECT_FALSE(a_.running);
  a_.stopped();
  parts_.Start();
  EXPECT_EQ(a_.starts, 2) << "it leads again";
}

TEST_F(LeaderPartsTest, OneThatComesLateIsStartedAtOnce) {
  parts_.Start();
  Add("a", a_);
  EXPECT_TRUE(a_.running);
}

TEST_F(LeaderPartsTest, WhatSeveralProfilesBringAlongRunsOnce) {
  EXPECT_TRUE(Add("a", a_));
  EXPECT_FALSE(Add("a", b_));
  parts_.Start();
  EXPECT_TRUE(a_.running);
  EXPECT_FALSE(b_.running);
}

TEST_F(LeaderPartsTest, AreStoppedWhenAllHaveBeenAnswered) {
  Add("a", a_);
  Add("b", b_);
  parts_.Start();
  parts_.Stop();
  bool stopped = false;
  parts_.WhenStopped([&] { stopped = true; });
  a_.stopped();
  EXPECT_FALSE(stopped);
  b_.stopped();
  EXPECT_TRUE(stopped);
}

TEST_F(LeaderPartsTest, NothingIsWaitedForWhereNothingRuns) {
  Add("a", a_);
  parts_.Stop();
  bool stopped = false;
  parts_.WhenStopped([&] { stopped = true; });
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace koord::scheduler::leader_parts_test
