#include "localcluster/controllers/nodelifecycle/node_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "localcluster/controllers/nodelifecycle/taint_eviction.h"
#include "localcluster/shared/test_objects.h"

namespace koord::localcluster::node_health_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

kube::NodeCondition Condition(std::string type, std::string status) {
  kube::NodeCondition condition;
  condition.type = std::move(type);
  condition.status = std::move(status);
  return condition;
}

kube::Node NodeWith(std::vector<kube::NodeCondition> conditions) {
  kube::Node node;
  node.metadata.name = "n";
  node.status.conditions = std::move(conditions);
  return node;
}

std::vector<std::string> Text(const std::vector<kube::Taint>& taints) {
  std::vector<std::string> text;
  for (const kube::Taint& taint : taints) {
    std::string key = taint.key;
    if (key.starts_with("node.kubernetes.io/")) key = key.substr(19);
    text.push_back(key + ":" + taint.effect);
  }
  return text;
}

TEST(NodeHealth, ASilentNodeIsUnknownInEverythingItReports) {
  const auto conditions = ConditionsOfSilentNode(
      NodeWith({Condition("Ready", "True"), Condition("MemoryPressure", "False"),
                Condition("DiskPressure", "Unknown")}),
      kTestNow);
  ASSERT_EQ(conditions.size(), 3u);
  EXPECT_EQ(conditions[0].type, "Ready");
  EXPECT_EQ(conditions[0].status, "Unknown");
  EXPECT_EQ(conditions[0].reason, "NodeStatusUnknown");
  EXPECT_EQ(conditions[0].message, "Kubelet stopped posting node status.");
  EXPECT_EQ(conditions[1].type, "MemoryPressure");
  EXPECT_EQ(conditions[2].type, "PIDPressure");
  EXPECT_EQ(conditions[2].reason, "NodeStatusNeverUpdated");
}

