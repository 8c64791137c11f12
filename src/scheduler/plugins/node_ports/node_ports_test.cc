#include "scheduler/plugins/node_ports/node_ports.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::node_ports_test {
namespace {

constexpr std::string_view kTaken =
    "Unschedulable: node(s) didn't have free ports for the requested pod ports";

std::string Pod(std::string_view ports, std::string_view node = "", std::string_view name = "p") {
  return fmt::format(
      "{{metadata: {{name: {}}}, spec: {{nodeName: '{}', containers: [{{ports: [{}]}}]}}}}", name,
      node, ports);
}

TEST(NodePortsTest, FindsConflicts) {
  struct Case {
    std::string_view used;
    std::string_view wanted;
    bool conflict;
  };
  const Case cases[] = {
      {"{hostPort: 80}", "{hostPort: 80}", true},
      {"{hostPort: 80}", "{hostPort: 81}", false},
      {"{hostPort: 80}", "{hostPort: 80, protocol: TCP}", true},
      {"{hostPort: 80}", "{hostPort: 80, protocol: UDP}", false},
      {"{hostPort: 80}", "{hostPort: 80, hostIP: 127.0.0.1}", true},
      {"{hostPort: 80, hostIP: 127.0.0.1}", "{hostPort: 80}", true},
      {"{hostPort: 80, hostIP: 127.0.0.1}", "{hostPort: 80, hostIP: 0.0.0.0}", true},
      {"{hostPort: 80, hostIP: 127.0.0.1}", "{hostPort: 80, hostIP: 127.0.0.1}", true},
      {"{hostPort: 80, hostIP: 127.0.0.1}", "{hostPort: 80, hostIP: 10.0.0.1}", false},
      {"{hostPort: 80}, {hostPort: 82}", "{hostPort: 81}, {hostPort: 82}", true},
      {"{containerPort: 80}", "{containerPort: 80}", false},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    NodePorts plugin(bed.context);
    bed.AddNode("metadata: {name: n}");
    bed.AddPod(Pod(test.used, "n", "running"));
    EXPECT_EQ(bed.Check(plugin, *bed.Query(plugin, Pod(test.wanted)), "n"),
              test.conflict ? kTaken : "")
        << test.used << " / " << test.wanted;
  }
}

TEST(NodePortsTest, SidecarsOccupyPortsAndOtherInitContainersDoNot) {
  PluginBed bed;
  NodePorts plugin(bed.context);
  bed.AddNode("metadata: {name: n}");
  bed.AddPod(R"({metadata: {name: r}, spec: {nodeName: n, initContainers: [
    {restartPolicy: Always, ports: [{hostPort: 80}]}, {ports: [{hostPort: 81}]}]}})");
  EXPECT_EQ(bed.Check(plugin, *bed.Query(plugin, Pod("{hostPort: 80}")), "n"), kTaken);
  EXPECT_EQ(bed.Check(plugin, *bed.Query(plugin, Pod("{hostPort: 81}")), "n"), "");
}

TEST(NodePortsTest, IsSkippedWithoutHostPorts) {
  PluginBed bed;
  NodePorts plugin(bed.context);
  bed.Query(plugin, Pod("{containerPort: 80}"));
  EXPECT_EQ(bed.pre_filter.verdict.code, Code::kSkip);
  bed.Query(plugin, Pod("{hostPort: 80}"));
  EXPECT_EQ(bed.pre_filter.verdict.code, Code::kSuccess);
}

TEST(NodePortsTest, PortsAreFreeOnceTheLastPodThatHasThemIsGone) {
  PluginBed bed;
  NodePorts plugin(bed.context);
  bed.AddNode("metadata: {name: n}");
  const auto query = bed.Query(plugin, Pod("{hostPort: 80}"));
  bed.AddPod(Pod("{hostPort: 80}", "n", "one"));
  bed.AddPod(Pod("{hostPort: 80}", "n", "two"));  // came past the scheduler
  EXPECT_EQ(bed.Check(plugin, *query, "n"), kTaken);
  bed.ledger.RemovePod("one");
  EXPECT_EQ(bed.Check(plugin, *query, "n"), kTaken);
  bed.ledger.RemovePod("two");
  EXPECT_EQ(bed.Check(plugin, *query, "n"), "");
}

TEST(NodePortsTest, KnowsPodsThatWereThereBefore) {
  PluginBed bed;
  bed.AddNode("metadata: {name: n}");
  bed.AddPod(Pod("{hostPort: 80}", "n", "running"));
  NodePorts plugin(bed.context);
  EXPECT_EQ(bed.Check(plugin, *bed.Query(plugin, Pod("{hostPort: 80}")), "n"), kTaken);
}

TEST(NodePortsTest, LooksAtTheRowAsTheDeltaShowsIt) {
  PluginBed bed;
  NodePorts plugin(bed.context);
  const NodeRow row = bed.AddNode("metadata: {name: n}");
  bed.AddPod(Pod("{hostPort: 80}", "n", "running"));
  const auto query = bed.Query(plugin, Pod("{hostPort: 80}"));
  const RowDelta without{.removed = {bed.ledger.nodes().pods(row)[0]}};
  EXPECT_EQ(bed.Check(plugin, *query, "n", &without), "");
  PodInfo promised;
  promised.pod = PodOf(Pod("{hostPort: 80, hostIP: 10.0.0.1}"));
  promised.shape = bed.ledger.shapes().Of(promised.pod);
  const RowDelta exchanged{.removed = without.removed, .added = {&promised}};
  EXPECT_EQ(bed.Check(plugin, *query, "n", &exchanged), kTaken);
}

TEST(NodePortsTest, FilterAndCheckAgreeOnRandomClusters) {
  Random random(13);
  PluginBed bed;
  NodePorts plugin(bed.context);
  FillCluster(bed, random, 300, 4);
  const RowDelta none;
  for (int i = 0; i < 60; ++i) {
    const auto query = bed.Query(plugin, RandomPod(random, i));
    ExpectFilterAgreesWithCheck(plugin, *query);
    for (NodeRow row{0}; row < bed.ledger.nodes().rows(); ++row) {  // the ports, and the pods
      ASSERT_EQ(plugin.Check(*query, {row}).ok(), plugin.Check(*query, {row, &none}).ok());
    }
  }
}

TEST(NodePortsTest, KnowsWhatMightCure) {
  PluginBed bed;
  NodePorts plugin(bed.context);
  const auto pod = PodOf(Pod("{hostPort: 80}"));
  const auto removed = [&](std::string_view ports) {
    return plugin.MightCure(
        *pod, {.kind = EventKind::kAssignedPodRemoved, .pod_before = PodOf(Pod(ports, "n", "o"))});
  };
  EXPECT_TRUE(removed("{hostPort: 80, hostIP: 10.0.0.1}"));
  EXPECT_FALSE(removed("{hostPort: 81}"));
  EXPECT_FALSE(removed(""));
  EXPECT_TRUE(plugin.MightCure(*pod, {.kind = EventKind::kNodeAdded}));
  EXPECT_TRUE(plugin.MightCure(*pod, {.kind = EventKind::kForced}));
  EXPECT_FALSE(plugin.MightCure(*pod, {.kind = EventKind::kNodeUpdated}));
}

TEST(NodePortsTest, CaresAboutNoOtherEvents) {
  PluginBed bed;
  const NodePorts plugin(bed.context);
  EXPECT_EQ(WantedEvents(plugin), (std::vector<std::string_view>{"AssignedPodDelete", "NodeAdd"}));
}

}  // namespace
}  // namespace koord::scheduler::node_ports_test
