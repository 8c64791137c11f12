#include "scheduler/plugins/node_resources_fit/node_resources_fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::node_resources_fit_test {
namespace {

NodeResourcesFitArgs Scoring(std::string_view type, std::vector<ResourceWeight> resources = {},
                             std::vector<UtilizationShapePoint> shape = {}) {
  NodeResourcesFitArgs args;
  args.scoring_strategy = ScoringStrategy{std::string(type), std::move(resources),
                                          RequestedToCapacityRatio{std::move(shape)}};
  return args;
}

std::string Pod(std::string_view requests, std::string_view node = "",
                std::string_view name = "p") {
  return fmt::format(
      "{{metadata: {{name: {}}}, spec: {{nodeName: '{}', containers: [{{resources: {{requests: "
      "{{{}}}}}}}]}}}}",
      name, node, requests);
}

std::string Node(std::string_view allocatable, std::string_view name = "n") {
  return fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: {{{}}}}}}}", name,
                     allocatable);
}

struct FitCase {
  std::string_view name;
  std::string_view node;     // allocatable
  std::string_view running;  // requests of the pod that is there
  std::string_view pod;
  std::string_view expected;
};

TEST(NodeResourcesFitTest, Filters) {
  const FitCase cases[] = {
      {"fits exactly", "cpu: 4, memory: 8Gi", "cpu: 3, memory: 6Gi", "cpu: 1, memory: 2Gi", ""},
      {"would fit an emptier node", "cpu: 4", "cpu: 3", "cpu: 2",
       "Unschedulable: Insufficient cpu"},
      {"would not fit the empty node", "cpu: 4", "cpu: 3", "cpu: 5",
       "UnschedulableAndUnresolvable: Insufficient cpu"},
      {"one of several would not fit the empty node", "cpu: 4, memory: 1Gi", "cpu: 3",
       "cpu: 2, memory: 2Gi",
       "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient memory"},
      {"all reasons in order", "pods: 1, cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi, a.b/c: 1",
       "cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi, a.b/c: 1",
       "a.b/c: 1, ephemeral-storage: 1, memory: 1, cpu: 1m",
       "Unschedulable: Too many pods, Insufficient cpu, Insufficient memory, Insufficient "
       "ephemeral-storage, Insufficient a.b/c"},
      {"too many pods alone can be cured by preemption", "pods: 1, cpu: 4", "cpu: 1", "cpu: 1",
       "Unschedulable: Too many pods"},
      {"too many pods also when nothing is requested", "pods: 1", "", "",
       "Unschedulable: Too many pods"},
      {"nothing requested of an overcommitted node", "cpu: 1", "cpu: 2", "", ""},
      {"only what is requested is compared", "cpu: 1, memory: 1Gi", "cpu: 2", "memory: 1Gi", ""},
      {"an explicit zero requests nothing", "cpu: 1", "cpu: 2", "cpu: 0", ""},
      {"a resource that the node lacks", "cpu: 4", "", "nvidia.com/gpu: 1",
       "UnschedulableAndUnresolvable: Insufficient nvidia.com/gpu"},
      {"batch resources", "kubernetes.io/batch-cpu: 1000", "kubernetes.io/batch-cpu: 900",
       "kubernetes.io/batch-cpu: 200", "Unschedulable: Insufficient kubernetes.io/batch-cpu"},
      {"huge pages", "hugepages-2Mi: 4Mi", "", "hugepages-2Mi: 6Mi",
       "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi"},
      {"unknown plain names are nobody's", "cpu: 1", "", "widgets: 1", ""},
      {"ignored by name", "cpu: 1", "", "ignored.io/x: 1", ""},
      {"another of the same group", "cpu: 1", "", "ignored.io/y: 1",
       "UnschedulableAndUnresolvable: Insufficient ignored.io/y"},
      {"ignored by group", "cpu: 1", "", "group.io/anything: 1", ""},
      {"only extended resources can be ignored", "cpu: 1", "", "kubernetes.io/batch-memory: 1",
       "UnschedulableAndUnresolvable: Insufficient kubernetes.io/batch-memory"},
  };
  for (const FitCase& test : cases) {
    PluginBed bed;
    NodeResourcesFit plugin(
        bed.context, {.ignored_resources = {"ignored.io/x", "kubernetes.io/batch-memory", "cpu"},
                      .ignored_resource_groups = {"group.io", "kubernetes.io"}});
    bed.AddNode(Node(test.node));
    bed.AddPod(Pod(test.running, "n", "running"));
    EXPECT_EQ(bed.Check(plugin, *bed.Query(plugin, Pod(test.pod)), "n"), test.expected)
        << test.name;
  }
}