TEST(NodeHealth, TaintsFollowConditions) {
  struct Case {
    std::string_view name;
    kube::Node node;
    Evicting evicting;
    std::vector<std::string> taints;
  };
  kube::Node cordoned = NodeWith({Condition("Ready", "True")});
  cordoned.spec.unschedulable = true;
  kube::Node recovered = NodeWith({Condition("Ready", "True")});
  recovered.spec.taints = {{.key = "node.kubernetes.io/unreachable", .effect = "NoExecute"},
                           {.key = "node.kubernetes.io/unreachable", .effect = "NoSchedule"},
                           {.key = "mine", .value = "x", .effect = "NoExecute"}};
  kube::Node renamed = NodeWith({Condition("Ready", "Unknown")});
  renamed.spec.taints = {{.key = "node.kubernetes.io/not-ready", .effect = "NoExecute"}};
  const Evicting now = Evicting::kNow, not_yet = Evicting::kNotYet;
  const Case cases[] = {
      {"a node that works", NodeWith({Condition("Ready", "True")}), now, {}},
      {"not ready",
       NodeWith({Condition("Ready", "False")}),
       now,
       {"not-ready:NoSchedule", "not-ready:NoExecute"}},
      {"not ready, but others are first",
       NodeWith({Condition("Ready", "False")}),
       not_yet,
       {"not-ready:NoSchedule"}},
      {"silent",
       NodeWith({Condition("Ready", "Unknown")}),
       now,
       {"unreachable:NoSchedule", "unreachable:NoExecute"}},
      {"never reported", NodeWith({}), now, {"not-ready:NoSchedule", "not-ready:NoExecute"}},
      {"short of memory",
       NodeWith({Condition("Ready", "True"), Condition("MemoryPressure", "True")}),
       now,
       {"memory-pressure:NoSchedule"}},
      {"cordoned", cordoned, now, {"unschedulable:NoSchedule"}},
      {"recovered: only what is not ours stays", recovered, now, {"mine:NoExecute"}},
      {"not ready becomes unreachable without a gap",
       renamed,
       not_yet,
       {"unreachable:NoSchedule", "unreachable:NoExecute"}},
      {"all are down: nobody is driven away",
       renamed,
       Evicting::kWithdrawn,
       {"unreachable:NoSchedule"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Text(TaintsFor(c.node, c.evicting, kTestNow)), c.taints) << c.name;
  }
}

TEST(NodeHealth, TaintsThatStayKeepTheirTime) {
  kube::Node node = NodeWith({Condition("Ready", "False")});
  node.spec.taints = TaintsFor(node, Evicting::kNow, kTestNow);
  EXPECT_EQ(TaintsFor(node, Evicting::kNotYet, kTestNow + 1h), node.spec.taints);
  EXPECT_FALSE(WantsEviction(node));
}

TEST(NodeHealth, ZonesAreDisruptedFrom55PercentOn) {
  EXPECT_EQ(StateOfZone(10, 0), ZoneState::kNormal);
  EXPECT_EQ(StateOfZone(1, 2), ZoneState::kNormal) << "two nodes prove nothing";
  EXPECT_EQ(StateOfZone(9, 11), ZoneState::kPartlyDown);
  EXPECT_EQ(StateOfZone(46, 54), ZoneState::kNormal);
  EXPECT_EQ(StateOfZone(45, 55), ZoneState::kPartlyDown);
  EXPECT_EQ(StateOfZone(0, 1), ZoneState::kAllDown);
}

std::vector<std::shared_ptr<const kube::Node>> Zone(const std::string& zone, int ready, int down) {
  std::vector<std::shared_ptr<const kube::Node>> nodes;
  for (int i = 0; i < ready + down; ++i) {
    kube::Node node = NodeWith({Condition("Ready", i < ready ? "True" : "Unknown")});
    node.metadata.labels["topology.kubernetes.io/zone"] = zone;
    nodes.push_back(Shared(node));
  }
  return nodes;
}

template <class T>
std::vector<T> operator+(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(EvictionPace, OneNodeEvery10SecondsAndAZone) {
  EvictionPace pace;
  pace.SetNodes(Zone("a", 10, 2) + Zone("b", 10, 1));
  EXPECT_EQ(pace.Wait("/a", 0s), Duration(0));
  EXPECT_EQ(pace.Wait("/a", 3s), Duration(7s));
  EXPECT_EQ(pace.Wait("/b", 3s), Duration(0)) << "another zone has its own pace";
  EXPECT_EQ(pace.Wait("/a", 10s), Duration(0));
}

TEST(EvictionPace, SlowerOrNotAtAllWhereMostIsDown) {
  EvictionPace pace;
  pace.SetNodes(Zone("small", 4, 6) + Zone("large", 40, 60) + Zone("fine", 1, 0));
  EXPECT_EQ(pace.Wait("/small", 0s), std::nullopt);
  EXPECT_EQ(pace.Wait("/large", 0s), Duration(0));
  EXPECT_EQ(pace.Wait("/large", 10s), Duration(90s));
}

TEST(EvictionPace, AZoneThatIsAllDownIsEmptiedUnlessAllAre) {
  EvictionPace pace;
  pace.SetNodes(Zone("a", 0, 3) + Zone("b", 3, 0));
  EXPECT_EQ(pace.Wait("/a", 0s), Duration(0));
  pace.SetNodes(Zone("a", 0, 3) + Zone("b", 0, 3));
  EXPECT_EQ(pace.Wait("/a", 100s), std::nullopt) << "it is us who cannot see";
}

TEST(LeaveAt, TheShortestTolerationDecides) {
  const std::vector<kube::Taint> taints = {
      {.key = "a", .effect = "NoExecute", .time_added = kTestNow - 10s},
      {.key = "b", .effect = "NoSchedule"}};
  const auto leave = [&](std::vector<kube::Toleration> tolerations) {
    return LeaveAt(taints, tolerations, kTestNow);
  };
  EXPECT_EQ(leave({}), kTestNow);
  EXPECT_EQ(leave({{.key = "a", .op = "Exists"}}), std::nullopt);
  EXPECT_EQ(leave({{.key = "a", .op = "Exists", .toleration_seconds = 60}}), kTestNow + 50s);
  EXPECT_EQ(leave({{.key = "a", .op = "Exists", .toleration_seconds = 60},
                   {.op = "Exists", .toleration_seconds = 20}}),
            kTestNow + 10s);
  EXPECT_EQ(leave({{.key = "a", .op = "Exists", .toleration_seconds = -5}}), kTestNow - 10s);
  EXPECT_EQ(LeaveAt({}, {}, kTestNow), std::nullopt);
}

}  // namespace
}  // namespace koord::localcluster::node_health_test
