#include "scheduler/binding/binding_cycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::scheduler::binding_cycle_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A plugin that says what it is told to say, and notes that it was asked.
class Scripted final : public PreBindPlugin, public BindPlugin {
 public:
  Scripted(std::string name, Verdict verdict, std::vector<std::string>& asked)
      : name_(std::move(name)), verdict_(std::move(verdict)), asked_(asked) {}

  std::string_view name() const override { return name_; }
  void PreBind(Attempt& attempt, VerdictDone done) override {
    attempt.labels["by"] += name_;
    attempt.annotations["by"] += name_;
    Say("PreBind", std::move(done));
  }
  void Bind(Attempt&, VerdictDone done) override { Say("Bind", std::move(done)); }

 private:
  void Say(std::string_view point, VerdictDone done) {
    asked_.push_back(fmt::format("{} {}", point, name_));
    done(verdict_);
  }

  const std::string name_;
  const Verdict verdict_;
  std::vector<std::string>& asked_;
};

class BindingCycleTest : public testing::Test {
 protected:
  BindingCycleTest() {
    auto pod = std::make_shared<kube::Pod>();
    pod->metadata.ns = "ns";
    pod->metadata.name = "p";
    attempt_->pod = std::move(pod);
  }

  Scripted* Add(std::string name, Verdict verdict = Verdict::Success()) {
    auto plugin = std::make_unique<Scripted>(std::move(name), std::move(verdict), asked_);
    Scripted* raw = plugin.get();
    profile_.plugins.push_back(std::move(plugin));
    return raw;
  }
  void Run() {
    cycle_.Run(attempt_, [this](Verdict verdict) { verdict_ = std::move(verdict); });
    loop_.RunReady();
  }

  void AnswerPatch() {
    handler_.Take().Answer(kube::Json{{"metadata", kube::json::object()}});
    loop_.RunReady();
  }

  VirtualLoop loop_;
  kube::ScriptedHandler handler_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, handler_), {.qps = 0}};
  ObjectWriters writers_{client_};
  PodPatcher patcher_{loop_, writers_, 1};
  PluginLineup profile_;
  std::vector<std::string> asked_;
  Verdict wanted_ = Verdict::Success();
  bool binds_instead_ = false;
  std::vector<std::string> bound_instead_;
  BindingCycle cycle_{profile_,
                      patcher_,
                      [this](const Attempt&) { return wanted_; },
                      [](CyclePoint, Attempt&, Code) {},
                      {.binds = [this](const Attempt&) { return binds_instead_; },
                       .bind =
                           [this](const Attempt& attempt, VerdictDone done) {
                             bound_instead_.push_back(attempt.pod->metadata.name);
                             done(Verdict::Success());
                           }}};
  std::shared_ptr<Attempt> attempt_ = std::make_shared<Attempt>();
  std::optional<Verdict> verdict_;
};

TEST_F(BindingCycleTest, AsksInOrderAndBindsWithTheFirstThatDoesNotPass) {
  profile_.pre_bind = {Add("a"), Add("b", Verdict::Skip())};
  profile_.bind = {Add("c", Verdict::Skip()), Add("d"), Add("e")};
  Run();
  AnswerPatch();
  EXPECT_EQ(asked_, (std::vector<std::string>{"PreBind a", "PreBind b", "Bind c", "Bind d"}));
  ASSERT_TRUE(verdict_);
  EXPECT_TRUE(verdict_->ok());
}

TEST_F(BindingCycleTest, BindsOnlyAfterThePatchOfAllLabelsHasArrived) {
  profile_.pre_bind = {Add("a"), Add("b")};
  profile_.bind = {Add("c")};
  Run();
  EXPECT_EQ(asked_.back(), "PreBind b");
  EXPECT_EQ(cycle_.writing(), 1u);
  auto exchange = handler_.Take();
  EXPECT_EQ(*kube::ParseJson(exchange.request.body),
            (kube::Json{{"metadata", {{"labels", {{"by", "ab"}}}, {"uid", ""}}}}))
      << "annotations are sent with the binding";
  exchange.Answer(kube::Json{{"metadata", kube::json::object()}});
  loop_.RunReady();
  EXPECT_EQ(asked_.back(), "Bind c");
  EXPECT_EQ(cycle_.writing(), 0u);
}

TEST_F(BindingCycleTest, WhoBindsInsteadFindsTheAnnotationsOnThePod) {
  profile_.pre_bind = {Add("a")};
  profile_.bind = {Add("c")};
  binds_instead_ = true;
  Run();
  EXPECT_THAT(bound_instead_, IsEmpty());
  auto exchange = handler_.Take();
  EXPECT_EQ(
      *kube::ParseJson(exchange.request.body),
      (kube::Json{
          {"metadata", {{"labels", {{"by", "a"}}}, {"annotations", {{"by", "a"}}}, {"uid", ""}}}}));
  exchange.Answer(kube::Json{{"metadata", kube::json::object()}});
  loop_.RunReady();
  EXPECT_THAT(bound_instead_, ElementsAre("p"));
  EXPECT_EQ(asked_, std::vector<std::string>{"PreBind a"});
  ASSERT_TRUE(verdict_);
  EXPECT_TRUE(verdict_->ok());
}

TEST_F(BindingCycleTest, SaysWhereItFailed) {
  profile_.pre_bind = {Add("a", Verdict::Error("the disk is on fire"))};
  profile_.bind = {Add("c")};
  Run();
  EXPECT_EQ(asked_, std::vector<std::string>{"PreBind a"});
  ASSERT_TRUE(verdict_);
  EXPECT_EQ(verdict_->Message(), "running PreBind plugin \"a\": the disk is on fire");
  EXPECT_EQ(verdict_->plugin, "a");
}

TEST_F(BindingCycleTest, ShowsARejectionAsItIs) {
  profile_.pre_bind = {Add("a", Verdict::Unschedulable("no volume"))};
  Run();
  ASSERT_TRUE(verdict_);
  EXPECT_EQ(verdict_->code, Code::kUnschedulable);
  EXPECT_EQ(verdict_->Message(), "no volume");
}

TEST_F(BindingCycleTest, DoesNotBindAPodThatNobodyWantsAnyMoreAfterThePatch) {
  profile_.pre_bind = {Add("a")};
  profile_.bind = {Add("c")};
  Run();
  wanted_ = Verdict::Error("it was deleted meanwhile");
  AnswerPatch();
  EXPECT_EQ(asked_, std::vector<std::string>{"PreBind a"});
  ASSERT_TRUE(verdict_);
  EXPECT_EQ(verdict_->Message(), "it was deleted meanwhile");
}

TEST_F(BindingCycleTest, SaysThatNobodyBinds) {
  profile_.bind = {Add("c", Verdict::Skip())};
  Run();
  ASSERT_TRUE(verdict_);
  EXPECT_EQ(verdict_->code, Code::kError);
}

}  // namespace
}  // namespace koord::scheduler::binding_cycle_test
