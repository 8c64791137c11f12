#include "manager/noderesource/batch/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/keys.h"
#include "manager/noderesource/common/facts_testing.h"

namespace koord::manager::batch_test {
namespace {

using testing::Optional;

// What is given for one calculation, and its outcome as a user reads it.
struct World {
  kube::Node node = NodeOf("100", "120G");
  api::NodeMetric metric = MetricOf("7", "12G");
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  std::optional<api::NodeResourceTopology> topology;
  ColocationStrategy strategy = Percents(65, 65);

  static ColocationStrategy Percents(int64_t cpu, int64_t memory) {
    ColocationStrategy strategy = DefaultColocationStrategy();
    strategy.cpu_reclaim_threshold_percent = cpu;
    strategy.memory_reclaim_threshold_percent = memory;
    return strategy;
  }

  // The fixture of most vectors.
  static World Fixture() {
    World world;
    world.pods = {
        PodOf("a", {.qos = "LS", .cpu = "20", .memory = "20G"}),
        PodOf("b", {.qos = "BE"}),
        PodOf("c", {.phase = "Pending", .cpu = "10", .memory = "20G", .containers = 2}),
        PodOf("d", {.qos = "BE", .phase = "Succeeded", .cpu = "10", .memory = "10G"}),
    };
    AddUsage(world.metric, "a", "11", "11G");
    AddUsage(world.metric, "b", "10", "10G", "koord-batch");
    AddUsage(world.metric, "c", "22", "22G");
    return world;
  }

