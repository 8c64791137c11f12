#include "scheduler/plugins/node_numa_resource/node_numa_resource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/keys.h"
#include "model/cpu/cpu_topology_testing.h"
#include "scheduler/config/plugin_args.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::node_numa_resource_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NodeNumaResourceArgs MostAllocated() {
  const ScoringStrategy strategy{std::string(kMostAllocated), DefaultResourceWeights(), {}};
  return {.default_cpu_bind_policy = {},
          .scoring_strategy = strategy,
          .numa_scoring_strategy = strategy};
}

// An attempt to place a pod, as far as this plugin has a part in it.
struct Placed {
  Verdict verdict;
  std::string status;  // annotations
  std::string spec;
};

class NodeNumaResourceTest : public ::testing::Test {
 protected:
  // Before there are nodes; otherwise with the defaults.
  void Make(NodeNumaResourceArgs args) {
    plugin_ = std::make_unique<NodeNumaResource>(bed_.context, std::move(args));
    plugin_->set_slot(0);
  }

  void AddNode(std::string_view name, int cpu, std::string_view metadata = "",
               std::string_view memory = "512Gi") {
    if (plugin_ == nullptr) Make(DefaultArgs<NodeNumaResourceArgs>());
    bed_.AddNode(fmt::format(
        "{{metadata: {{name: {}{}}}, status: {{allocatable: {{cpu: '{}', memory: {}}}}}}}", name,
        metadata, cpu, memory));
  }
  // Zones have all of their CPUs, and this much memory.
  void SetTopology(std::string_view node, const model::CpuTopology& cpus,
                   std::string_view zone_memory = "128Gi", kube::Annotations annotations = {},
                   double ratio = 1) {
    api::NodeResourceTopology object;
    object.metadata.name = std::string(node);
    object.metadata.annotations = std::move(annotations);
    object.metadata.annotations[std::string(api::kAnnotationCpuTopology)] =
        api::EncodeCpuTopology(cpus.ToAnnotation());
    for (const auto& unit : cpus.nodes()) {
      api::TopologyZone& zone = object.zones.emplace_back();
      zone.name = fmt::format("node-{}", unit.id);
      zone.type = "Node";
      const auto add = [&](std::string_view name, kube::Quantity amount) {
        zone.resources.push_back({std::string(name), amount, amount, amount});
      };
      add("cpu", kube::Quantity::FromMilli(
                     Amplified(1000 * static_cast<int64_t>(unit.cpus.size()), ratio)));
      add("memory", kube::Quantity::Parse(zone_memory).value());
    }
    bed_.objects.node_topologies.Set(std::make_shared<api::NodeResourceTopology>(object));
  }
  // A pod on a node that holds this.
  void AddHolder(std::string_view name, std::string_view node, std::string_view status,
                 std::string_view cpu = "0", std::string_view memory = "0") {
    bed_.AddPod(fmt::format(
        "{{metadata: {{name: {}, annotations: {{scheduling.koordinator.sh/resource-status: "
        "'{}'}}}}, spec: {{nodeName: {}, containers: [{{resources: {{requests: {{cpu: {}, memory: "
        "{}}}}}}}]}}}}",
        name, status, node, cpu, memory));
  }
  static std::string Pod(std::string_view qos, std::string_view cpu, std::string_view spec = "",
                         std::string_view numa = "", std::string_view memory = "0",
                         int priority = 9999) {
    std::string annotations;
    if (!spec.empty()) {
      annotations += fmt::format("scheduling.koordinator.sh/resource-spec: '{}', ", spec);
    }
    if (!numa.empty()) {
      annotations += fmt::format("scheduling.koordinator.sh/numa-topology-spec: '{}'", numa);
    }
    return fmt::format(
        "{{metadata: {{name: p, labels: {{koordinator.sh/qosClass: {}}}, annotations: {{{}}}}}, "
        "spec: {{priority: {}, containers: [{{resources: {{requests: {{cpu: {}, memory: "
        "{}}}}}}}]}}}}",
        qos, annotations, priority, cpu, memory);
  }
  std::string Check(std::string_view pod, std::string_view node = "a") {
    const auto query = bed_.Query(*plugin_, pod);
    if (!bed_.pre_filter.verdict.ok()) {
      return fmt::format("{}: {}", ToString(bed_.pre_filter.verdict.code),
                         bed_.pre_filter.verdict.Message());
    }
    return bed_.Check(*plugin_, *query, node);
  }
  Placed Place(std::string_view yaml, std::string_view node = "a", bool charge = false,
               std::string_view uid = "p") {
    kube::Pod pod = *PodOf(yaml);
    pod.metadata.name = pod.metadata.uid = std::string(uid);
    Attempt attempt;
    attempt.pod = std::make_shared<const kube::Pod>(pod);
    attempt.shape = bed_.ledger.shapes().Of(attempt.pod);
    attempt.row = *bed_.ledger.nodes().Find(node);
    Placed placed{plugin_->Reserve(attempt), "", ""};
    if (!placed.verdict.ok()) return placed;
    plugin_->PreBind(attempt, [](const Verdict& verdict) { EXPECT_TRUE(verdict.ok()); });
    placed.status = kube::ValueOf(attempt.annotations, api::kAnnotationResourceStatus);
    placed.spec = kube::ValueOf(attempt.annotations, api::kAnnotationResourceSpec);
    if (charge) {
      EXPECT_TRUE(
          bed_.ledger.Assume(attempt.pod, attempt.shape, attempt.row, std::move(attempt.held))
              .ok());
    }
    return placed;
  }
  std::vector<int64_t> Scores(std::string_view pod) {
    const auto query = bed_.Query(*plugin_, pod);
    return bed_.RawScores(*plugin_, *query);
  }

