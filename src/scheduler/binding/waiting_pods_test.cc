#include "scheduler/binding/waiting_pods.h"

#include <gmock/gmock.h>

#include "base/virtual_loop.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::waiting_pods_test {
namespace {

using ::testing::ElementsAre;

class WaitingPodsTest : public ::testing::Test {
 protected:
  void Wait(std::string_view name, std::vector<WaitingPods::Wait> waits) {
    auto& attempt = attempts_.emplace_back(std::make_unique<Attempt>());
    attempt->pod = PodOf(fmt::format("{{metadata: {{name: {}, uid: {}-uid}}}}", name, name));
    waiting_.Add(*attempt, std::move(waits), [this, name = std::string(name)](Verdict verdict) {
      outcomes_.push_back(fmt::format("{}: {} {} {}", name, ToString(verdict.code), verdict.plugin,
                                      verdict.Message()));
    });
  }
  std::vector<std::string> Outcomes() {
    loop_.RunReady();
    return std::exchange(outcomes_, {});
  }

  VirtualLoop loop_;
  std::vector<std::unique_ptr<Attempt>> attempts_;
  std::vector<std::string> outcomes_;
  WaitingPods waiting_{loop_};
};

TEST_F(WaitingPodsTest, GoesOnWhenAllHaveAllowedIt) {
  Wait("a", {{"Gang", 1min}, {"Quota", 1min}});
  EXPECT_TRUE(waiting_.Allow("a-uid", "Gang"));
  EXPECT_THAT(Outcomes(), ElementsAre());
  EXPECT_FALSE(waiting_.Allow("a-uid", "Gang"));  // not twice
  EXPECT_FALSE(waiting_.Allow("b-uid", "Gang"));
  EXPECT_TRUE(waiting_.Allow("a-uid", "Quota"));
  EXPECT_THAT(Outcomes(), ElementsAre("a: Success  "));
  EXPECT_EQ(waiting_.size(), 0u);
  loop_.Advance(1h);
  EXPECT_THAT(Outcomes(), ElementsAre());
}

TEST_F(WaitingPodsTest, FailsWithTheFirstRejection) {
  Wait("a", {{"Gang", 1min}, {"Quota", 1min}});
  EXPECT_TRUE(waiting_.Reject("a-uid", "Gang", "gang is gone"));
  EXPECT_FALSE(waiting_.Reject("a-uid", "Quota", "too late"));
  EXPECT_FALSE(waiting_.Allow("a-uid", "Quota"));
  EXPECT_THAT(Outcomes(), ElementsAre("a: Unschedulable Gang gang is gone"));
}

TEST_F(WaitingPodsTest, OutcomesAreToldFromTheLoop) {
  Wait("a", {{"Gang", 1min}});
  waiting_.Allow("a-uid", "Gang");
  EXPECT_THAT(outcomes_, ElementsAre());
  EXPECT_EQ(waiting_.Find("a-uid"), nullptr);  // but it waits no more
  EXPECT_EQ(Outcomes().size(), 1u);
}

TEST_F(WaitingPodsTest, TimesOutAtTheFirstDeadlineThatIsLeft) {
  struct Case {
    std::string_view what;
    std::vector<WaitingPods::Wait> waits;
    std::string_view allowed;
    Duration after;
    std::string expected;
  };
  const Case kCases[] = {
      {"one plugin",
       {{"Gang", 90s}},
       "",
       90s,
       "p: Unschedulable Gang rejected due to timeout after waiting 1m30s at plugin Gang"},
      {"the shorter of two",
       {{"Gang", 10min}, {"Quota", 500ms}},
       "",
       500ms,
       "p: Unschedulable Quota rejected due to timeout after waiting 500ms at plugin Quota"},
      {"the shorter one has allowed it",
       {{"Gang", 10min}, {"Quota", 500ms}},
       "Quota",
       10min,
       "p: Unschedulable Gang rejected due to timeout after waiting 10m0s at plugin Gang"},
      {"nobody waits longer than a quarter of an hour",
       {{"Gang", 2h}},
       "",
       15min,
       "p: Unschedulable Gang rejected due to timeout after waiting 15m0s at plugin Gang"},
      {"no time at all",
       {{"Gang", 0s}},
       "",
       0s,
       "p: Unschedulable Gang rejected due to timeout after waiting 0s at plugin Gang"},
  };
  for (const Case& test : kCases) {
    Wait("p", test.waits);
    if (!test.allowed.empty()) waiting_.Allow("p-uid", test.allowed);
    if (test.after > 0s) {
      loop_.Advance(test.after - 1ns);
      EXPECT_THAT(Outcomes(), ElementsAre()) << test.what;
    }
    loop_.Advance(test.after > 0s ? 1ns : 0ns);
    EXPECT_THAT(Outcomes(), ElementsAre(test.expected)) << test.what;
    EXPECT_EQ(waiting_.size(), 0u) << test.what;
  }
}

TEST_F(WaitingPodsTest, VisitorsMayDecideAboutAnybody) {
  for (const char* name : {"a", "b", "c", "d"}) Wait(name, {{"Gang", 1min}});
  std::vector<std::string> seen;
  waiting_.ForEach([&](const Attempt& attempt) {
    seen.push_back(attempt.pod->metadata.name);
    if (seen.size() > 1) return;
    for (const char* uid : {"a-uid", "b-uid", "d-uid"}) waiting_.Reject(uid, "Gang", "no");
  });
  EXPECT_THAT(seen, ElementsAre("a", "c"));
  EXPECT_EQ(Outcomes().size(), 3u);
  EXPECT_EQ(waiting_.size(), 1u);
  EXPECT_EQ(waiting_.Find("c-uid")->pod->metadata.name, "c");
}

}  // namespace
}  // namespace koord::scheduler::waiting_pods_test
