#include "localcluster/assembly/summary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "localcluster/assembly/summary_text.h"

namespace koord::localcluster::summary_test {
namespace {

using ::testing::Contains;
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

// Nodes of 10 CPUs, each of which lends 4; on each a service that has asked for 6 and uses 2, and a
// batch pod that has asked for 3 and uses 2.5.
Summary Colocated(int nodes) {
  SummaryBuilder builder;
  for (int i = 0; i < nodes; ++i) {
    builder.AddNode(From<kube::Node>(fmt::format(
        R"({{"metadata":{{"name":"node-{:03}"}},"status":{{"allocatable":{{"cpu":"10",
            "memory":"8Gi","kubernetes.io/batch-cpu":"4000","kubernetes.io/batch-memory":"4Gi"}},
            "conditions":[{{"type":"Ready","status":"True"}}]}}}})",
        i)));
    builder.AddPod(From<kube::Pod>(fmt::format(
        R"({{"metadata":{{"name":"s","labels":{{"koordinator.sh/qosClass":"LS"}}}},
            "status":{{"phase":"Running"}},"spec":{{"nodeName":"node-{:03}","containers":
            [{{"name":"c","resources":{{"requests":{{"cpu":"6","memory":"2Gi"}},
            "limits":{{"cpu":"8"}}}}}}]}}}})",
        i)));
    builder.AddPod(From<kube::Pod>(fmt::format(
        R"({{"metadata":{{"name":"j","labels":{{"koordinator.sh/qosClass":"BE"}}}},
            "status":{{"phase":"Running"}},"spec":{{"nodeName":"node-{:03}","containers":
            [{{"name":"c","resources":{{"requests":{{"kubernetes.io/batch-cpu":"3000",
            "kubernetes.io/batch-memory":"1Gi"}},"limits":{{"kubernetes.io/batch-cpu":"3000",
            "kubernetes.io/batch-memory":"1Gi"}}}}}}]}}}})",
        i)));
    builder.AddNodeMetric(*kube::ParseJson(fmt::format(
        R"({{"metadata":{{"name":"node-{:03}"}},"status":{{"nodeMetric":{{"nodeUsage":
            {{"resources":{{"cpu":"5","memory":"3Gi"}}}}}},"podsMetric":[
            {{"name":"s","qos":"LS","podUsage":{{"resources":{{"cpu":"2","memory":"1Gi"}}}}}},
            {{"name":"j","qos":"BE","podUsage":{{"resources":{{"cpu":"2500m","memory":"1Gi"}}}}}}
            ]}}}})",
        i)));
  }
  builder.SetProtection({.suppressed_nodes = 1, .suppressions = 7, .evictions = 3});
  return std::move(builder).Build();
}

TEST(Summary, CountsNodesPodsAndResources) {
  EXPECT_THAT(
      FormatSummary(Sample()),
      ElementsAre("nodes  1/2 ready", "pods   1 running, 1 pending",
                  "cpu    [##..................] used 1+ (13%), asked 2 (25%) of 8",
                  "memory [##..................] used 2.0Gi+ (13%), asked 1.0Gi (6%) of "
                  "16.0Gi",
                  "usage  unknown on 1 of 2 nodes", "",
                  "qos     pods  cpu asked     used    limit    mem asked      used     limit",
                  "LS         1          2  unknown        -        1.0Gi   unknown         -"));
}

TEST(Summary, SaysThatUsageIsUnknownWhereNobodyReports) {
  SummaryBuilder builder;
  builder.AddNode(From<kube::Node>(
      R"({"metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","memory":"8Gi",
          "kubernetes.io/batch-cpu":"2000"}}})"));
  const Summary summary = std::move(builder).Build();
  const auto lines = FormatSummary(summary);
  EXPECT_THAT(lines, Contains("cpu    [....................] used unknown, asked 0 (0%) of 4"));
  EXPECT_THAT(lines, Contains("gain   unknown: no node reports its usage"));
  EXPECT_THAT(FormatLine(summary), ::testing::HasSubstr("cpu use unknown, batch cpu 0/2"));
  const kube::Json json = ToJson(summary);
  EXPECT_TRUE(json.at("used").is_null());
  EXPECT_TRUE(json.at("nodes").at(0).at("used").is_null());
  EXPECT_EQ(kube::FindInt(json, {"nodesOfUnknownUsage"}), 1);
}