TEST(NodeResourcesFitTest, NamesEverythingThatNoNodeOffersButAsOneReason) {
  PluginBed bed;
  NodeResourcesFit plugin(bed.context, {});
  const NodeRow row = bed.AddNode(Node("cpu: 4"));
  const size_t reasons = bed.reasons.used();
  {
    const auto query = bed.Query(plugin, Pod("a.b/c: 1, cpu: 5, a.b/d: 1, a.b/e: 1"));
    EXPECT_EQ(bed.Check(plugin, *query, "n"),
              "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient a.b/c, Insufficient "
              "a.b/d, Insufficient a.b/e");
    EXPECT_EQ(plugin.Check(*query, {row}).reasons.size(), 2U) << "rows are many, and keep these";
  }
  EXPECT_EQ(bed.reasons.used(), reasons) << "of texts nothing is left";
}

TEST(NodeResourcesFitTest, LooksAgainWhenANodeOffersWhatNoneDid) {
  PluginBed bed;
  NodeResourcesFit plugin(bed.context, {});
  bed.AddNode(Node("cpu: 4"));
  const auto query = bed.Query(plugin, Pod("a.b/c: 1"));
  const uint64_t version = plugin.VersionFor(query->shape());
  bed.AddPod(Pod("a.b/c: 1", "n", "running"));
  EXPECT_EQ(plugin.VersionFor(query->shape()), version);
  bed.AddNode(Node("cpu: 4, a.b/c: 1"));
  EXPECT_NE(plugin.VersionFor(query->shape()), version);
  const auto again = bed.Query(plugin, Pod("a.b/c: 1"));
  EXPECT_EQ(bed.Check(plugin, *again, "n"), "Unschedulable: Insufficient a.b/c");
}

TEST(NodeResourcesFitTest, EvictingAPodThatHasWhatNoNodeOffersGivesNothing) {
  PluginBed bed;
  NodeResourcesFit plugin(bed.context, {});
  const NodeRow row = bed.AddNode(Node("cpu: 4"));
  bed.AddPod(Pod("a.b/c: 1", "n", "running"));
  const RowDelta without{.removed = {bed.ledger.nodes().pods(row)[0]}};
  EXPECT_EQ(bed.Check(plugin, *bed.Query(plugin, Pod("a.b/c: 1")), "n", &without),
            "UnschedulableAndUnresolvable: Insufficient a.b/c");
}

TEST(NodeResourcesFitTest, LooksAtTheRowAsTheDeltaShowsIt) {
  PluginBed bed;
  NodeResourcesFit plugin(bed.context, {});
  const NodeRow row = bed.AddNode(Node("cpu: 4, pods: 1"));
  bed.AddPod(Pod("cpu: 3", "n", "running"));
  const auto query = bed.Query(plugin, Pod("cpu: 2"));
  const PodInfo* running = bed.ledger.nodes().pods(row)[0];
  EXPECT_EQ(bed.Check(plugin, *query, "n"), "Unschedulable: Too many pods, Insufficient cpu");

  const RowDelta without{.removed = {running}};
  EXPECT_EQ(bed.Check(plugin, *query, "n", &without), "");

  PodInfo promised;
  promised.pod = PodOf(Pod("cpu: 3", "", "promised"));
  promised.shape = bed.ledger.shapes().Of(promised.pod);
  const RowDelta exchanged{.removed = {running}, .added = {&promised}};
  EXPECT_EQ(bed.Check(plugin, *query, "n", &exchanged),
            "Unschedulable: Too many pods, Insufficient cpu");

  const RowDelta released{.released = {{kCpuId, 1000}}};
  EXPECT_EQ(bed.Check(plugin, *query, "n", &released), "Unschedulable: Too many pods");
}

struct ScoreCase {
  std::string_view name;
  NodeResourcesFitArgs args;
  std::string_view node;
  std::string_view running;
  std::string_view pod;
  int64_t expected;
};

