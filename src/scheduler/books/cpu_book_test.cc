#include "scheduler/books/cpu_book.h"

#include <gtest/gtest.h>

#include "scheduler/books/books.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::cpu_book_test {
namespace {

// Two sockets, each a NUMA node of four cores with two threads: CPUs 0-7 and 8-15.
std::string CpuTopologyText() {
  std::string detail;
  for (int cpu = 0; cpu < 16; ++cpu) {
    detail += fmt::format("{}{{\"id\":{},\"core\":{},\"socket\":{},\"node\":{}}}",
                          cpu == 0 ? "" : ",", cpu, cpu / 2, cpu / 8, cpu / 8);
  }
  return fmt::format("{{\"detail\":[{}]}}", detail);
}

class CpuBookTest : public ::testing::Test {
 protected:
  CpuBookTest() { a_ = bed_.AddNode("{metadata: {name: a}, status: {allocatable: {cpu: '16'}}}"); }

  // `more`: further annotations, as YAML lines.
  void SetTopology(std::string_view more = "", std::string_view cpus = CpuTopologyText()) {
    bed_.objects.node_topologies.Set(FromYaml<api::NodeResourceTopology>(fmt::format(
        R"(
metadata:
  name: a
  annotations:
    node.koordinator.sh/cpu-topology: '{}'
{}
topologyPolicies: [None, SingleNUMANodePodLevel]
zones:
- {{name: node-1, type: Node, resources: [{{name: cpu, allocatable: '8'}}]}}
- {{name: node-0, type: Node, resources: [{{name: cpu, allocatable: '8'}}, {{name: memory, allocatable: 4Gi}}]}}
- {{name: socket-0, type: Socket}}
- {{name: node-x, type: Node}}
)",
        cpus, more)));
  }
  void AddPod(std::string_view name, std::string_view status, std::string_view spec = "{}") {
    bed_.AddPod(fmt::format(
        "{{metadata: {{name: {}, annotations: {{scheduling.koordinator.sh/resource-status: '{}', "
        "scheduling.koordinator.sh/resource-spec: '{}'}}}}, spec: {{nodeName: a}}}}",
        name, status, spec));
  }
  const CpuBook::Row& row() const { return bed_.books.cpus.row(a_); }
  std::string Zones() const {
    std::string text;
    for (const Holdings::Zone& zone : row().topology->zones) {
      text += fmt::format("{}: {} {}; ", zone.numa_node, AmountOf(zone.amounts, kCpuId),
                          AmountOf(zone.amounts, kMemoryId));
    }
    return text;
  }

  PluginBed bed_;
  NodeRow a_;
};

TEST_F(CpuBookTest, ReadsWhatANodeIsMadeOf) {
  EXPECT_EQ(row().topology, nullptr);
  EXPECT_FALSE(row().valid());
  SetTopology();
  EXPECT_TRUE(row().valid());
  EXPECT_EQ(row().topology->cpus->core_count(), 8);
  EXPECT_EQ(row().topology->policy, model::NumaPolicy::kSingleNumaNode);
  EXPECT_EQ(Zones(), "0: 8000 4294967296; 1: 8000 0; ");
  EXPECT_EQ(row().free, (CpuBook::FreeCounts{16, 16, 8}));
}

TEST_F(CpuBookTest, Vector12CpusThatAreKeptBack) {
  const std::string_view others = R"(
    kubelet.koordinator.sh/cpu-manager-policy: '{"policy":"static","reservedCPUs":"0-1"}'
    node.koordinator.sh/system-qos-resource: '{"cpuset":"4-5"}'
    node.koordinator.sh/reservation: '{"reservedCPUs":"6-7"}'
)";
  SetTopology(
      fmt::format("{}    node.koordinator.sh/pod-cpu-allocs: "
                  "'[{{\"uid\":\"u\",\"cpuset\":\"0-3\",\"managedByKubelet\":true}}]'",
                  others));
  EXPECT_EQ(row().topology->reserved.ToString(), "0-7");
  EXPECT_EQ(Zones(), "0: 0 4294967296; 1: 8000 0; ");
  EXPECT_EQ(row().FreeCpus().ToString(), "8-15");
  SetTopology(others);
  EXPECT_EQ(row().topology->reserved.ToString(), "0-1,4-7");
}