  PluginBed bed_;
  std::unique_ptr<NodeNumaResource> plugin_;
};

constexpr std::string_view kRequireFull = R"({"requiredCPUBindPolicy":"FullPCPUs"})";
constexpr std::string_view kRequireSpread = R"({"requiredCPUBindPolicy":"SpreadByPCPUs"})";
constexpr std::string_view kSingle = R"({"numaTopologyPolicy":"SingleNUMANode"})";
constexpr std::string_view kSingleOrShared =
    R"({"numaTopologyPolicy":"SingleNUMANode","singleNUMANodeExclusive":"Preferred"})";
constexpr std::string_view kRestricted = R"({"numaTopologyPolicy":"Restricted"})";

// ---- Who binds

TEST_F(NodeNumaResourceTest, Vector8RequiredFullCoresMustBeWhole) {
  AddNode("a", 32);
  SetTopology("a", model::Machine(2, 1, 8, 2));
  EXPECT_EQ(Check(Pod("LSR", "5", R"({"preferredCPUBindPolicy":"FullPCPUs"})")), "");
  EXPECT_EQ(Place(Pod("LSR", "5")).status, R"({"cpuset":"0-4"})");
  EXPECT_EQ(Check(Pod("LSR", "5", kRequireFull)),
            "UnschedulableAndUnresolvable: node(s) requested cpus not multiple cpus per core");
}

TEST_F(NodeNumaResourceTest, Vector11WhoBinds) {
  AddNode("a", 32);
  AddNode("full", 32, ", labels: {node.koordinator.sh/cpu-bind-policy: FullPCPUsOnly}");
  SetTopology("a", model::Machine(2, 1, 8, 2));
  SetTopology("full", model::Machine(2, 1, 8, 2));
  const Placed bound = Place(Pod("LSR", "4"));
  EXPECT_EQ(bound.status, R"({"cpuset":"0-3"})");
  EXPECT_EQ(bound.spec, R"({"preferredCPUBindPolicy":"FullPCPUs"})");
  EXPECT_EQ(Check(Pod("LSR", "4500m", R"({"preferredCPUBindPolicy":"FullPCPUs"})")),
            "UnschedulableAndUnresolvable: the requested CPUs must be integer");
  EXPECT_EQ(Place(Pod("LSE", "4500m", R"({"preferredCPUBindPolicy":"test"})")).status, "");
  EXPECT_EQ(
      Place(Pod("BE", "4", R"({"preferredCPUBindPolicy":"FullPCPUs"})", "", "0", 5000)).status, "");
  EXPECT_EQ(Check(Pod("LS", "5200m"), "full"),
            "UnschedulableAndUnresolvable: the requested CPUs must be integer");
  EXPECT_EQ(Check(Pod("LS", "5200m"), "a"), "");
  EXPECT_EQ(Place(Pod("LS", "4"), "full").status, R"({"cpuset":"0-3"})");
  EXPECT_EQ(Place(Pod("LS", "4"), "a").status, "");
}

