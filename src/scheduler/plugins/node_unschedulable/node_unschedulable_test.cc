#include "scheduler/plugins/node_unschedulable/node_unschedulable.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::node_unschedulable_test {
namespace {

constexpr std::string_view kCordoned = "{metadata: {name: cordoned}, spec: {unschedulable: true}}";
constexpr std::string_view kRejected = "UnschedulableAndUnresolvable: node(s) were unschedulable";

TEST(NodeUnschedulableTest, KeepsPodsOffCordonedNodesUnlessTheyTolerateIt) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", kRejected},
      {"{key: node.kubernetes.io/unschedulable, operator: Exists}", ""},
      {"{key: node.kubernetes.io/unschedulable, effect: NoSchedule}", ""},
      {"{operator: Exists}", ""},
      {"{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoExecute}", kRejected},
      {"{key: node.kubernetes.io/unschedulable, value: x}", kRejected},
      {"{key: other, operator: Exists}", kRejected},
  };
  PluginBed bed;
  NodeUnschedulable plugin(bed.context);
  bed.AddNode(kCordoned);
  bed.AddNode("{metadata: {name: open}}");
  for (const auto& [toleration, expected] : cases) {
    const auto query = bed.Query(plugin, fmt::format("spec: {{tolerations: [{}]}}", toleration));
    EXPECT_EQ(bed.Check(plugin, *query, "cordoned"), expected) << toleration;
    EXPECT_EQ(bed.Check(plugin, *query, "open"), "") << toleration;
  }
}

TEST(NodeUnschedulableTest, FilterAndCheckAgreeOnRandomClusters) {
  Random random(5);
  PluginBed bed;
  NodeUnschedulable plugin(bed.context);
  FillCluster(bed, random, 300, 0);
  for (int i = 0; i < 20; ++i) {
    ExpectFilterAgreesWithCheck(plugin, *bed.Query(plugin, RandomPod(random, i)));
  }
}

TEST(NodeUnschedulableTest, KnowsWhatMightCure) {
  PluginBed bed;
  NodeUnschedulable plugin(bed.context);
  const auto pod = PodOf("metadata: {name: p}");
  const auto tolerant = PodOf("spec: {tolerations: [{operator: Exists}]}");
  const auto open = NodeOf("metadata: {name: n}");
  const auto cures = [&](const ClusterEvent& event) { return plugin.MightCure(*pod, event); };
  EXPECT_TRUE(cures({.kind = EventKind::kForced}));
  EXPECT_TRUE(cures({.kind = EventKind::kNodeAdded, .node_after = open}));
  EXPECT_FALSE(cures({.kind = EventKind::kNodeAdded, .node_after = NodeOf(kCordoned)}));
  EXPECT_TRUE(cures({.kind = EventKind::kNodeUpdated,
                     .node_before = NodeOf(kCordoned),
                     .node_after = open,
                     .node_changes = {.unschedulable = true}}));
  EXPECT_FALSE(cures(
      {.kind = EventKind::kNodeUpdated, .node_after = open, .node_changes = {.labels = true}}));
  EXPECT_TRUE(cures({.kind = EventKind::kPodUpdated, .pod_before = pod, .pod_after = tolerant}));
  EXPECT_FALSE(cures({.kind = EventKind::kPodUpdated, .pod_before = pod, .pod_after = pod}));
  EXPECT_FALSE(cures({.kind = EventKind::kAssignedPodRemoved}));
}

TEST(NodeUnschedulableTest, CaresAboutNoOtherEvents) {
  PluginBed bed;
  const NodeUnschedulable plugin(bed.context);
  EXPECT_EQ(WantedEvents(plugin),
            (std::vector<std::string_view>{"NodeAdd", "NodeUpdate", "PodUpdate"}));
}

}  // namespace
}  // namespace koord::scheduler::node_unschedulable_test