  BatchResult Calculate() const {
    const NodePods joined = JoinPods(pods, &metric);
    return CalculateBatch({.node = node,
                           .metric = &metric,
                           .pods = joined,
                           .topology = topology ? &*topology : nullptr,
                           .strategy = strategy,
                           .now = kNow});
  }
  NodePlan Plan(std::optional<double> ratio = {}) const {
    return *PlanBatch(Calculate(), node, ratio);
  }
  std::string Published(std::optional<double> ratio = {}) const {
    return Text(Plan(ratio), "kubernetes.io/batch-cpu") + " " +
           Text(Plan(ratio), "kubernetes.io/batch-memory");
  }
};

TEST(Batch, V1Usage) { EXPECT_EQ(World::Fixture().Published(), "25k 33G"); }

TEST(Batch, V2ReservationByCpuList) {
  World world = World::Fixture();
  Annotate(world.node, api::kAnnotationNodeReservation, R"({"reservedCPUs":"0-19"})");
  EXPECT_EQ(world.Published(), "12k 33G");
  Annotate(world.node, api::kAnnotationNodeReservation, R"({"reservedCPUs":"0-1"})");
  EXPECT_EQ(world.Published(), "25k 33G") << "the system uses more than that";
  for (const char* bad : {"{", R"({"reservedCPUs":"a-b","resources":{"cpu":"50"}})"}) {
    Annotate(world.node, api::kAnnotationNodeReservation, bad);
    EXPECT_EQ(world.Published(), "25k 33G") << bad;
  }
}

TEST(Batch, V3KubeletReservation) {
  World world = World::Fixture();
  world.node.status.allocatable = List("90", "100G");
  Annotate(world.node, api::kAnnotationNodeReservation,
           R"({"resources":{"cpu":"2","memory":"5G"}})");
  EXPECT_EQ(world.Published(), "22k 25G");
}

TEST(Batch, V4MemoryByRequestAndCpuByTheLargerOfBoth) {
  World world = World::Fixture();
  world.strategy = World::Percents(70, 80);
  world.strategy.cpu_calculate_policy = "maxUsageRequest";
  world.strategy.memory_calculate_policy = "request";
  EXPECT_EQ(world.Published(), "21k 36G");
}

TEST(Batch, V5OverCommitmentWithACap) {
  World world = World::Fixture();
  world.strategy = World::Percents(150, 120);
  world.strategy.cpu_calculate_policy = "maxUsageRequest";
  world.strategy.memory_calculate_policy = "request";
  EXPECT_EQ(world.Published(), "101k 84G");
  world.strategy.batch_cpu_threshold_percent = 100;
  EXPECT_EQ(world.Published(), "100k 84G");
  world.strategy.batch_memory_threshold_percent = 50;
  EXPECT_EQ(world.Published(), "100k 60G");
}

TEST(Batch, V6HostApplications) {
  for (const auto& [priority, expected] :
       std::map<std::string, std::string>{{"koord-prod", "25k 33G"},
                                          {"koord-mid", "25k 33G"},
                                          {"koord-batch", "28k 39G"},
                                          {"koord-free", "28k 39G"},
                                          {"", "28k 39G"}}) {
    World world = World::Fixture();
    world.metric.status.node_metric->system_usage.resources = List("4", "6G");
    world.metric.status.host_application_metric.push_back(
        {.name = "h", .usage = {List("3", "6G"), {}}, .priority = priority, .qos = {}});
    EXPECT_EQ(world.Published(), expected) << priority;
  }
}

TEST(Batch, V7MissingAndDanglingMetrics) {
  World world;
  world.metric = MetricOf("5", "10G");
  world.pods = {PodOf("prod", {.qos = "LS", .cpu = "10", .memory = "10G"}),
                PodOf("prod1", {.priority = 9999, .cpu = "10", .memory = "10G"})};
  AddUsage(world.metric, "prod", "5", "5G");
  AddUsage(world.metric, "prod2", "10", "10G");
  EXPECT_EQ(world.Published(), "35k 43G");
  AddUsage(world.metric, "gone batch", "10", "10G", "koord-batch");
  AddUsage(world.metric, "gone free", "10", "10G", "koord-free");
  EXPECT_EQ(world.Published(), "35k 43G") << "what batch pods used is lent already";
}

TEST(Batch, V8SmallNode) {
  World world;
  world.node = NodeOf("4", "8Gi");
  world.node.status.allocatable = List("3800m", "7Gi");
  Annotate(world.node, api::kAnnotationNodeReservation, R"({"resources":{"cpu":"500m"}})");
  world.metric = MetricOf("300m", "700Mi");
  world.strategy = World::Percents(60, 65);
  world.pods = {PodOf("prod", {.priority = 9500, .cpu = "1", .memory = "2Gi"}),
                PodOf("be", {.qos = "BE"})};
  AddUsage(world.metric, "prod", "450m", "900Mi");
  AddUsage(world.metric, "be", "300m", "100Mi", "koord-batch");
  EXPECT_EQ(world.Published(), "1450 3565997261");
}

TEST(Batch, AnExclusivePodUsesAllItsCpus) {
  World world = World::Fixture();
  world.pods = {PodOf("lse", {.qos = "LSE", .priority = 9500, .cpu = "20", .memory = "20G"})};
  world.metric = MetricOf("7", "12G");
  AddUsage(world.metric, "lse", "1", "11G");
  EXPECT_EQ(world.Published(), "38k 55G") << "100-35-7-20, 120-42-12-11";
}

TEST(Batch, AnUnmeasuredPodCountsWithItsRequestAlsoWhereTheLargerCounts) {
  World world;
  world.strategy.cpu_calculate_policy = "maxUsageRequest";
  world.strategy.memory_calculate_policy = "maxUsageRequest";
  world.pods = {PodOf("new", {.priority = 9500, .cpu = "10", .memory = "10G"})};
  EXPECT_EQ(world.Published(), "48k 56G") << "100-35-7-10, 120-42-12-10";
}

TEST(Batch, UnknownPoliciesAreUsage) {
  for (const char* policy : {"request", "whatever", ""}) {
    World world = World::Fixture();
    world.strategy.cpu_calculate_policy = policy;
    EXPECT_EQ(Text(world.Plan(), "kubernetes.io/batch-cpu"), "25k") << policy;
  }
}

TEST(Batch, NeverNegative) {
  World world = World::Fixture();
  world.strategy = World::Percents(10, 0);
  EXPECT_EQ(world.Published(), "0 0");
}

TEST(Batch, StaleMetricsTakeEverythingBack) {
  struct Case {
    const char* name;
    std::function<void(api::NodeMetric&)> spoil;
    bool degraded;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"just young enough", [](auto& m) { m.status.update_time = kNow - 15min; }, false},
           {"too old", [](auto& m) { m.status.update_time = kNow - 15min - 1s; }, true},
           {"never reported", [](auto& m) { m.status.update_time = {}; }, true},
           {"says nothing", [](auto& m) { m.status.node_metric = {}; }, true}}) {
    World world = World::Fixture();
    each.spoil(world.metric);
    EXPECT_EQ(world.Calculate().degraded.has_value(), each.degraded) << each.name;
    EXPECT_EQ(world.Published(), each.degraded ? "gone gone" : "25k 33G") << each.name;
  }
  const World world;
  EXPECT_THAT(
      CalculateBatch({.node = world.node, .pods = {}, .strategy = world.strategy, .now = kNow})
          .degraded,
      Optional(std::string("there is no NodeMetric")));
}