TEST_F(NodeNumaResourceTest, PodsThatDoNotBindAreSkippedWhereNoNodeDemandsAnything) {
  AddNode("a", 32);
  bed_.Query(*plugin_, Pod("LS", "4"));
  EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kSkip);
  const uint64_t before = plugin_->version();
  AddNode("b", 32, ", labels: {node.koordinator.sh/numa-topology-policy: SingleNUMANode}");
  EXPECT_NE(plugin_->version(), before);
  bed_.Query(*plugin_, Pod("LS", "4"));
  EXPECT_EQ(bed_.pre_filter.verdict.code, Code::kSuccess);
  bed_.ledger.RemoveNode("b");
  EXPECT_EQ(plugin_->version(), before);
}

TEST_F(NodeNumaResourceTest, AnAnnotationThatMakesNoSenseIsAnError) {
  AddNode("a", 32);
  EXPECT_THAT(Check(Pod("LSR", "4", "{")), HasSubstr("Error: "));
  EXPECT_THAT(Check(Pod("LSR", "4", "", "{")), HasSubstr("Error: "));
}

TEST_F(NodeNumaResourceTest, WithoutTopologyNothingIsBound) {
  AddNode("a", 32);
  EXPECT_EQ(Check(Pod("LSR", "4")), "UnschedulableAndUnresolvable: node(s) invalid CPU Topology");
  EXPECT_EQ(Check(Pod("LS", "4")), "Skip: ");
}

// Decision 5.
TEST_F(NodeNumaResourceTest, CpusThatAreNotFreeAreMissedByFilters) {
  AddNode("a", 32);
  SetTopology("a", model::Machine(1, 1, 4, 2));
  AddHolder("h", "a", R"({"cpuset":"0,2,4-6"})");
  EXPECT_EQ(Check(Pod("LSR", "3")), "");
  constexpr std::string_view kTooFew =
      "Unschedulable: not enough cpus available to satisfy request";
  EXPECT_EQ(Check(Pod("LSR", "4")), kTooFew);
  EXPECT_EQ(Check(Pod("LSR", "2", kRequireFull)), kTooFew) << "no core is whole";
  EXPECT_EQ(Check(Pod("LSR", "3", kRequireSpread)), "");
  EXPECT_EQ(Place(Pod("LSR", "3", kRequireSpread)).status, R"({"cpuset":"1,3,7"})");
}

TEST_F(NodeNumaResourceTest, WhatVictimsHoldWouldBeFree) {
  AddNode("a", 32);
  SetTopology("a", model::Machine(1, 1, 4, 2));
  AddHolder("h", "a", R"({"cpuset":"0-7"})");
  const auto query = bed_.Query(*plugin_, Pod("LSR", "4"));
  RowDelta delta;
  delta.removed.push_back(bed_.ledger.Find("h"));
  EXPECT_EQ(bed_.Check(*plugin_, *query, "a", &delta), "");
}

