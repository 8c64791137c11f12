#include "manager/noderesource/node_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/noderesource/common/facts_testing.h"
#include "manager/noderesource/node_patch.h"

namespace koord::manager::node_decision_test {
namespace {

using kube::Quantity;

SloConfig ConfigOf(const ConfigData& data) { return ParseConfig(data, {}).config; }

struct World {
  kube::Node node = NodeOf("100", "120G");
  api::NodeMetric metric = MetricOf("7", "12G");
  api::Device device;
  SloConfig config = ConfigOf({{"colocation-config", R"({"enable":true})"}});
  NodeResourceOptions options;

  NodeDecision Decide() const {
    return DecideNode({.node = node, .pods = {}, .metric = &metric, .device = &device, .now = kNow},
                      config, options);
  }
  kube::Json Patch(bool due = true) const {
    const NodeDecision decision = Decide();
    return NodePatch(node, decision.plan, DecideSync(node, decision.plan, 0.1, due));
  }
  // As if the patch had been made.
  void Apply() {
    const NodeDecision decision = Decide();
    for (const auto& [name, amount] : decision.plan.resources) {
      if (!amount) continue;
      node.status.allocatable.Mutable()[name] = node.status.capacity.Mutable()[name] = *amount;
    }
    for (const auto& [key, value] : decision.plan.annotations) {
      if (value) node.metadata.annotations[key] = *value;
    }
  }
};

TEST(NodeDecision, PublishesWhatTheNodeCanLend) {
  const World world;
  EXPECT_EQ(kube::Serialize(world.Patch()),
            R"({"metadata":{"annotations":{"node.koordinator.sh/cpu-normalization-ratio":"1.00",)"
            R"("node.koordinator.sh/originExtendedAllocatable":"{\"resources\":{)"
            R"(\"kubernetes.io/batch-cpu\":\"53k\",\"kubernetes.io/batch-memory\":\"66G\"}}"}},)"
            R"("status":{"capacity":{"kubernetes.io/batch-cpu":"53k",)"
            R"("kubernetes.io/batch-memory":"66G","kubernetes.io/mid-cpu":"0",)"
            R"("kubernetes.io/mid-memory":"0"},"allocatable":{"kubernetes.io/batch-cpu":"53k",)"
            R"("kubernetes.io/batch-memory":"66G","kubernetes.io/mid-cpu":"0",)"
            R"("kubernetes.io/mid-memory":"0"}}})");
}

TEST(NodeDecision, WhatIsAsItShouldBeNeedsNoPatch) {
  World world;
  world.Apply();
  EXPECT_EQ(kube::Serialize(world.Patch()), "{}");
}

TEST(NodeDecision, SmallDifferencesWaitUntilTheyAreDue) {
  World world;
  world.Apply();
  world.metric.status.node_metric->system_usage.resources = List("8", "12G");
  EXPECT_EQ(kube::Serialize(world.Patch(false)), "{}");
  EXPECT_NE(kube::Serialize(world.Patch(true)), "{}");
  world.metric.status.node_metric->system_usage.resources = List("13", "12G");
  EXPECT_THAT(kube::Serialize(world.Patch(false)), testing::HasSubstr(R"("47k")"));
}

TEST(NodeDecision, WithoutCoLocationItsResourcesGo) {
  World world;
  world.Apply();
  world.node.status.allocatable.Mutable().emplace("nvidia.com/gpu", Quantity(1));
  world.config = ConfigOf({});
  EXPECT_EQ(kube::Serialize(world.Patch()),
            R"({"metadata":{"annotations":{"node.koordinator.sh/originExtendedAllocatable":)"
            R"("{\"resources\":{\"kubernetes.io/batch-cpu\":\"0\",)"
            R"(\"kubernetes.io/batch-memory\":\"0\"}}"}},)"
            R"("status":{"capacity":{"kubernetes.io/batch-cpu":null,)"
            R"("kubernetes.io/batch-memory":null,"kubernetes.io/mid-cpu":null,)"
            R"("kubernetes.io/mid-memory":null},"allocatable":{"kubernetes.io/batch-cpu":null,)"
            R"("kubernetes.io/batch-memory":null,"kubernetes.io/mid-cpu":null,)"
            R"("kubernetes.io/mid-memory":null}}})");
  const World untouched{.config = ConfigOf({})};
  EXPECT_EQ(kube::Serialize(untouched.Patch()), "{}") << "nothing to take away";
}

TEST(NodeDecision, DevicesArePublishedWithoutCoLocationToo) {
  World world{.config = ConfigOf({})};
  world.device.spec.devices.push_back({.type = "rdma", .health = true});
  EXPECT_EQ(kube::Serialize(world.Patch()),
            R"({"status":{"capacity":{"koordinator.sh/rdma":"100"},)"
            R"("allocatable":{"koordinator.sh/rdma":"100"}}})");
}

