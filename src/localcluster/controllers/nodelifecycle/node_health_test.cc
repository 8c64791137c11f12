#include "localcluster/controllers/nodelifecycle/node_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "kube/objects/objects_testing.h"
#include "localcluster/controllers/nodelifecycle/taint_eviction.h"

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
      kube::kTestNow);
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
    EXPECT_EQ(Text(TaintsFor(c.node, c.evicting, kube::kTestNow)), c.taints) << c.name;
  }
}

TEST(NodeHealth, TaintsThatStayKeepTheirTime) {
  kube::Node node = NodeWith({Condition("Ready", "False")});
  node.spec.taints = TaintsFor(node, Evicting::kNow, kube::kTestNow);
  EXPECT_EQ(TaintsFor(node, Evicting::kNotYet, kube::kTestNow + 1h), node.spec.taints);
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

kube::Node NodeIn(const std::string& zone, bool ready) {
  kube::Node node = NodeWith({Condition("Ready", ready ? "True" : "Unknown")});
  node.metadata.labels.Mutable()["topology.kubernetes.io/zone"] = zone;
  return node;
}

void AddZone(EvictionPace& pace, const std::string& zone, int ready, int down) {
  for (int i = 0; i < ready + down; ++i) {
    const kube::Node node = NodeIn(zone, i < ready);
    pace.Update(nullptr, &node);
  }
}

TEST(EvictionPace, OneNodeEvery10SecondsAndAZone) {
  EvictionPace pace;
  AddZone(pace, "a", 10, 2);
  AddZone(pace, "b", 10, 1);
  EXPECT_EQ(pace.Wait("/a", 0s), Duration(0));
  EXPECT_EQ(pace.Wait("/a", 3s), Duration(7s));
  EXPECT_EQ(pace.Wait("/b", 3s), Duration(0)) << "another zone has its own pace";
  EXPECT_EQ(pace.Wait("/a", 10s), Duration(0));
}

TEST(EvictionPace, SlowerOrNotAtAllWhereMostIsDown) {
  EvictionPace pace;
  AddZone(pace, "small", 4, 6);
  AddZone(pace, "large", 40, 60);
  AddZone(pace, "fine", 1, 0);
  EXPECT_EQ(pace.Wait("/small", 0s), std::nullopt);
  EXPECT_EQ(pace.Wait("/large", 0s), Duration(0));
  EXPECT_EQ(pace.Wait("/large", 10s), Duration(90s));
}

TEST(EvictionPace, AZoneThatIsAllDownIsEmptiedUnlessAllAre) {
  EvictionPace pace;
  AddZone(pace, "a", 0, 3);
  AddZone(pace, "b", 1, 0);
  EXPECT_EQ(pace.Wait("/a", 0s), Duration(0));
  const kube::Node up = NodeIn("b", true), down = NodeIn("b", false);
  pace.Update(&up, &down);
  EXPECT_TRUE(pace.all_down());
  EXPECT_EQ(pace.Wait("/a", 100s), std::nullopt) << "it is us who cannot see";
  pace.Update(&down, nullptr);
  EXPECT_TRUE(pace.all_down()) << "those that are left are down";
}

TEST(EvictionPace, TellsWhoseTurnToWaitIsOver) {
  EvictionPace pace;
  AddZone(pace, "a", 5, 5);
  AddZone(pace, "b", 10, 0);
  const kube::Node up = NodeIn("a", true), down = NodeIn("a", false), moved = NodeIn("b", false);
  EXPECT_THAT(pace.Update(&up, &down), ElementsAre("/a")) << "6 of 10 are down";
  EXPECT_THAT(pace.Update(&up, &down), IsEmpty()) << "7 of 10 make no difference";
  EXPECT_THAT(pace.Update(&down, &up), IsEmpty());
  EXPECT_THAT(pace.Update(&down, &moved), IsEmpty()) << "5 of 9 and 1 of 11";
  EXPECT_THAT(pace.Update(&down, nullptr), ElementsAre("/a")) << "4 of 8";
  EXPECT_THAT(pace.Update(nullptr, &up), IsEmpty()) << "4 of 9";
}

// Nodes come, change, move between zones and go; what is counted must be what a count of all gives.
TEST(EvictionPace, CountsStayRightWhateverHappens) {
  Random random(7);
  EvictionPace pace;
  std::map<int, kube::Node> nodes;
  const auto draw = [&] {
    return NodeIn(std::string(1, static_cast<char>('a' + random.Below(3))), random.Chance(0.4));
  };
  for (int step = 0; step < 5000; ++step) {
    const int name = static_cast<int>(random.Below(120));
    const auto known = nodes.find(name);
    const kube::Node next = draw();
    if (known == nodes.end()) {
      pace.Update(nullptr, &next);
      nodes.emplace(name, next);
    } else if (random.Chance(0.3)) {
      pace.Update(&known->second, nullptr);
      nodes.erase(known);
    } else {
      pace.Update(&known->second, &next);
      known->second = next;
    }
    ASSERT_EQ(pace.all_down(), !nodes.empty() && std::ranges::none_of(nodes, [](const auto& node) {
                return kube::IsReady(node.second);
              }));
    for (const std::string zone : {"/a", "/b", "/c"}) {
      int ready = 0, all = 0;
      for (const auto& [number, node] : nodes) {
        if (ZoneOf(node) != zone) continue;
        ++all;
        ready += kube::IsReady(node) ? 1 : 0;
      }
      // Twice at the same late moment: the second answer is the zone's pace.
      const SteadyTime now = (step + 1) * 1h;
      const auto first = pace.Wait(zone, now), second = pace.Wait(zone, now);
      if (all == 0 || pace.all_down()) {
        ASSERT_EQ(first, std::nullopt);
        continue;
      }
      const bool partly = StateOfZone(ready, all - ready) == ZoneState::kPartlyDown;
      const std::optional<Duration> expected =
          !partly ? std::optional<Duration>(10s)
                  : (all > 50 ? std::optional<Duration>(100s) : std::nullopt);
      ASSERT_EQ(second, expected) << step << " " << zone;
      ASSERT_EQ(first, expected ? std::optional(Duration::zero()) : std::nullopt);
    }
  }
}

TEST(LeaveAt, TheShortestTolerationDecides) {
  const std::vector<kube::Taint> taints = {
      {.key = "a", .effect = "NoExecute", .time_added = kube::kTestNow - 10s},
      {.key = "b", .effect = "NoSchedule"}};
  const auto leave = [&](std::vector<kube::Toleration> tolerations) {
    return LeaveAt(taints, tolerations, kube::kTestNow);
  };
  EXPECT_EQ(leave({}), kube::kTestNow);
  EXPECT_EQ(leave({{.key = "a", .op = "Exists"}}), std::nullopt);
  EXPECT_EQ(leave({{.key = "a", .op = "Exists", .toleration_seconds = 60}}), kube::kTestNow + 50s);
  EXPECT_EQ(leave({{.key = "a", .op = "Exists", .toleration_seconds = 60},
                   {.op = "Exists", .toleration_seconds = 20}}),
            kube::kTestNow + 10s);
  EXPECT_EQ(leave({{.key = "a", .op = "Exists", .toleration_seconds = -5}}), kube::kTestNow - 10s);
  EXPECT_EQ(LeaveAt({}, {}, kube::kTestNow), std::nullopt);
}

}  // namespace
}  // namespace koord::localcluster::node_health_test