TEST(NodeResourcesFitTest, Scores) {
  const std::vector<ResourceWeight> with_gpu = {{"cpu", 1}, {"memory", 1}, {"a.b/gpu", 3}};
  const std::vector<UtilizationShapePoint> rising = {{0, 0}, {100, 10}};
  const ScoreCase cases[] = {
      {"nothing says anything: the defaults of a container count",
       {},
       "cpu: 1, memory: 1000Mi",
       "",
       "",
       85},
      {"an explicit zero is no default",
       {},
       "cpu: 1, memory: 1000Mi",
       "cpu: 0, memory: 0",
       "cpu: 0, memory: 0",
       100},
      {"more used than there is",
       {},
       "cpu: 1, memory: 1000Mi",
       "cpu: 900m, memory: 0",
       "cpu: 200m, memory: 0",
       50},
      {"a resource that the node lacks is left out", {}, "cpu: 1", "cpu: 0", "cpu: 250m", 75},
      {"a node without any", {}, "pods: 1", "cpu: 0", "cpu: 250m", 0},
      {"an extended resource counts if it is requested", Scoring(kLeastAllocated, with_gpu),
       "cpu: 1, memory: 1000Mi, a.b/gpu: 10", "cpu: 0, memory: 0, a.b/gpu: 5",
       "cpu: 500m, memory: 500Mi, a.b/gpu: 3", 32},
      {"and does not if not", Scoring(kLeastAllocated, with_gpu),
       "cpu: 1, memory: 1000Mi, a.b/gpu: 10", "cpu: 0, memory: 0, a.b/gpu: 5",
       "cpu: 500m, memory: 500Mi", 50},
      {"ephemeral storage counts even if it is not requested",
       Scoring(kLeastAllocated, {{"ephemeral-storage", 1}}), "ephemeral-storage: 10",
       "ephemeral-storage: 4", "", 60},
      {"unknown plain names count nowhere", Scoring(kLeastAllocated, {{"widgets", 1}, {"cpu", 1}}),
       "cpu: 1, widgets: 10", "cpu: 0", "cpu: 250m, widgets: 1", 75},
      {"weight 0 is 1", Scoring(kLeastAllocated, {{"cpu", 0}, {"memory", 1}}),
       "cpu: 1, memory: 1000Mi", "cpu: 0, memory: 0", "cpu: 500m, memory: 1000Mi", 25},
      {"most allocated", Scoring(kMostAllocated), "cpu: 1, memory: 1000Mi", "cpu: 900m, memory: 0",
       "cpu: 200m, memory: 500Mi", 75},
      {"ratio: mean of the resources, rounded", Scoring(kRequestedToCapacityRatio, {}, rising),
       "cpu: 1, memory: 1000Mi", "cpu: 0, memory: 0", "cpu: 250m, memory: 500Mi", 38},
      {"ratio: what scores 0 takes no part", Scoring(kRequestedToCapacityRatio, {}, rising),
       "cpu: 1, memory: 1000Mi", "cpu: 0, memory: 0", "cpu: 0, memory: 500Mi", 50},
      {"ratio: nothing scores", Scoring(kRequestedToCapacityRatio, {}, {{0, 10}, {100, 0}}),
       "cpu: 1, memory: 1000Mi", "cpu: 1, memory: 1000Mi", "cpu: 1, memory: 1000Mi", 0},
  };
  for (const ScoreCase& test : cases) {
    PluginBed bed;
    NodeResourcesFit plugin(bed.context, test.args);
    bed.AddNode(Node(test.node));
    if (!test.running.empty()) bed.AddPod(Pod(test.running, "n", "running"));
    EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod(test.pod))),
              std::vector<int64_t>{test.expected})
        << test.name;
  }
}

TEST(NodeResourcesFitTest, ContainersWithoutRequestsCountWithDefaults) {
  for (const auto& [strategy, expected] : {std::pair{kLeastAllocated, 61}, {kMostAllocated, 38}}) {
    PluginBed bed;
    NodeResourcesFit plugin(bed.context, Scoring(strategy));
    bed.AddNode(Node("cpu: 8, memory: 16Gi"));
    bed.AddPod(Pod("cpu: 2500m, memory: 5Gi", "n", "running"));
    const auto query = bed.Query(
        plugin, "spec: {containers: [{resources: {requests: {cpu: 500m, memory: 1Gi}}}, {}]}");
    EXPECT_EQ(bed.Scores(plugin, *query), std::vector<int64_t>{expected});
  }
}

TEST(NodeResourcesFitTest, ScoresAlongAShape) {
  PluginBed bed;
  NodeResourcesFit plugin(
      bed.context, Scoring(kRequestedToCapacityRatio, {{"cpu", 1}}, {{0, 0}, {60, 10}, {100, 4}}));
  bed.AddNode(Node("cpu: 1"));
  const std::pair<int, int64_t> cases[] = {{30, 50}, {59, 98}, {60, 100},
                                           {61, 99}, {80, 70}, {100, 40}};
  for (const auto& [utilization, expected] : cases) {
    const auto query = bed.Query(plugin, Pod(fmt::format("cpu: {}m", utilization * 10)));
    EXPECT_EQ(bed.Scores(plugin, *query), std::vector<int64_t>{expected}) << utilization;
  }
}