TEST_F(NodeNumaResourceTest, ThePodAndItsNodeMustAgree) {
  AddNode("a", 32,
          ", labels: {node.koordinator.sh/cpu-bind-policy: SpreadByPCPUs, "
          "node.koordinator.sh/numa-topology-policy: SingleNUMANode}");
  SetTopology("a", model::Machine(2, 1, 8, 2));
  EXPECT_EQ(Check(Pod("LSR", "4", kRequireFull)),
            "UnschedulableAndUnresolvable: node(s) cpu bind policy conflicts with pod's required "
            "cpu bind policy");
  EXPECT_EQ(Check(Pod("LS", "4", "", kRestricted)),
            "UnschedulableAndUnresolvable: node(s) NUMA Topology policy not match");
}

TEST_F(NodeNumaResourceTest, NoCpuIsGivenTwice) {
  AddNode("a", 32);
  SetTopology("a", model::Machine(2, 1, 4, 2));
  CpuSet all;
  for (int i = 0; i < 4; ++i) {
    const Placed placed = Place(Pod("LSR", "4"), "a", true, fmt::format("p{}", i));
    ASSERT_TRUE(placed.verdict.ok());
    const CpuSet& cpus = bed_.ledger.Find(fmt::format("p{}", i))->held->cpus;
    EXPECT_EQ(cpus.size(), 4u);
    EXPECT_TRUE((all & cpus).empty());
    all |= cpus;
  }
  EXPECT_EQ(Check(Pod("LSR", "4")), "Unschedulable: not enough cpus available to satisfy request");
  EXPECT_FALSE(Place(Pod("LSR", "4")).verdict.ok());
  bed_.ledger.Forget("p1");
  EXPECT_EQ(Check(Pod("LSR", "4")), "");
}

// ---- NUMA nodes

TEST_F(NodeNumaResourceTest, Vector9SplitOverTwoNumaNodes) {
  AddNode("a", 104);
  SetTopology("a", model::Machine(2, 1, 26, 2));
  AddHolder("h", "a",
            R"({"cpuset":"0-43,53-96","numaNodeResources":[{"node":0,"resources":{"cpu":"48"}},)"
            R"({"node":1,"resources":{"cpu":"48"}}]})");
  EXPECT_EQ(Check(Pod("LSR", "8", kRequireFull, kRestricted)), "");
  EXPECT_EQ(Place(Pod("LSR", "8", kRequireFull, kRestricted)).status,
            R"({"cpuset":"44-47,98-101","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}},)"
            R"({"node":1,"resources":{"cpu":"4"}}]})");
}

TEST_F(NodeNumaResourceTest, Vector10UnevenSplit) {
  AddNode("a", 104);
  SetTopology("a", model::Machine(2, 1, 26, 2));
  AddHolder("h", "a",
            R"({"cpuset":"1,3,5,7-101,103","numaNodeResources":[{"node":0,"resources":)"
            R"({"cpu":"48"}},{"node":1,"resources":{"cpu":"50"}}]})");
  EXPECT_EQ(Place(Pod("LSR", "4", kRequireSpread, kRestricted)).status,
            R"({"cpuset":"0,2,4,102","numaNodeResources":[{"node":0,"resources":{"cpu":"3"}},)"
            R"({"node":1,"resources":{"cpu":"1"}}]})");
}

TEST_F(NodeNumaResourceTest, Vector16WhereHintsComeFrom) {
  AddNode("a", 104);
  SetTopology("a", model::Machine(2, 1, 26, 2));
  const auto holder = [&](std::string_view cpus, int first, int second) {
    AddHolder("h", "a",
              fmt::format(R"({{"cpuset":"{}","numaNodeResources":[{{"node":0,"resources":)"
                          R"({{"cpu":"{}"}}}},{{"node":1,"resources":{{"cpu":"{}"}}}}]}})",
                          cpus, first, second));
  };
  EXPECT_EQ(Place(Pod("LSR", "4", kRequireFull, kSingle)).status,
            R"({"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}}]})");
  holder("4-103", 48, 52);
  EXPECT_EQ(Place(Pod("LSR", "4", kRequireFull, kSingleOrShared)).status,
            R"({"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}}]})");
  holder("1,3,5,7-103", 48, 52);
  EXPECT_EQ(Check(Pod("LSR", "4", kRequireFull, kRestricted)),
            "Unschedulable: Unsatisfied NUMA cpu");
}

