#include "localcluster/cluster/summary.h"

#include <gmock/gmock.h>

namespace koord::localcluster {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

template <class T>
T From(std::string_view text) {
  const auto decoded = kube::Decode<T>(*kube::ParseJson(text));
  EXPECT_TRUE(decoded.ok()) << decoded.status();
  return *decoded;
}

Summary Sample() {
  SummaryBuilder builder;
  builder.AddNode(From<kube::Node>(
      R"({"metadata":{"name":"b"},"spec":{"unschedulable":true},
          "status":{"allocatable":{"cpu":"4","memory":"8Gi"}}})"));
  builder.AddNode(From<kube::Node>(
      R"({"metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","memory":"8Gi"},
          "conditions":[{"type":"Ready","status":"True"}]}})"));
  builder.AddPod(From<kube::Pod>(
      R"({"metadata":{"name":"p"},"status":{"phase":"Running"},"spec":{"nodeName":"a","containers":
          [{"name":"c","resources":{"requests":{"cpu":"2","memory":"1Gi"}}}]}})"));
  builder.AddPod(From<kube::Pod>(R"({"metadata":{"name":"q"},"status":{"phase":"Pending"}})"));
  builder.AddNodeMetric(*kube::ParseJson(
      R"({"metadata":{"name":"a"},"status":{"nodeMetric":{"nodeUsage":
          {"resources":{"cpu":"1","memory":"2Gi"}}}}})"));
  return std::move(builder).Build();
}

TEST(Summary, CountsNodesPodsAndResources) {
  EXPECT_THAT(FormatSummary(Sample()),
              ElementsAre("nodes  1/2 ready", "pods   1 running, 1 pending",
                          "cpu    [##..................] used 1 (13%), requested 2 (25%) of 8",
                          "memory [##..................] used 2.0Gi (13%), requested 1.0Gi (6%) of "
                          "16.0Gi"));
}

TEST(Summary, ListsNodesByNameWithTheirShares) {
  const auto lines = FormatNodes(Sample());
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[1], "a     Ready                 1           25/50           25/13");
  EXPECT_EQ(lines[2], "b     NotReady,Cordoned     0             0/0             0/0");
}

TEST(Summary, IgnoresUsageThatCannotBeRead) {
  SummaryBuilder builder;
  builder.AddNodeMetric(*kube::ParseJson(
      R"({"metadata":{"name":"a"},"status":{"nodeMetric":{"nodeUsage":{"resources":{"cpu":[]}}}}})"));
  EXPECT_EQ(std::move(builder).Build().used.cpu, 0);
}

}  // namespace
}  // namespace koord::localcluster
