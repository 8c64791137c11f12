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
  EXPECT_FALSE(ledger.resources().Find("nvidia.com/gpu").has_value()) << "nobody has it any more";
  EXPECT_EQ(nodes.unschedulable()[row], 0);
}

TEST(NodeTableTest, NumbersTheValuesOfALabel) {
  Ledger ledger;
  const NodeRow a = ledger.SetNode(NodeOf("{metadata: {name: a, labels: {zone: x}}}"));
  const NodeRow b = ledger.SetNode(NodeOf("{metadata: {name: b, labels: {zone: y}}}"));
  const LabelPtr held = ledger.nodes().Label("zone");
  const LabelColumn& zone = *held;
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

TEST(NodeTableTest, WhatNoNodeOffersHasNoColumn) {
  Ledger ledger;
  const auto pod_with = [](int names) {
    std::string requests;
    for (int i = 0; i < names; ++i) requests += fmt::format("example.com/r{}: '2', ", i);
    return PodOf(
        fmt::format("{{metadata: {{name: p}}, spec: {{nodeName: a, containers: "
                    "[{{resources: {{requests: {{{}}}}}}}]}}}}",
                    requests));
  };
  const NodeRow row = ledger.SetNode(NodeOf("{metadata: {name: a}}"));
  const NodeTable& nodes = ledger.nodes();
  const size_t columns = nodes.resource_columns();
  ledger.SetPod(pod_with(1000));
  EXPECT_EQ(nodes.resource_columns(), columns);
  const ResourceId id = *ledger.resources().Find("example.com/r7");
  EXPECT_FALSE(nodes.IsOffered(id));
  EXPECT_EQ(nodes.allocatable(id)[row], 0);

  const uint64_t version = nodes.offered_version();
  ledger.SetNode(NodeOf("{metadata: {name: b}, status: {allocatable: {example.com/r7: '5'}}}"));
  EXPECT_EQ(nodes.resource_columns(), columns + 1);
  EXPECT_NE(nodes.offered_version(), version);
  EXPECT_EQ(nodes.requested(id)[row], 2) << "what pods had asked for before";

  ledger.RemoveNode("b");
  EXPECT_EQ(nodes.resource_columns(), columns);
  ledger.RemovePod("p");
  EXPECT_EQ(ledger.resources().used(), Ledger().resources().used());
}

// A node that somebody has taken may say what he likes.
TEST(NodeTableTest, OneNodeDoesNotMakeThousandsOfColumns) {
  Ledger ledger;
  const size_t columns = ledger.nodes().resource_columns();
  std::string offered;
  for (int i = 0; i < 5000; ++i) offered += fmt::format("a.example/r{}: '2', ", i);
  const NodeRow row = ledger.SetNode(NodeOf(fmt::format(
      "{{metadata: {{name: a}}, status: {{allocatable: {{{}cpu: '4', memory: 8Gi}}}}}}", offered)));
  const NodeTable& nodes = ledger.nodes();
  EXPECT_LE(nodes.resource_columns(), columns + 256);
  EXPECT_EQ(nodes.allocatable(kCpuId)[row], 4000);
  EXPECT_EQ(nodes.allocatable(kMemoryId)[row], int64_t{8} << 30);
  EXPECT_EQ(nodes.allocatable(*ledger.resources().Find("a.example/r0"))[row], 2);
  ledger.RemoveNode("a");
  EXPECT_EQ(nodes.resource_columns(), columns);
}

TEST(NodeTableTest, NumbersOfValuesThatNoNodeHasAreUsedAgain) {
  Ledger ledger;
  const LabelPtr host = ledger.nodes().Label("host");
  const auto with = [](int i) {
    return NodeOf(fmt::format("{{metadata: {{name: n{}, labels: {{host: h{}}}}}}}", i, i));
  };
  ledger.SetNode(with(0));
  uint64_t version = host->version();
  for (int i = 1; i < 1000; ++i) {
    const NodeRow row = ledger.SetNode(with(i));
    EXPECT_EQ(host->ValueOf(host->At(row)), fmt::format("h{}", i));
    EXPECT_GT(host->version(), version) << "whoever keeps results by id must look again";
    version = host->version();
    ledger.RemoveNode(fmt::format("n{}", i - 1));
    EXPECT_EQ(host->Find(fmt::format("h{}", i - 1)), kNoValue);
  }
  EXPECT_LE(host->values(), 3U);
}

TEST(NodeTableTest, ColumnsOfLabelsThatNobodyKeepsAreDropped) {
  Ledger ledger;
  const NodeRow row = ledger.SetNode(NodeOf("{metadata: {name: a, labels: {kept: x}}}"));
  const LabelPtr kept = ledger.nodes().Label("kept");
  for (int i = 0; i < 10'000; ++i) ledger.nodes().Label(fmt::format("made-up-{}", i));
  EXPECT_LE(ledger.nodes().label_columns(), 100U);
  EXPECT_EQ(ledger.nodes().Label("kept"), kept);
  ledger.SetNode(NodeOf("{metadata: {name: a, labels: {kept: z}}}"));
  EXPECT_EQ(kept->ValueOf(kept->At(row)), "z");
}

TEST(NodeTableTest, SetsOfTaintsThatNoNodeHasGiveTheirNumbersToOthers) {
  Ledger ledger;
  for (int i = 0; i < 1000; ++i) {
    const NodeRow row = ledger.SetNode(NodeOf(fmt::format(
        "{{metadata: {{name: a}}, spec: {{taints: [{{key: k, value: v{}, effect: NoSchedule}}]}}}}",
        i)));
    const TaintSetId set = ledger.nodes().taint_sets()[row];
    EXPECT_EQ(ledger.nodes().taints(set).front().value, fmt::format("v{}", i));
  }
  EXPECT_LE(ledger.nodes().taint_set_count(), 4U);
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