TEST(Batch, EveryTermIsThere) {
  const BatchTerms terms = World::Fixture().Calculate().node;
  EXPECT_EQ(terms.capacity.cpu.ToString(), "100");
  EXPECT_EQ(terms.margin.cpu.ToString(), "35");
  EXPECT_EQ(terms.margin.memory.ToString(), "42G");
  EXPECT_EQ(terms.system.cpu.ToString(), "7");
  EXPECT_EQ(terms.hp_used.cpu.ToString(), "33");
  EXPECT_EQ(terms.hp_request.cpu.ToString(), "40");
  EXPECT_EQ(terms.hp_max.cpu.ToString(), "42");
  EXPECT_EQ(terms.by_request.memory.ToString(), "18G");
}

// ---- NUMA

World Numa() {
  World world;
  world.topology = TopologyOf({{"50", "62G"}, {"50", "58G"}});
  world.pods = {
      PodOf("prod", {.priority = 9500, .resource_status = R"({"numaNodeResources":[{"node":0}]})"}),
      PodOf("prod1", {.priority = 9500}), PodOf("mid", {.priority = 7500})};
  AddUsage(world.metric, "prod", "5", "5G");
  AddUsage(world.metric, "prod1", "6", "6G");
  AddUsage(world.metric, "mid", "22", "22G", "koord-mid");
  return world;
}

std::vector<std::string> ZoneTexts(const std::vector<api::TopologyZone>& zones) {
  std::vector<std::string> texts;
  for (const api::TopologyZone& zone : zones) {
    for (const api::ZoneResource& each : zone.resources) {
      if (!each.name.starts_with("kubernetes.io/")) continue;
      EXPECT_EQ(each.capacity, each.allocatable);
      EXPECT_EQ(each.available, each.allocatable);
      texts.push_back(
          fmt::format("{} {} {}", zone.name, each.name.substr(14), each.allocatable.ToString()));
    }
  }
  return texts;
}

TEST(BatchZones, V9) {
  const World world = Numa();
  const auto zones = PlanZones(world.Calculate(), *world.topology, {}, 0.1);
  ASSERT_TRUE(zones);
  EXPECT_THAT(ZoneTexts(*zones),
              testing::ElementsAre("node-0 batch-cpu 10k", "node-0 batch-memory 15300M",
                                   "node-1 batch-cpu 15k", "node-1 batch-memory 17700M"));
  EXPECT_EQ((*zones)[0].resources[0].name, "cpu") << "sorted by name";
  EXPECT_EQ((*zones)[0].resources[1].name, "kubernetes.io/batch-cpu");
}

TEST(BatchZones, SmallDifferencesAndMissingResultsChangeNothing) {
  World world = Numa();
  const BatchResult result = world.Calculate();
  world.topology->zones = *PlanZones(result, *world.topology, {}, 0.1);
  EXPECT_FALSE(PlanZones(result, *world.topology, {}, 0.1)) << "as it is";
  world.metric.status.pods_metric[0].pod_usage.resources = List("5500m", "5500M");
  EXPECT_FALSE(PlanZones(world.Calculate(), *world.topology, {}, 0.1)) << "half a core of ten";
  world.metric.status.pods_metric[0].pod_usage.resources = List("7", "5G");
  const auto zones = PlanZones(world.Calculate(), *world.topology, {}, 0.1);
  ASSERT_TRUE(zones);
  EXPECT_EQ(ZoneTexts(*zones)[0], "node-0 batch-cpu 8k");
  EXPECT_EQ(
      PlanZones(result, *world.topology, 1.2, 0.1).value()[0].resources[1].allocatable.Value(),
      12000);
  world.metric.status.update_time = {};
  EXPECT_FALSE(PlanZones(world.Calculate(), *world.topology, {}, 0.1)) << "old entries stay";
}

TEST(BatchZones, TopologiesWithoutCpuAndMemoryAreLeftAlone) {
  World world = Numa();
  for (auto& zone : world.topology->zones) zone.resources.clear();
  EXPECT_FALSE(HasZoneResources(*world.topology));
  EXPECT_TRUE(world.Calculate().zones.empty());
  EXPECT_FALSE(PlanZones(world.Calculate(), *world.topology, {}, 0.1));
}

TEST(BatchZones, AnUnreadableAllocationCountsForAllZones) {
  World world = Numa();
  world.pods[0] = PodOf("prod", {.priority = 9500, .resource_status = "{"});
  EXPECT_EQ(world.Calculate().zones[0].hp_used.cpu.ToString(), "16500m");
  world.pods[0] =
      PodOf("prod", {.priority = 9500, .resource_status = R"({"numaNodeResources":[{"node":7}]})"});
  EXPECT_EQ(world.Calculate().zones[0].hp_used.cpu.ToString(), "16500m");
}

// ---- What the node gets