TEST(NodeDecision, NormalizationAndAmplificationWorkWhereTheyAreSwitchedOn) {
  World world{.config =
                  ConfigOf({{"resource-amplification-config",
                             R"({"enable":true,"resourceAmplificationRatio":{"cpu":1.5}})"}})};
  EXPECT_EQ(
      kube::Serialize(world.Patch(false)),
      R"({"metadata":{"annotations":{"node.koordinator.sh/resource-amplification-ratio":"{\"cpu\":1.50}"}}})");
  world.config = ConfigOf({});
  world.node.metadata.annotations = {
      {"node.koordinator.sh/resource-amplification-ratio", "{\"cpu\":1.50}"},
      {"node.koordinator.sh/cpu-normalization-ratio", "1.20"}};
  EXPECT_EQ(
      kube::Serialize(world.Patch(false)),
      R"({"metadata":{"annotations":{"node.koordinator.sh/resource-amplification-ratio":null}}})")
      << "the ratio of CPUs stays, the amplification goes";
}

TEST(NodeDecision, WhatWasReportedComesBackWhenAmplificationEnds) {
  World world{.config = ConfigOf({})};
  world.node = NodeOf("15", "8Gi");
  world.node.metadata.annotations = {
      {"node.koordinator.sh/resource-amplification-ratio", "{\"cpu\":1.50}"},
      {"node.koordinator.sh/raw-allocatable", R"({"cpu":"10","memory":"8Gi"})"}};
  const kube::Json patch = world.Patch(false);
  EXPECT_EQ(
      kube::Serialize(patch),
      R"({"metadata":{"annotations":{"node.koordinator.sh/resource-amplification-ratio":null,)"
      R"("node.koordinator.sh/raw-allocatable":null}},"status":{"allocatable":{"cpu":"10"}}})");
  EXPECT_TRUE(IsPatchOfStatus(patch));
  // Somebody has removed the ratio, and nobody has written the status since.
  world.node.metadata.annotations.erase("node.koordinator.sh/resource-amplification-ratio");
  EXPECT_EQ(kube::Serialize(world.Patch(false)),
            R"({"metadata":{"annotations":{"node.koordinator.sh/raw-allocatable":null}},)"
            R"("status":{"allocatable":{"cpu":"10"}}})");
  world.node.metadata.annotations = {{"node.koordinator.sh/raw-allocatable", "x"}};
  EXPECT_EQ(kube::Serialize(world.Patch(false)), "{}");
}

TEST(NodeDecision, ARatioIsWrittenWithTheStatusThatItAmplifies) {
  World world{.config = ConfigOf({{"resource-amplification-config",
                                   R"({"enable":true,"resourceAmplificationRatio":{"cpu":2}})"}})};
  world.node.metadata.annotations = {
      {"node.koordinator.sh/resource-amplification-ratio", "{\"cpu\":1.50}"}};
  EXPECT_TRUE(IsPatchOfStatus(world.Patch(false)));
  EXPECT_FALSE(IsPatchOfStatus(*kube::ParseJson(R"({"metadata":{"labels":{"a":"b"}}})")));
}

TEST(NodeDecision, PluginsThatAreSwitchedOffTouchNothing) {
  World world;
  world.options = {.mid = false,
                   .batch = false,
                   .cpu_normalization = false,
                   .amplification = false,
                   .gpu = false,
                   .rdma = false};
  EXPECT_TRUE(world.Decide().plan.resources.empty());
  EXPECT_TRUE(world.Decide().plan.annotations.empty());
}

TEST(NodeDecision, AFailureOfOneLeavesTheOthers) {
  World world;
  world.node.metadata.annotations = {{"node.koordinator.sh/thirdPartyAllocations", "{"}};
  const NodeDecision decision = world.Decide();
  ASSERT_EQ(decision.failures.size(), 1u);
  EXPECT_EQ(decision.failures[0].plugin, kBatchResource);
  EXPECT_EQ(Text(decision.plan, "kubernetes.io/batch-cpu"), "-") << "who knows what is held of it";
  EXPECT_EQ(Text(decision.plan, "kubernetes.io/mid-cpu"), "0");
}

TEST(NodeDecision, ANodeThatReportsNoResourcesIsLeftAlone) {
  World world;
  world.node.status.allocatable.clear();
  EXPECT_EQ(kube::Serialize(world.Patch()), "{}");
}

// V11
TEST(NodeDecision, WhatIsThereOnOneSideOnlyDiffers) {
  const auto status_sync = [](std::optional<int64_t> before, std::optional<int64_t> after) {
    kube::Node node = NodeOf("1", "1");
    if (before) node.status.allocatable.Mutable().emplace("r", Quantity(*before));
    NodePlan plan;
    plan.resources.emplace("r", after ? std::optional(Quantity(*after)) : std::nullopt);
    return DecideSync(node, plan, 0.1, false).status;
  };
  EXPECT_TRUE(status_sync({}, 0));
  EXPECT_TRUE(status_sync(0, {}));
  EXPECT_FALSE(status_sync({}, {}));
  EXPECT_FALSE(status_sync(0, 0));
  EXPECT_TRUE(status_sync(0, 1));
  EXPECT_FALSE(status_sync(20000, 22000));
  EXPECT_TRUE(status_sync(20000, 22001));
  EXPECT_TRUE(status_sync(20000, 17999));
}

}  // namespace
}  // namespace koord::manager::node_decision_test
