#include "manager/noderesource/mid/mid.h"

#include <gtest/gtest.h>

#include "manager/noderesource/common/facts_testing.h"

namespace koord::manager::mid_test {
namespace {

struct World {
  kube::Node node = NodeOf("100", "210G");
  api::NodeMetric metric;
  std::vector<std::shared_ptr<const kube::Pod>> pods = {
      PodOf("prod", {.priority = 9500, .cpu = "20", .memory = "40G"})};
  ColocationStrategy strategy = DefaultColocationStrategy();

  World() {
    node.status.allocatable = List("100", "200G");
    metric.status.update_time = kNow;
    metric.status.node_metric.emplace().node_usage.resources = List("30", "50G");
    metric.status.prod_reclaimable_metric.emplace().resource.resources = List("15", "30G");
    strategy.mid_cpu_threshold_percent = 10;
    strategy.mid_memory_threshold_percent = 20;
    strategy.mid_unallocated_percent = 10;
  }

  MidResult Calculate() const {
    const NodePods joined = JoinPods(pods, &metric);
    return CalculateMid(
        {.node = node, .metric = &metric, .pods = joined, .strategy = strategy, .now = kNow});
  }
  std::string Published() const {
    const NodePlan plan = PlanMid(Calculate());
    const auto bytes = plan.resources.at("kubernetes.io/mid-memory");
    return Text(plan, "kubernetes.io/mid-cpu") + " " +
           (bytes ? std::to_string(bytes->Value()) : "gone");
  }
};

TEST(Mid, V12) {
  const World world;
  EXPECT_EQ(world.Published(), "10k 42000000000");
  const MidTerms terms = world.Calculate().node;
  EXPECT_EQ(terms.unallocated.cpu.ToString(), "80");
  EXPECT_EQ(terms.unallocated.memory.ToString(), "160G");
  EXPECT_EQ((terms.base + terms.of_unallocated).cpu.ToString(), "23");
}

TEST(Mid, V13Static) {
  World world;
  world.strategy.mid_reclaim_mode = "static";
  world.strategy.mid_static_cpu_reserved_percent = 10;
  world.strategy.mid_static_memory_reserved_percent = 10;
  EXPECT_EQ(world.Published(), "10k 21000000000");
  world.strategy.mid_static_cpu_reserved_percent = 50;
  EXPECT_EQ(world.Published(), "10k 21000000000") << "capped by the threshold";
}

TEST(Mid, WhatIsReclaimableIsBoundedByWhatIsUnused) {
  World world;
  world.strategy = DefaultColocationStrategy();
  EXPECT_EQ(world.Published(), "15k 30000000000") << "by default nothing of the unallocated";
  world.metric.status.node_metric->node_usage.resources = List("90", "200G");
  EXPECT_EQ(world.Published(), "10k 10000000000");
  world.metric.status.node_metric->node_usage.resources = List("110", "220G");
  EXPECT_EQ(world.Published(), "0 0") << "never negative";
  world.metric.status.node_metric->node_usage.resources.erase("cpu");
  EXPECT_EQ(world.Published(), "0 0") << "unknown usage leaves nothing";
}

TEST(Mid, WithoutAPredictionNothingIsReclaimable) {
  World world;
  world.metric.status.prod_reclaimable_metric = {};
  EXPECT_FALSE(world.Calculate().degraded);
  EXPECT_EQ(world.Published(), "8k 16000000000") << "a tenth of the unallocated";
}

TEST(Mid, OnlyProductionPodsAndHostApplicationsCount) {
  World world;
  world.strategy = DefaultColocationStrategy();
  world.strategy.mid_unallocated_percent = 100;
  world.metric.status.prod_reclaimable_metric = {};
  world.pods.push_back(PodOf("mid", {.priority = 7500, .cpu = "20", .memory = "40G"}));
  world.pods.push_back(PodOf("be", {.qos = "BE", .cpu = "20", .memory = "40G"}));
  EXPECT_EQ(world.Published(), "80k 160000000000");
  for (const char* priority : {"koord-prod", "koord-mid"}) {
    world.metric.status.host_application_metric.push_back(
        {.name = priority, .usage = {List("5", "20G"), {}}, .priority = priority, .qos = {}});
  }
  EXPECT_EQ(world.Published(), "75k 150000000000");
}

TEST(Mid, StaleMetricsTakeEverythingBack) {
  World world;
  world.metric.status.update_time = kNow - 15min - 1s;
  EXPECT_EQ(world.Published(), "gone gone");
  world.strategy.mid_reclaim_mode = "static";
  EXPECT_EQ(world.Published(), "gone gone");
}

}  // namespace
}  // namespace koord::manager::mid_test
