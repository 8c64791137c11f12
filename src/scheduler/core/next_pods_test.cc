#include "scheduler/core/next_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/virtual_loop.h"
#include "scheduler/queue/queue_testing.h"

namespace koord::scheduler::next_pods_test {
namespace {

using ::testing::ElementsAre;

// Names pods one after the other, whatever becomes of them; and holds some back itself.
class Naming final : public NextPodPlugin, public PreEnqueuePlugin {
 public:
  std::string_view name() const override { return "Naming"; }
  std::string NextPod() override {
    if (names.empty()) return "";
    const std::string uid = names.front() + "-uid";
    if (!insists) names.pop_front();
    return uid;
  }
  void OnRefused(std::string_view uid, std::string_view gate) override {
    refused.push_back(fmt::format("{} {}", uid, gate));
  }
  Verdict PreEnqueue(const kube::Pod& pod) override {
    return held.contains(pod.metadata.name) ? Verdict::Unresolvable("not yet") : Verdict::Success();
  }

  std::deque<std::string> names;
  bool insists = false;
  std::set<std::string> held;
  std::vector<std::string> refused;
};

class NextPodsTest : public testing::Test {
 protected:
  void Add(std::string_view name, int32_t priority = 0) { queue_.Add(MakePod(name, priority)); }
  std::string Next() {
    const auto taken = next_.Take();
    if (!taken) return "";
    last_ = *taken;
    return taken->pod->metadata.name;
  }

  VirtualLoop loop_;
  TestPrioritySort sort_;
  Naming plugin_;
  TestGate gate_{"Gate"};
  SchedulingQueue queue_{
      loop_, sort_, [this] {
        std::vector<QueueProfile> profiles;
        profiles.push_back(
            {.name = std::string(kTestProfile), .pre_enqueue = {&plugin_, &gate_}, .requeue = {}});
        return profiles;
      }()};
  NextPods next_{queue_, {&plugin_}};
  QueuedPod last_;
};

TEST_F(NextPodsTest, FollowsTheQueueWhileNobodyIsNamed) {
  Add("a", 1);
  Add("b", 2);
  EXPECT_EQ(Next(), "b");
  EXPECT_EQ(Next(), "a");
  EXPECT_EQ(Next(), "");
}

TEST_F(NextPodsTest, WhoIsNamedComesFirst) {
  Add("a", 1);
  Add("b", 2);
  Add("c", 3);
  plugin_.names = {"a"};
  EXPECT_EQ(Next(), "a");
  EXPECT_EQ(Next(), "c");
}

TEST_F(NextPodsTest, ItsOwnGateDoesNotHoldBackWhomAPluginNames) {
  plugin_.held = {"member"};
  Add("first");
  Add("member");
  EXPECT_EQ(Next(), "first");
  EXPECT_EQ(Next(), "");
  plugin_.names = {"member"};
  EXPECT_EQ(Next(), "member");
}

TEST_F(NextPodsTest, ItCountsAsTriedLikeThePodThatTheQueueGaveLast) {
  Add("first");
  EXPECT_EQ(Next(), "first");
  const QueuedPod first = last_;
  loop_.Advance(5s);
  Add("member");
  plugin_.names = {"member"};
  EXPECT_EQ(Next(), "member");
  EXPECT_EQ(last_.timestamp, first.timestamp);
  EXPECT_EQ(last_.attempts, first.attempts);
}

// Decision 10: members that are held back or belong to somebody else are skipped.
TEST_F(NextPodsTest, WhoCannotBeTakenIsPassedOver) {
  gate_.held = {"gated"};
  plugin_.held = {"gated"};
  Add("flying");
  EXPECT_EQ(Next(), "flying");
  for (const char* name : {"gated", "other"}) Add(name);
  plugin_.names = {"flying", "unknown", "gated", "other"};
  EXPECT_EQ(Next(), "other");
  EXPECT_THAT(plugin_.refused, ElementsAre("flying-uid ", "unknown-uid ", "gated-uid Gate"));
  EXPECT_EQ(queue_.Describe("gated-uid")->pool, QueuePool::kGated);
  EXPECT_EQ(queue_.Describe("gated-uid")->gated_by, "Naming") << "it waits for what it waited for";
}

TEST_F(NextPodsTest, WhoInsistsOnAPodThatCannotBeTakenIsNotListenedTo) {
  plugin_.insists = true;
  plugin_.names = {"unknown"};
  Add("a");
  EXPECT_EQ(Next(), "a");
}

}  // namespace
}  // namespace koord::scheduler::next_pods_test
