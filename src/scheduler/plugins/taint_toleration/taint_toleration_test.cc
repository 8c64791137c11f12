#include "scheduler/plugins/taint_toleration/taint_toleration.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::taint_toleration_test {
namespace {

constexpr std::string_view kRejected =
    "UnschedulableAndUnresolvable: node(s) had untolerated taint(s)";

std::string Pod(std::string_view tolerations) {
  return fmt::format("spec: {{tolerations: [{}]}}", tolerations);
}

std::string Node(std::string_view taints, std::string_view name = "n") {
  return fmt::format("{{metadata: {{name: {}}}, spec: {{taints: [{}]}}}}", name, taints);
}

struct FilterCase {
  std::string_view name;
  std::string_view taints;
  std::string_view tolerations;
  std::string_view expected;
};

TEST(TaintTolerationTest, Filters) {
  const FilterCase cases[] = {
      {"no taint", "", "", ""},
      {"not tolerated", "{key: a, effect: NoSchedule}", "", kRejected},
      {"evicting taints keep off too", "{key: a, effect: NoExecute}", "", kRejected},
      {"discouraging ones do not", "{key: a, effect: PreferNoSchedule}", "", ""},
      {"equal is the default", "{key: a, value: x, effect: NoSchedule}", "{key: a, value: x}", ""},
      {"another value", "{key: a, value: x, effect: NoSchedule}", "{key: a, value: y}", kRejected},
      {"exists covers every value", "{key: a, value: x, effect: NoSchedule}",
       "{key: a, operator: Exists}", ""},
      {"another key", "{key: a, effect: NoSchedule}", "{key: b, operator: Exists}", kRejected},
      {"another effect", "{key: a, effect: NoSchedule}",
       "{key: a, operator: Exists, effect: NoExecute}", kRejected},
      {"everything", "{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}",
       "{operator: Exists}", ""},
      {"one of two", "{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}",
       "{key: a, operator: Exists}", kRejected},
      {"an operator that is unknown", "{key: a, effect: NoSchedule}", "{key: a, operator: Near}",
       kRejected},
  };
  for (const FilterCase& test : cases) {
    PluginBed bed;
    TaintToleration plugin(bed.context);
    bed.AddNode(Node(test.taints));
    EXPECT_EQ(bed.Check(plugin, *bed.Query(plugin, Pod(test.tolerations)), "n"), test.expected)
        << test.name;
  }
}

TEST(TaintTolerationTest, PrefersNodesWithFewDiscouragingTaints) {
  PluginBed bed;
  TaintToleration plugin(bed.context);
  bed.AddNode(Node("", "none"));
  bed.AddNode(Node("{key: a, effect: PreferNoSchedule}", "one"));
  bed.AddNode(
      Node("{key: a, effect: PreferNoSchedule}, {key: b, effect: PreferNoSchedule}, "
           "{key: c, effect: NoSchedule}",
           "two"));
  using Scores = std::vector<int64_t>;
  const auto plain = bed.Query(plugin, Pod(""));
  EXPECT_EQ(bed.RawScores(plugin, *plain), (Scores{0, 1, 2}));
  EXPECT_EQ(bed.Scores(plugin, *plain), (Scores{100, 50, 0}));
  const auto tolerates_a = bed.Query(plugin, Pod("{key: a, operator: Exists}"));
  EXPECT_EQ(bed.Scores(plugin, *tolerates_a), (Scores{100, 100, 0}));
  const auto tolerates_none =
      bed.Query(plugin, Pod("{key: a, operator: Exists, effect: NoSchedule}"));
  EXPECT_EQ(bed.Scores(plugin, *tolerates_none), (Scores{100, 50, 0}));
  const auto tolerates_all = bed.Query(plugin, Pod("{operator: Exists, effect: PreferNoSchedule}"));
  EXPECT_EQ(bed.Scores(plugin, *tolerates_all), (Scores{100, 100, 100}));
}

TEST(TaintTolerationTest, WithoutDiscouragingTaintsAllNodesAreEqual) {
  PluginBed bed;
  TaintToleration plugin(bed.context);
  bed.AddNode(Node("", "a"));
  bed.AddNode(Node("{key: a, effect: NoSchedule}", "b"));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod(""))), (std::vector<int64_t>{100, 100}));
}