TEST(BatchPlan, V10ThirdParties) {
  BatchResult result;
  result.node.result = {*kube::Quantity::Parse("50"), *kube::Quantity::Parse("120Gi")};
  kube::Node node = NodeOf("100", "200Gi");
  Annotate(node, api::kAnnotationThirdPartyAllocations,
           R"({"allocations":[{"name":"hadoop-yarn","priority":"koord-batch","resources":
               {"kubernetes.io/batch-cpu":"10000","kubernetes.io/batch-memory":"10Gi"}},
               {"name":"other","priority":"koord-mid","resources":
               {"kubernetes.io/batch-cpu":"10000"}}]})");
  NodePlan plan = *PlanBatch(result, node, {});
  EXPECT_EQ(Text(plan, "kubernetes.io/batch-cpu"), "40k");
  EXPECT_EQ(Text(plan, "kubernetes.io/batch-memory"), "110Gi");
  EXPECT_EQ(
      plan.annotations.at("node.koordinator.sh/originExtendedAllocatable"),
      R"({"resources":{"kubernetes.io/batch-cpu":"50k","kubernetes.io/batch-memory":"120Gi"}})");

  Annotate(node, api::kAnnotationThirdPartyAllocations,
           R"({"allocations":[{"name":"y","priority":"koord-batch","resources":
               {"kubernetes.io/batch-cpu":"60000"}}]})");
  EXPECT_EQ(Text(*PlanBatch(result, node, {}), "kubernetes.io/batch-cpu"), "0") << "never negative";

  Annotate(node, api::kAnnotationThirdPartyAllocations, "{");
  EXPECT_FALSE(PlanBatch(result, node, {}).ok()) << "who knows what they hold";
}

TEST(BatchPlan, TheOriginIsNotedBesideOthersAndSetToZeroOnReset) {
  BatchResult result;
  result.node.result = {*kube::Quantity::Parse("1"), *kube::Quantity::Parse("1Gi")};
  kube::Node node = NodeOf("100", "200Gi");
  Annotate(node, api::kAnnotationOriginExtendedAllocatable,
           R"({"resources":{"kubernetes.io/mid-cpu":"7"}})");
  EXPECT_EQ(PlanBatch(result, node, {})->annotations.begin()->second,
            R"({"resources":{"kubernetes.io/batch-cpu":"1k","kubernetes.io/batch-memory":"1Gi",)"
            R"("kubernetes.io/mid-cpu":"7"}})");
  result.degraded = "x";
  EXPECT_EQ(PlanBatch(result, node, {})->annotations.begin()->second,
            R"({"resources":{"kubernetes.io/batch-cpu":"0","kubernetes.io/batch-memory":"0",)"
            R"("kubernetes.io/mid-cpu":"7"}})");
}

TEST(BatchPlan, ThirdPartiesAreToldOfAResetThatComesFirst) {
  BatchResult result;
  result.degraded = "x";
  kube::Node node = NodeOf("100", "200Gi");
  EXPECT_TRUE(PlanBatch(result, node, {})->annotations.empty()) << "nobody asks";
  for (const char* text : {R"({"allocations":[]})", "{"}) {
    Annotate(node, api::kAnnotationThirdPartyAllocations, text);
    const auto plan = PlanBatch(result, node, {});
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->annotations.at("node.koordinator.sh/originExtendedAllocatable"),
              R"({"resources":{"kubernetes.io/batch-cpu":"0","kubernetes.io/batch-memory":"0"}})");
    EXPECT_EQ(plan->resources.at("kubernetes.io/batch-cpu"), std::nullopt);
  }
}

TEST(BatchPlan, V11NormalizedCpus) {
  const auto cpu = [](const char* cores, std::optional<double> ratio) {
    BatchResult result;
    result.node.result = {*kube::Quantity::Parse(cores), kube::Quantity(0)};
    return PlanBatch(result, NodeOf("1", "1"), ratio)
        ->resources.at("kubernetes.io/batch-cpu")
        ->Value();
  };
  EXPECT_EQ(cpu("25", 1.2), 30000);
  EXPECT_EQ(cpu("10001m", 1.15), 11502);
  EXPECT_EQ(cpu("25", 1.0), 25000);
  EXPECT_EQ(cpu("25", std::nullopt), 25000);
}

TEST(Amounts, V11DifferenceThreshold) {
  struct Case {
    int64_t before, after;
    bool different;
  };
  for (const Case& each : std::initializer_list<Case>{{20000, 22000, false},
                                                      {20000, 22001, true},
                                                      {20000, 17999, true},
                                                      {20000, 18000, false},
                                                      {0, 1, true},
                                                      {0, 0, false}}) {
    EXPECT_EQ(IsResourceDifferent(kube::Quantity(each.before), kube::Quantity(each.after), 0.1),
              each.different)
        << each.before << " " << each.after;
  }
}

}  // namespace
}  // namespace koord::manager::batch_test