TEST(Summary, SaysWhyNobodyCanReportUsage) {
  SummaryBuilder builder;
  builder.AddNode(From<kube::Node>(R"({"metadata":{"name":"a"}})"));
  builder.SetUnknownBecause("there is no kind NodeMetric");
  EXPECT_THAT(FormatSummary(std::move(builder).Build()),
              Contains("usage  unknown: there is no kind NodeMetric"));
}

TEST(Summary, CountsReservations) {
  SummaryBuilder builder;
  for (const char* phase : {"", "Pending", "Available", "Available", "Available", "Succeeded"}) {
    api::Reservation reservation;
    reservation.status.phase = phase;
    builder.AddReservation(reservation);
  }
  const Summary summary = std::move(builder).Build();
  EXPECT_THAT(FormatSummary(summary),
              Contains("kept   3 reservations available, 2 pending, 1 used up"));
  EXPECT_EQ(kube::FindInt(ToJson(summary), {"reservations", "available"}), 3);
}

TEST(Summary, ShowsWhatCoLocationDoes) {
  EXPECT_THAT(
      FormatSummary(Colocated(3)),
      ElementsAre("nodes  3/3 ready", "pods   6 running, 0 pending",
                  "cpu    [#####=====..........] used 15 (50%), asked 18 (60%) of 30",
                  "memory [#####==.............] used 9.0Gi (38%), asked 6.0Gi (25%) of 24.0Gi", "",
                  "qos     pods  cpu asked     used    limit    mem asked      used     limit",
                  "LS         3         18        6       24        6.0Gi     3.0Gi         -",
                  "BE         3          9      7.5        9        3.0Gi     3.0Gi     3.0Gi", "",
                  "batch  9 of 12 CPUs that nodes lend are asked for (75%); by node:",
                  "node-000    3/4     node-001    3/4     node-002    3/4", "",
                  "guard  batch suppressed on 1 nodes now, 7 times so far; 3 pods evicted",
                  "gain   50% of all CPUs in use, 25% without co-location"));
}

TEST(Summary, FitsOnAScreenHoweverManyNodes) {
  for (const int nodes : {20, 1000}) {
    const auto lines = FormatSummary(Colocated(nodes));
    EXPECT_LE(lines.size(), 23u);
    for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  }
  EXPECT_THAT(FormatSummary(Colocated(1000)), Contains("and 980 more: koord status -o wide"));
}

TEST(Summary, TellsTheSameInALine) {
  EXPECT_EQ(FormatLine(Colocated(3)),
            "nodes 3/3 ready, pods 6 running, 0 pending, 0 failed, cpu 50% used (25% without "
            "co-location), batch cpu 9/12, suppressed 7 times, evicted 3");
  EXPECT_EQ(FormatLine(Sample()), "nodes 1/2 ready, pods 1 running, 1 pending, 0 failed");
}

TEST(Summary, ListsNodesByNameWithTheirShares) {
  const auto lines = FormatNodes(Sample());
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[1], "a     Ready                 1          25/50          25/13              -");
  EXPECT_EQ(lines[2], "b     NotReady,Cordoned     0      unknown/0      unknown/0              -");
  EXPECT_EQ(FormatNodes(Colocated(1))[1],
            "node-000  Ready                 2          50/60          38/25            3/4");
}

TEST(Summary, IgnoresUsageThatCannotBeRead) {
  SummaryBuilder builder;
  builder.AddNodeMetric(*kube::ParseJson(
      R"({"metadata":{"name":"a"},"status":{"nodeMetric":{"nodeUsage":{"resources":{"cpu":[]}}}}})"));
  EXPECT_EQ(std::move(builder).Build().used.cpu, 0);
}

}  // namespace
}  // namespace koord::localcluster::summary_test