TEST_F(NodeNumaResourceTest, OneNumaNodeHasAllOrTheNodeIsRejected) {
  AddNode("a", 16, ", labels: {node.koordinator.sh/numa-topology-policy: SingleNUMANode}");
  SetTopology("a", model::Machine(2, 1, 4, 2), "16Gi");
  EXPECT_EQ(Check(Pod("LS", "8", "", "", "16Gi")), "");
  EXPECT_EQ(Check(Pod("LS", "9")),
            "Unschedulable: Unaligned NUMA Hint cause cpu prefer [11] among "
            "[11]");
  EXPECT_EQ(Check(Pod("LS", "1", "", "", "33Gi")),
            "Unschedulable: Unsatisfied NUMA cpu, Unsatisfied NUMA memory");
  EXPECT_TRUE(Place(Pod("LS", "6", "", "", "4Gi"), "a", true, "x").verdict.ok());
  EXPECT_EQ(Place(Pod("LS", "3", "", "", "4Gi")).status,
            R"({"numaNodeResources":[{"node":1,"resources":{"cpu":"3","memory":"4Gi"}}]})");
}

TEST_F(NodeNumaResourceTest, BestEffortSpansNodesWhereItMust) {
  AddNode("a", 16, ", labels: {node.koordinator.sh/numa-topology-policy: BestEffort}");
  AddNode("bare", 16, ", labels: {node.koordinator.sh/numa-topology-policy: BestEffort}");
  SetTopology("a", model::Machine(2, 1, 4, 2));
  EXPECT_EQ(Place(Pod("LSR", "8")).status,
            R"({"cpuset":"0-7","numaNodeResources":[{"node":0,"resources":{"cpu":"8"}}]})");
  EXPECT_EQ(Place(Pod("LSR", "10")).status,
            R"({"cpuset":"0-4,8-12","numaNodeResources":[{"node":0,"resources":{"cpu":"5"}},)"
            R"({"node":1,"resources":{"cpu":"5"}}]})");
  EXPECT_EQ(Check(Pod("LS", "4"), "bare"), "") << "nothing is known to align";
}

TEST_F(NodeNumaResourceTest, WithoutZonesStrictPoliciesCannotBeKept) {
  AddNode("a", 16);
  EXPECT_EQ(Check(Pod("LS", "4", "", kSingle)),
            "UnschedulableAndUnresolvable: node(s) missing NUMA resources");
}

TEST_F(NodeNumaResourceTest, Vector18NumaNodesOfOnesOwn) {
  AddNode("a", 16);
  SetTopology("a", model::Machine(2, 1, 4, 2));
  AddHolder("spans", "a", R"({"cpuset":"0,8"})");
  EXPECT_THAT(Check(Pod("LS", "2", "", kSingle)), HasSubstr("Unaligned NUMA Hint cause"));
  EXPECT_EQ(Check(Pod("LS", "2", "", kSingleOrShared)), "");
}

// ---- Amplification

TEST_F(NodeNumaResourceTest, Vector13AmplifiedCpu) {
  constexpr std::string_view kDouble =
      ", annotations: {node.koordinator.sh/resource-amplification-ratio: '{\"cpu\":2.00}'}";
  for (const std::string_view name : {"a", "b"}) {
    AddNode(name, 64, kDouble);
    SetTopology(name, model::Machine(1, 1, 16, 2));
  }
  AddHolder("shared", "a", "{}", "32");
  EXPECT_EQ(Check(Pod("LS", "32"), "a"), "");
  EXPECT_EQ(Check(Pod("LSR", "32"), "a"), "Unschedulable: Insufficient amplified cpu");
  AddHolder("bound", "b", R"({"cpuset":"0-31"})", "32");
  EXPECT_EQ(Check(Pod("LS", "32"), "b"), "Unschedulable: Insufficient amplified cpu");
}

