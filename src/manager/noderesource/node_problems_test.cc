#include "manager/noderesource/node_problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"

namespace koord::manager::node_problems_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Recorder final : public kube::EventRecorder {
 public:
  void Record(const Note& note) override {
    EXPECT_EQ(note.type, "Warning");
    EXPECT_EQ(note.regarding.kind, "Node");
    told.push_back(note.regarding.name + ": " + note.message);
  }
  std::vector<std::string> told;
};

class NodeProblemsTest : public testing::Test {
 protected:
  NodeProblemsTest() {
    log::SetSink([](std::string_view) {});
  }
  ~NodeProblemsTest() override { log::SetSink(nullptr); }

  static kube::Node Node(std::string name, kube::Annotations annotations = {},
                         kube::Labels labels = {}) {
    kube::Node node;
    node.metadata.name = std::move(name);
    node.metadata.annotations = std::move(annotations);
    node.metadata.labels = std::move(labels);
    return node;
  }
  static std::vector<std::string> WithAnnotation(std::string_view key, std::string value) {
    return ProblemsOf(Node("n", {{"node.koordinator.sh/" + std::string(key), std::move(value)}}));
  }

  Recorder events_;
  NodeProblems problems_{events_};
};

TEST_F(NodeProblemsTest, WhatCannotBeReadIsNamed) {
  for (const char* key : {"colocation-strategy", "reservation", "raw-allocatable",
                          "resource-amplification-ratio", "network-bandwidth"}) {
    EXPECT_THAT(WithAnnotation(key, "{"),
                ElementsAre(HasSubstr(std::string("annotation node.koordinator.sh/") + key)))
        << key;
  }
  EXPECT_THAT(WithAnnotation("reservation", R"({"reservedCPUs":"3-x"})"),
              ElementsAre(HasSubstr("nothing is kept back for it")));
}

TEST_F(NodeProblemsTest, WhatIsOutOfRangeIsNamed) {
  EXPECT_THAT(WithAnnotation("resource-amplification-ratio", R"({"cpu":0.5,"memory":2})"),
              ElementsAre(HasSubstr("no effect on cpu: the ratio must be at least 1, found 0.5")));
  EXPECT_THAT(WithAnnotation("colocation-strategy", R"({"degradeTimeMinutes":0})"),
              ElementsAre(HasSubstr("makes no sense: degradeTimeMinutes: must be at least 1")));
  for (const char* text : {"-0.5", "most", ""}) {
    EXPECT_THAT(ProblemsOf(Node("n", {}, {{"node.koordinator.sh/cpu-reclaim-ratio", text}})),
                ElementsAre(HasSubstr("label node.koordinator.sh/cpu-reclaim-ratio is ignored")))
        << text;
  }
}

TEST_F(NodeProblemsTest, WhatIsFineIsNot) {
  EXPECT_THAT(ProblemsOf(Node("n")), IsEmpty());
  EXPECT_THAT(WithAnnotation("resource-amplification-ratio", R"({"cpu":1.5})"), IsEmpty());
  EXPECT_THAT(WithAnnotation("reservation", R"({"reservedCPUs":"0-3"})"), IsEmpty());
  EXPECT_THAT(ProblemsOf(Node("n", {}, {{"node.koordinator.sh/cpu-reclaim-ratio", "1.2"}})),
              IsEmpty());
}

TEST_F(NodeProblemsTest, IsToldOncePerChange) {
  const kube::Node bad = Node("n", {{"node.koordinator.sh/reservation", "{"}});
  problems_.Set(bad, {});
  problems_.Set(bad, {});
  ASSERT_EQ(events_.told.size(), 1u);
  // One more: only that is news.
  problems_.Set(bad, {{"CPUNormalization", InvalidArgument("the ratio must be between 1 and 5")}});
  EXPECT_EQ(events_.told.size(), 2u);
  EXPECT_EQ(events_.told[1], "n: CPUNormalization: the ratio must be between 1 and 5");
  problems_.Set(Node("n"), {});
  EXPECT_EQ(events_.told.size(), 2u);
  problems_.Set(bad, {});
  EXPECT_EQ(events_.told.size(), 3u) << "it is back";
  problems_.Set(bad, {{"BatchResource", FailedPrecondition("the configuration is not readable")}});
  EXPECT_EQ(events_.told.size(), 3u) << "the ConfigMap's events say so";
}

TEST_F(NodeProblemsTest, OneCauseIsNotToldOfEveryNode) {
  const std::vector<NodeDecision::Failure> failures{{"CPUNormalization", InvalidArgument("x")}};
  for (int i = 0; i < 1000; ++i) problems_.Set(Node(fmt::format("n{}", i)), failures);
  EXPECT_EQ(events_.told.size(), static_cast<size_t>(NodeProblems::kMostNodes));
  for (int i = 0; i < 1000; ++i) problems_.Forget(fmt::format("n{}", i));
  problems_.Set(Node("new"), failures);
  EXPECT_EQ(events_.told.back(), "new: CPUNormalization: x");
}

}  // namespace
}  // namespace koord::manager::node_problems_test
