#include "scheduler/binding/reserve_permit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace koord::scheduler::reserve_permit_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Says what it is told to say, and notes that it was asked.
class Obedient final : public ReservePlugin, public PermitPlugin {
 public:
  Obedient(std::string name, PermitResult says, std::vector<std::string>& asked)
      : name_(std::move(name)), says_(std::move(says)), asked_(asked) {}

  std::string_view name() const override { return name_; }
  Verdict Reserve(Attempt&) override {
    asked_.push_back(fmt::format("reserve {}", name_));
    return says_.verdict;
  }
  void Unreserve(Attempt&) override { asked_.push_back(fmt::format("unreserve {}", name_)); }
  PermitResult Permit(Attempt&) override {
    asked_.push_back(fmt::format("permit {}", name_));
    return says_;
  }

 private:
  const std::string name_;
  const PermitResult says_;
  std::vector<std::string>& asked_;
};

class ReservePermitTest : public ::testing::Test {
 protected:
  void Add(std::string name, PermitResult says = {}) {
    auto plugin = std::make_unique<Obedient>(std::move(name), std::move(says), asked_);
    profile_.reserve.push_back(plugin.get());
    profile_.permit.push_back(plugin.get());
    profile_.plugins.push_back(std::move(plugin));
  }

  PluginLineup profile_;
  std::vector<std::string> asked_;
  Attempt attempt_;
  std::vector<WaitingPods::Wait> waits_;
};

TEST_F(ReservePermitTest, ReservesInOrderAndGivesBackInReverse) {
  Add("a");
  Add("b");
  EXPECT_TRUE(RunReserve(profile_, attempt_).ok());
  RunUnreserve(profile_, attempt_);
  EXPECT_THAT(asked_, ElementsAre("reserve a", "reserve b", "unreserve b", "unreserve a"));
}

TEST_F(ReservePermitTest, AfterAFailureAllGiveBackWhatTheyMayHave) {
  Add("a");
  Add("b", {Verdict::Unschedulable("no CPU left")});
  Add("c");
  const Verdict verdict = RunReserve(profile_, attempt_);
  EXPECT_EQ(verdict.code, Code::kUnschedulable);
  EXPECT_EQ(verdict.plugin, "b");
  EXPECT_EQ(verdict.Message(), "no CPU left");
  RunUnreserve(profile_, attempt_);
  EXPECT_THAT(asked_,
              ElementsAre("reserve a", "reserve b", "unreserve c", "unreserve b", "unreserve a"));
}

TEST_F(ReservePermitTest, AnErrorSaysWhereItHappened) {
  Add("a", {Verdict::Error("out of order")});
  EXPECT_EQ(RunReserve(profile_, attempt_).Message(), "running Reserve plugin \"a\": out of order");
  const Verdict verdict = RunPermit(profile_, attempt_, waits_);
  EXPECT_EQ(verdict.code, Code::kError);
  EXPECT_EQ(verdict.plugin, "a");
  EXPECT_EQ(verdict.Message(), "running Permit plugin \"a\": out of order");
}

TEST_F(ReservePermitTest, APodMayWaitForSeveral) {
  Add("a", {Verdict::Wait(), 1min});
  Add("b");
  Add("c", {Verdict::Wait(), 2min});
  EXPECT_TRUE(RunPermit(profile_, attempt_, waits_).ok());
  ASSERT_EQ(waits_.size(), 2u);
  EXPECT_EQ(waits_[0].plugin, "a");
  EXPECT_EQ(waits_[0].timeout, Duration(1min));
  EXPECT_EQ(waits_[1].plugin, "c");
}

TEST_F(ReservePermitTest, NobodyIsAskedAfterARejection) {
  Add("a", {Verdict::Unschedulable("the gang is gone")});
  Add("b");
  EXPECT_EQ(RunPermit(profile_, attempt_, waits_).code, Code::kUnschedulable);
  EXPECT_THAT(asked_, ElementsAre("permit a"));
  EXPECT_THAT(waits_, IsEmpty());
}

}  // namespace
}  // namespace koord::scheduler::reserve_permit_test