TEST_F(NodeNumaResourceTest, ARatioThatMakesNoSenseKeepsPodsAway) {
  AddNode("a", 64, ", annotations: {node.koordinator.sh/resource-amplification-ratio: '{'}");
  EXPECT_EQ(Check(Pod("LS", "1")),
            "UnschedulableAndUnresolvable: node(s) invalid CPU amplification ratio");
}

TEST_F(NodeNumaResourceTest, Vector14AmplifiedNumaNodes) {
  AddNode("a", 48);
  SetTopology("a", model::Machine(2, 1, 8, 2), "64Gi",
              {{std::string(api::kAnnotationResourceAmplificationRatio), R"({"cpu":1.50})"}}, 1.5);
  AddHolder("h", "a",
            R"({"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"8"}}]})");
  AddHolder("other", "a", R"({"numaNodeResources":[{"node":1,"resources":{"cpu":"20"}}]})");
  // 24 less 8-4+6 leaves 14 on the first.
  EXPECT_EQ(Check(Pod("LS", "14", "", kSingleOrShared)), "");
  EXPECT_THAT(Check(Pod("LS", "15", "", kSingleOrShared)), HasSubstr("Unaligned NUMA Hint"));
}

// ---- Scores

TEST_F(NodeNumaResourceTest, Vector15ScoresOfNumaNodes) {
  Make(MostAllocated());
  constexpr std::string_view kLabel =
      ", labels: {node.koordinator.sh/numa-topology-policy: SingleNUMANode}";
  AddNode("a", 104, kLabel, "256Gi");
  AddNode("b", 64, kLabel, "128Gi");
  SetTopology("a", model::Machine(2, 1, 26, 2));
  SetTopology("b", model::Machine(1, 1, 32, 2));
  EXPECT_THAT(Scores(Pod("LS", "21", "", "", "40Gi")), ElementsAre(35, 31));
}

TEST_F(NodeNumaResourceTest, Vector15ScoresOfAmplifiedNodes) {
  Make(MostAllocated());
  AddNode("a", 128,
          ", annotations: {node.koordinator.sh/resource-amplification-ratio: '{\"cpu\":2.00}'}",
          "60Gi");
  SetTopology("a", model::Machine(1, 1, 32, 2));
  AddHolder("bound", "a", R"({"cpuset":"0-19"})", "20", "4Gi");
  EXPECT_THAT(Scores(Pod("LS", "8", "", "", "16Gi")), ElementsAre(35));
}

TEST_F(NodeNumaResourceTest, WithoutPolicyTheWholeNodeIsScored) {
  AddNode("a", 10, "", "10Gi");
  AddNode("b", 20, "", "10Gi");
  EXPECT_THAT(Scores(Pod("LS", "5", "", "", "5Gi")), ElementsAre(50, (75 + 50) / 2));
}

// ---- For people

TEST_F(NodeNumaResourceTest, TellsWhatANodeHas) {
  AddNode("a", 16);
  EXPECT_EQ(plugin_->Describe("a").status().message(),
            "invalid topology, please check the NodeResourceTopology object");
  EXPECT_TRUE(absl::IsNotFound(plugin_->Describe("nobody").status()));
  SetTopology("a", model::Machine(1, 1, 4, 2));
  AddHolder("h", "a", R"({"cpuset":"0-1"})");
  const auto json = plugin_->Describe("a");
  ASSERT_TRUE(json.ok());
  const auto& object = json->as_object();
  EXPECT_EQ(object.at("availableCPUs").as_string(), "2-7");
  EXPECT_EQ(object.at("allocatedCPUs").as_string(), "0-1");
  EXPECT_EQ(object.at("allocatedPods").as_array().size(), 1u);
}

TEST_F(NodeNumaResourceTest, WakesPodsWhenCpusOrTopologiesChange) {
  AddNode("a", 16);
  EXPECT_THAT(WantedEvents(*plugin_).size(), 4u);
}

}  // namespace
}  // namespace koord::scheduler::node_numa_resource_test