TEST(TaintTolerationTest, SeesTaintsThatComeAfterThePod) {
  PluginBed bed;
  TaintToleration plugin(bed.context);
  bed.AddNode(Node(""));
  const auto query = bed.Query(plugin, Pod(""));
  EXPECT_EQ(bed.Check(plugin, *query, "n"), "");
  bed.AddNode(Node("{key: a, effect: NoSchedule}, {key: b, effect: PreferNoSchedule}"));
  EXPECT_EQ(bed.Check(plugin, *query, "n"), kRejected);
  EXPECT_EQ(bed.RawScores(plugin, *query), std::vector<int64_t>{1});
}

TEST(TaintTolerationTest, FilterAndCheckAgreeOnRandomClusters) {
  Random random(5);
  PluginBed bed;
  TaintToleration plugin(bed.context);
  FillCluster(bed, random, 300, 0);
  for (int i = 0; i < 30; ++i) {
    const auto pod = RandomPod(random, i);
    const auto query = bed.Query(plugin, pod);
    ExpectFilterAgreesWithCheck(plugin, *query);
    ExpectScoresOfSingleRowsAgree(plugin, *query);
    const NodeTable& nodes = bed.ledger.nodes();
    for (NodeRow row{0}; row < nodes.rows(); ++row) {
      if (!nodes.IsLive(row)) continue;
      const auto& taints = nodes.node(row).spec.taints;
      ASSERT_EQ(plugin.Check(*query, {row}).ok(),
                kube::FindUntolerated(taints, pod->spec.tolerations) == nullptr);
    }
  }
}

TEST(TaintTolerationTest, KnowsWhatMightCure) {
  PluginBed bed;
  TaintToleration plugin(bed.context);
  const auto pod = PodOf(Pod("{key: a, operator: Exists}"));
  const auto other = PodOf(Pod("{key: b, operator: Exists}"));
  const auto tainted_a = NodeOf(Node("{key: a, effect: NoSchedule}"));
  const auto tainted_b = NodeOf(Node("{key: b, effect: NoSchedule}"));
  const auto cures = [&](const ClusterEvent& event) { return plugin.MightCure(*pod, event); };
  const NodeChanges taints{.taints = true};
  EXPECT_TRUE(cures({.kind = EventKind::kForced}));
  EXPECT_TRUE(cures({.kind = EventKind::kNodeAdded, .node_after = tainted_a}));
  EXPECT_FALSE(cures({.kind = EventKind::kNodeAdded, .node_after = tainted_b}));
  EXPECT_TRUE(cures({EventKind::kNodeUpdated, tainted_b, tainted_a, taints}));
  EXPECT_FALSE(cures({EventKind::kNodeUpdated, tainted_a, tainted_b, taints}));
  EXPECT_FALSE(cures({EventKind::kNodeUpdated, tainted_b, tainted_a, {.labels = true}}));
  EXPECT_TRUE(cures({.kind = EventKind::kPodUpdated, .pod_before = other, .pod_after = pod}));
  EXPECT_FALSE(cures({.kind = EventKind::kPodUpdated, .pod_before = pod, .pod_after = pod}));
  EXPECT_FALSE(cures({.kind = EventKind::kAssignedPodRemoved}));
}

TEST(TaintTolerationTest, CaresAboutNoOtherEvents) {
  PluginBed bed;
  const TaintToleration plugin(bed.context);
  EXPECT_EQ(WantedEvents(plugin),
            (std::vector<std::string_view>{"NodeAdd", "NodeUpdate", "PodUpdate"}));
}

}  // namespace
}  // namespace koord::scheduler::taint_toleration_test
