#include "scheduler/cluster/node_table.h"

#include <gtest/gtest.h>

#include "scheduler/cluster/ledger.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::node_table_test {
namespace {

TEST(NodeTableTest, KeepsWhatANodeHasInColumns) {
  Ledger ledger;
  const NodeRow row = ledger.SetNode(NodeOf(R"({metadata: {name: a}, spec: {unschedulable: true},
      status: {allocatable: {cpu: 1500m, memory: 1Ki, pods: '7', nvidia.com/gpu: '2', odd: '3'}}})"));
  const NodeTable& nodes = ledger.nodes();
  EXPECT_EQ(nodes.allocatable(kCpuId)[row], 1500);
  EXPECT_EQ(nodes.allocatable(kMemoryId)[row], 1024);
  EXPECT_EQ(nodes.allocatable_pods()[row], 7);
  EXPECT_EQ(nodes.allocatable(*ledger.resources().Find("nvidia.com/gpu"))[row], 2);
  EXPECT_FALSE(ledger.resources().Find("odd").has_value()) << "plain names are not accounted for";
  EXPECT_EQ(nodes.unschedulable()[row], 1);
  ledger.SetNode(NodeOf("{metadata: {name: a}, status: {allocatable: {cpu: '1'}}}"));
  EXPECT_EQ(nodes.allocatable(*ledger.resources().Find("nvidia.com/gpu"))[row], 0);
  EXPECT_EQ(nodes.unschedulable()[row], 0);
}

TEST(NodeTableTest, NumbersTheValuesOfALabel) {
  Ledger ledger;
  const NodeRow a = ledger.SetNode(NodeOf("{metadata: {name: a, labels: {zone: x}}}"));
  const NodeRow b = ledger.SetNode(NodeOf("{metadata: {name: b, labels: {zone: y}}}"));
  const LabelColumn& zone = ledger.nodes().Label("zone");
  const NodeRow c = ledger.SetNode(NodeOf("{metadata: {name: c, labels: {zone: x}}}"));
  const NodeRow d = ledger.SetNode(NodeOf("{metadata: {name: d}}"));
  EXPECT_EQ(zone.At(a), zone.At(c));
  EXPECT_NE(zone.At(a), zone.At(b));
  EXPECT_EQ(zone.At(d), kNoValue);
  EXPECT_EQ(zone.ValueOf(zone.At(b)), "y");
  EXPECT_EQ(zone.Find("nowhere"), kNoValue);
  ledger.SetNode(NodeOf("{metadata: {name: a}}"));
  EXPECT_EQ(zone.At(a), kNoValue);
}

TEST(NodeTableTest, SharesSetsOfTaintsWhateverTheirTimes) {
  Ledger ledger;
  const auto tainted = [](std::string_view name, std::string_view when, std::string_view effect) {
    return NodeOf(
        fmt::format("{{metadata: {{name: {}}}, spec: {{taints: [{{key: k, effect: {}, "
                    "timeAdded: '2026-01-01T00:00:0{}Z'}}]}}}}",
                    name, effect, when));
  };
  const NodeRow a = ledger.SetNode(tainted("a", "1", "NoSchedule"));
  const NodeRow b = ledger.SetNode(tainted("b", "2", "NoSchedule"));
  const NodeTable& nodes = ledger.nodes();
  EXPECT_EQ(nodes.taint_sets()[a], nodes.taint_sets()[b]);
  EXPECT_FALSE(nodes.has_preferred_taints());
  ledger.SetNode(tainted("b", "2", "PreferNoSchedule"));
  EXPECT_NE(nodes.taint_sets()[a], nodes.taint_sets()[b]);
  EXPECT_TRUE(nodes.has_preferred_taints());
  ledger.RemoveNode("b");
  EXPECT_FALSE(nodes.has_preferred_taints());
}

TEST(NodeTableTest, TellsWhichRowsHaveChangedSince) {
  Ledger ledger;
  const NodeRow a = ledger.SetNode(NodeOf("{metadata: {name: a}}"));
  const NodeRow b = ledger.SetNode(NodeOf("{metadata: {name: b}}"));
  NodeTable& nodes = ledger.nodes();
  const uint64_t position = nodes.log_end();
  EXPECT_TRUE(nodes.ChangedSince(position)->empty());
  nodes.Touch(b);
  ASSERT_EQ(nodes.ChangedSince(position)->size(), 1U);
  EXPECT_EQ(nodes.ChangedSince(position)->front(), b);
  for (int i = 0; i < 10; ++i) nodes.Touch(a);
  EXPECT_FALSE(nodes.ChangedSince(position).has_value()) << "all rows are quicker looked at";
  for (int i = 0; i < 5000; ++i) nodes.Touch(a);
  EXPECT_FALSE(nodes.ChangedSince(position).has_value()) << "that far back nothing is kept";
  EXPECT_TRUE(nodes.ChangedSince(nodes.log_end())->empty());
}

TEST(NodeTableTest, HeartbeatsChangeNothing) {
  Ledger ledger;
  const auto ready = [](std::string_view when) {
    return NodeOf(
        fmt::format("{{metadata: {{name: a}}, status: {{conditions: [{{type: Ready, "
                    "status: 'True', lastHeartbeatTime: '2026-01-01T00:00:0{}Z'}}]}}}}",
                    when));
  };
  ledger.SetNode(ready("1"));
  NodeChanges changes;
  ledger.SetNode(ready("2"), &changes);
  EXPECT_FALSE(changes.any());
}

}  // namespace
}  // namespace koord::scheduler::node_table_test