TEST(NodeResourcesFitTest, IsLevelOutsideOfAShape) {
  PluginBed bed;
  NodeResourcesFit plugin(bed.context,
                          Scoring(kRequestedToCapacityRatio, {{"cpu", 1}}, {{20, 3}, {60, 10}}));
  bed.AddNode(Node("cpu: 1"));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("cpu: 100m"))), std::vector<int64_t>{30});
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("cpu: 900m"))), std::vector<int64_t>{100});
}

TEST(NodeResourcesFitTest, FilterAndCheckAgreeOnRandomClusters) {
  Random random(3);
  PluginBed bed;
  NodeResourcesFit plugin(bed.context, {});
  FillCluster(bed, random, 700, 3);
  for (int i = 0; i < 30; ++i) {
    const auto query = bed.Query(plugin, RandomPod(random, i));
    ExpectFilterAgreesWithCheck(plugin, *query);
    ExpectScoresOfSingleRowsAgree(plugin, *query);
    ExpectScoreRowAgreesWithScore(plugin, *query, bed, random);
  }
}

ClusterEvent NodeEvent(std::string_view before, std::string_view after) {
  ClusterEvent event{.kind = before.empty() ? EventKind::kNodeAdded : EventKind::kNodeUpdated};
  if (!before.empty()) event.node_before = NodeOf(Node(before));
  event.node_after = NodeOf(Node(after));
  event.node_changes.allocatable = true;
  return event;
}

ClusterEvent PodEvent(EventKind kind, std::string_view before, std::string_view after) {
  return {.kind = kind,
          .pod_before = PodOf(Pod(before, "n", "other")),
          .pod_after = PodOf(Pod(after, "n", "other"))};
}

TEST(NodeResourcesFitTest, KnowsWhatMightCure) {
  PluginBed bed;
  NodeResourcesFit plugin(bed.context, {});
  const auto rejected = PodOf(Pod("cpu: 2, memory: 1Gi"));
  const auto cures = [&](const ClusterEvent& event) { return plugin.MightCure(*rejected, event); };
  EXPECT_TRUE(cures({.kind = EventKind::kForced}));
  EXPECT_TRUE(cures({.kind = EventKind::kAssignedPodRemoved}));
  EXPECT_FALSE(cures({.kind = EventKind::kNodeMetricChanged}));
  EXPECT_FALSE(cures({.kind = EventKind::kNodeUpdated}));
  EXPECT_TRUE(cures(NodeEvent("", "cpu: 2, memory: 1Gi")));
  EXPECT_FALSE(cures(NodeEvent("", "cpu: 1, memory: 1Gi")));
  EXPECT_TRUE(cures(NodeEvent("cpu: 1, memory: 1Gi", "cpu: 2, memory: 1Gi")));
  EXPECT_FALSE(cures(NodeEvent("cpu: 3, memory: 1Gi", "cpu: 2, memory: 1Gi")));
  EXPECT_FALSE(cures(NodeEvent("cpu: 1, memory: 1Gi", "cpu: 2, memory: 1Mi")));
  EXPECT_FALSE(cures(NodeEvent("cpu: 3, memory: 1Gi", "cpu: 3, memory: 1Gi, a.b/c: 1")));
  EXPECT_TRUE(cures(NodeEvent("cpu: 3, memory: 1Gi, pods: 1", "cpu: 3, memory: 1Gi, pods: 2")));
  EXPECT_TRUE(cures(PodEvent(EventKind::kAssignedPodUpdated, "cpu: 2", "cpu: 1")));
  EXPECT_FALSE(cures(PodEvent(EventKind::kAssignedPodUpdated, "cpu: 1", "cpu: 2")));
  EXPECT_FALSE(cures(PodEvent(EventKind::kAssignedPodUpdated, "a.b/c: 2", "a.b/c: 1")));
  EXPECT_TRUE(
      cures(PodEvent(EventKind::kPodUpdated, "cpu: 3, memory: 1Gi", "cpu: 2, memory: 1Gi")));
  EXPECT_FALSE(cures(PodEvent(EventKind::kPodUpdated, "cpu: 2", "cpu: 2")));
}

TEST(NodeResourcesFitTest, CaresAboutNoOtherEvents) {
  PluginBed bed;
  const NodeResourcesFit plugin(bed.context, {});
  EXPECT_EQ(WantedEvents(plugin),
            (std::vector<std::string_view>{"AssignedPodDelete", "AssignedPodUpdate", "NodeAdd",
                                           "NodeUpdate", "PodUpdate"}));
}

}  // namespace
}  // namespace koord::scheduler::node_resources_fit_test
