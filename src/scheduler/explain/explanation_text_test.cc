#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "scheduler/explain/explanation.h"

namespace koord::scheduler::explanation_text_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Explanation Pending() {
  Explanation pod;
  pod.ns = "default";
  pod.name = "web-0";
  pod.state = "Pending";
  pod.summary = "fits no node and waits for the cluster to change";
  pod.queue.emplace();
  pod.queue->pool = "unschedulable";
  pod.queue->attempts = 3;
  pod.queue->message = "0/12 nodes are available: " + std::string(300, 'x') + " and more words";
  pod.queue->waits_for = {"NodeAdd", "AssignedPodDelete"};
  pod.nodes = 12;
  pod.rejections = {
      {"NodeResourcesFit", 12, {{"Insufficient cpu", 12, true, {"node-1", "node-2", "node-3"}}}}};
  pod.nearest_misses = {{"node-7", {{"cpu", "500m"}}, {}, "node-7 lacks 500m cpu"}};
  pod.changes = {{"node-7",
                  {"lower the cpu request to 1"},
                  "lower the cpu request to 1: then node-7 can take it"},
                 {"node-7", {"free 500m cpu"}, "free 500m cpu on node-7"}};
  return pod;
}

TEST(ExplanationTextTest, OfAPodThatWaits) {
  const std::string text = FormatExplanation(Pending(), 80);
  for (const char* part :
       {"default/web-0  Pending\n  fits no node and waits for the cluster to change\n",
        "\nQueue\n  unschedulable, 3 attempts\n", "  moved by: NodeAdd, AssignedPodDelete\n",
        "0 of 12 feasible\n  NodeResourcesFit removed 12\n"
        "    12 Insufficient cpu: node-1, node-2, node-3, ... (preemption might help)\n",
        "\nNearest misses\n  node-7 lacks 500m cpu\n",
        "\nSmallest change\n  lower the cpu request to 1: then node-7 can take it\n"
        "  or free 500m cpu on node-7\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("Best nodes")));
}

TEST(ExplanationTextTest, FitsTheTerminal) {
  Explanation pod = Pending();
  pod.queue->message = "many short words that go on and on until a line is long enough to be cut";
  for (int i = 0; i < 5; ++i) {
    pod.scores.push_back({"a-node-whose-name-is-very-long-indeed-" + std::to_string(i),
                          500 - i,
                          {{"NodeResourcesBalancedAllocation", 87}, {"ImageLocality", 0}}});
  }
  for (const size_t width : {80u, 100u, 160u}) {
    const std::string text = FormatExplanation(pod, width);
    for (const std::string_view line : Split(text, '\n')) EXPECT_LE(line.size(), width) << line;
    EXPECT_THAT(text, HasSubstr("-4")) << "the end of a name tells nodes apart";
  }
}

TEST(ExplanationTextTest, ShortNamesStandTogether) {
  Explanation pod = Pending();
  pod.scores = {{"a", 187, {{"ImageLocality", 100}}}, {"b", 87, {{"ImageLocality", 0}}}};
  EXPECT_THAT(FormatExplanation(pod, 80), HasSubstr("\nBest nodes             a        b\n"
                                                    "  total              187       87\n"
                                                    "  ImageLocality      100        0\n"));
}

TEST(ExplanationTextTest, AsJsonAndBack) {
  const kube::Json json = kube::Encode(Pending());
  EXPECT_EQ(kube::FindString(json, {"queue", "pool"}), "unschedulable");
  const auto read = kube::Decode<Explanation>(json);
  ASSERT_TRUE(read.ok()) << Message(read.status());
  EXPECT_EQ(FormatExplanation(*read), FormatExplanation(Pending()));
}

}  // namespace
}  // namespace koord::scheduler::explanation_text_test
