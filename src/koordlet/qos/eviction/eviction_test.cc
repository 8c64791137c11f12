#include "koordlet/qos/eviction/eviction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/virtual_loop.h"

namespace koord::koordlet::eviction_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Counts = EvictionTask::Counts;

class FakeEvictor final : public PodEvictor {
 public:
  Result Evict(const NodePod& pod, std::string_view, std::string_view message) override {
    asked.push_back(pod.uid());
    messages.emplace_back(message);
    if (fails.contains(pod.uid())) return {};
    return {.ok = true, .is_new = !recent.contains(pod.uid())};
  }
  bool WasRefused(std::string_view uid) const override { return refused.contains(uid); }

  std::vector<std::string> asked;
  std::vector<std::string> messages;
  std::set<std::string, std::less<>> fails, recent, refused;
};

class EvictionTest : public ::testing::Test {
 protected:
  const NodePod* Pod(const std::string& uid) {
    NodePod& pod = pods_[uid];
    if (pod.pod == nullptr) {
      auto object = std::make_shared<kube::Pod>();
      object->metadata.uid = uid;
      object->metadata.name = "pod-" + uid;
      pod.pod = object;
    }
    return &pod;
  }
  Victim Frees(const std::string& uid, std::string_view resource, int64_t amount) {
    return {Pod(uid), {{resource, amount}}};
  }

  std::map<std::string, NodePod> pods_;
  FakeEvictor evictor_;
};

TEST_F(EvictionTest, StopsWhenThereIsEnough) {
  const EvictionTask task{
      .feature = "CPUEvict",
      .release = {{"cpu", 1000}},
      .victims = {Frees("a", "cpu", 400), Frees("b", "cpu", 600), Frees("c", "cpu", 1)}};
  EXPECT_THAT(Evict({&task, 1}, evictor_), ElementsAre("a", "b"));
  EXPECT_EQ(evictor_.messages[0], "trigger by koordlet feature CPUEvict, kill pod: pod-a");
}

TEST_F(EvictionTest, OnePodServesSeveralTasks) {
  // The first task sees what pods ask for, the second what they use of the same resource.
  const EvictionTask tasks[] = {
      {.feature = "A",
       .counts = Counts::kRequested,
       .release = {{"batch-cpu", 100}},
       .victims = {Frees("a", "batch-cpu", 100), Frees("b", "batch-cpu", 100)}},
      {.feature = "B",
       .counts = Counts::kUsed,
       .release = {{"cpu", 50}},
       .victims = {Frees("b", "cpu", 50), Frees("a", "cpu", 60)}}};
  EXPECT_THAT(Evict(tasks, evictor_), ElementsAre("a"));
}

TEST_F(EvictionTest, TheLargestViewCountsOnce) {
  const EvictionTask tasks[] = {
      {.feature = "A", .release = {{"memory", 10}}, .victims = {Frees("a", "memory", 10)}},
      {.feature = "B",
       .release = {{"memory", 30}},
       .victims = {Frees("a", "memory", 20), Frees("b", "memory", 10), Frees("c", "memory", 5)}}};
  // "a" has freed 20, the most that anybody sees in it, so that "b" completes the 30.
  EXPECT_THAT(Evict(tasks, evictor_), ElementsAre("a", "b"));
  EXPECT_THAT(evictor_.asked, ElementsAre("a", "b"));
}

TEST_F(EvictionTest, WhoIsGoingAlreadyCountsButIsNotNew) {
  evictor_.recent = {"a"};
  const EvictionTask task{.feature = "A",
                          .release = {{"cpu", 10}},
                          .victims = {Frees("a", "cpu", 10), Frees("b", "cpu", 10)}};
  EXPECT_THAT(Evict({&task, 1}, evictor_), IsEmpty());
  EXPECT_THAT(evictor_.asked, ElementsAre("a"));
}

TEST_F(EvictionTest, AFailureMovesOnToTheNext) {
  evictor_.fails = {"a"};
  const EvictionTask tasks[] = {
      {.feature = "A",
       .release = {{"cpu", 10}},
       .victims = {Frees("a", "cpu", 10), Frees("b", "cpu", 10)}},
      {.feature = "B", .release = {{"cpu", 20}}, .victims = {Frees("a", "cpu", 10)}}};
  EXPECT_THAT(Evict(tasks, evictor_), ElementsAre("b"));
  EXPECT_THAT(evictor_.asked, ElementsAre("a", "b")) << "nobody is tried twice in a round";
}

TEST_F(EvictionTest, AllResourcesOfATaskMustBeServed) {
  const EvictionTask task{.feature = "A",
                          .counts = Counts::kRequested,
                          .release = {{"batch-cpu", 10}, {"mid-cpu", 10}},
                          .victims = {Frees("a", "batch-cpu", 20),
                                      {Pod("b"), {}},
                                      Frees("c", "mid-cpu", 10),
                                      Frees("d", "mid-cpu", 10)}};
  EXPECT_THAT(Evict({&task, 1}, evictor_), ElementsAre("a", "b", "c"));
}

TEST_F(EvictionTest, CoolTime) {
  VirtualLoop loop;
  CoolTime cool(20s, loop.clock(), evictor_);
  EXPECT_TRUE(cool.Over());
  cool.Start({"a", "b"});
  EXPECT_FALSE(cool.Over());
  loop.Advance(19s);
  evictor_.refused = {"a"};
  EXPECT_FALSE(cool.Over());
  evictor_.refused = {"a", "b"};
  EXPECT_TRUE(cool.Over()) << "nobody left: nothing to wait for";
  evictor_.refused.clear();
  loop.Advance(1s);
  EXPECT_TRUE(cool.Over());
}

}  // namespace
}  // namespace koord::koordlet::eviction_test