TEST_F(CpuBookTest, PartsThatMakeNoSenseCountAsAbsent) {
  SetTopology(R"(
    kubelet.koordinator.sh/cpu-manager-policy: '{'
    node.koordinator.sh/system-qos-resource: '{"cpuset":"4-5","cpusetExclusive":false}'
    node.koordinator.sh/reservation: '{"reservedCPUs":"6-x"}'
    node.koordinator.sh/pod-cpu-allocs: 'null'
)");
  EXPECT_TRUE(row().topology->reserved.empty());
  SetTopology("", "{}");
  EXPECT_FALSE(row().valid());
  EXPECT_EQ(Zones(), "0: 8000 4294967296; 1: 8000 0; ");
}

TEST_F(CpuBookTest, KnowsWhatPodsHold) {
  SetTopology();
  AddPod(
      "p",
      R"({"cpuset":"0-2","numaNodeResources":[{"node":0,"resources":{"cpu":"3","memory":"1Gi"}}]})",
      R"({"preferredCPUExclusivePolicy":"PCPULevel"})");
  AddPod("q", R"({"cpuset":"8"})");
  EXPECT_EQ(row().FreeCpus().ToString(), "3-7,9-15");
  EXPECT_EQ(row().free, (CpuBook::FreeCounts{12, 10, 8 - 1}));
  EXPECT_EQ(row().occupancy.pcpu_exclusive.held().ToString(), "0-2");
  ASSERT_EQ(row().held.size(), 1u);
  EXPECT_EQ(AmountOf(row().held[0].amounts, kCpuId), 3000);
  bed_.ledger.RemovePod("p");
  EXPECT_EQ(row().FreeCpus().ToString(), "0-7,9-15");
  EXPECT_TRUE(row().held.empty());
  EXPECT_TRUE(row().occupancy.pcpu_exclusive.empty());
}

// Decision 4.
TEST_F(CpuBookTest, WhatPodsHoldOutlivesTheTopology) {
  AddPod("p", R"({"cpuset":"0-3"})");
  EXPECT_EQ(row().free, CpuBook::FreeCounts());
  SetTopology();
  EXPECT_EQ(row().FreeCpus().ToString(), "4-15");
  bed_.objects.node_topologies.Remove({"", "a"});
  AddPod("q", R"({"cpuset":"4-5"})");
  EXPECT_EQ(row().FreeCpus().ToString(), "");
  SetTopology();
  EXPECT_EQ(row().FreeCpus().ToString(), "6-15");
  const auto node = bed_.ledger.nodes().shared_node(a_);
  bed_.ledger.RemoveNode("a");
  a_ = bed_.ledger.SetNode(node);
  EXPECT_EQ(row().FreeCpus().ToString(), "6-15") << "the node came back";
}

TEST_F(CpuBookTest, AChangedTopologyTouchesItsRow) {
  const uint64_t before = bed_.ledger.nodes().log_end();
  SetTopology();
  EXPECT_EQ(bed_.ledger.nodes().log_end(), before + 1);
}

TEST_F(CpuBookTest, SaysWhatWouldBeHeldIf) {
  SetTopology();
  AddPod("p", R"({"cpuset":"0-3"})");
  const PodInfo* pod = bed_.ledger.Find("p");
  const std::vector<const PodInfo*> pods{pod};
  EXPECT_EQ(bed_.books.cpus.With(a_, pods, {}).FreeCpus().ToString(), "0-15");
  EXPECT_EQ(bed_.books.cpus.With(a_, {}, pods).occupancy.holders.AtLeast(2).ToString(), "0-3");
  EXPECT_EQ(row().FreeCpus().ToString(), "4-15") << "nothing has happened";
}

TEST_F(CpuBookTest, NodesOfOneKindShareTheirCpus) {
  SetTopology();
  const auto first = row().topology->cpus;
  const NodeRow b = bed_.AddNode("{metadata: {name: b}}");
  api::NodeResourceTopology other = *bed_.objects.node_topologies.Find("a");
  other.metadata.name = "b";
  bed_.objects.node_topologies.Set(std::make_shared<api::NodeResourceTopology>(other));
  EXPECT_EQ(bed_.books.cpus.row(b).topology->cpus, first);
}

}  // namespace
}  // namespace koord::scheduler::cpu_book_test
