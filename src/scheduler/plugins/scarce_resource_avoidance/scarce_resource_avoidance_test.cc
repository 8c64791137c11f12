#include "scheduler/plugins/scarce_resource_avoidance/scarce_resource_avoidance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::scarce_resource_avoidance_test {
namespace {

const ScarceResourceAvoidanceArgs kGpus{.resources = {"nvidia.com/gpu"}};

std::string Node(std::string_view allocatable, std::string_view name = "n") {
  return fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: {{{}}}}}}}", name,
                     allocatable);
}

std::string Pod(std::string_view requests) {
  return fmt::format("{{spec: {{containers: [{{resources: {{requests: {{{}}}}}}}]}}}}", requests);
}

struct Case {
  std::string_view name;
  std::string_view node;
  std::string_view pod;
  int64_t expected;
};

TEST(ScarceResourceAvoidanceTest, Scores) {
  const Case cases[] = {
      {"one of two is scarce", "cpu: 4, memory: 4Gi, nvidia.com/gpu: 1, xx.xx/xx: 1",
       "cpu: 1, memory: 1Gi", 50},
      {"nothing beyond what is asked for", "cpu: 4, memory: 4Gi", "cpu: 1, memory: 1Gi", 100},
      {"storage counts, pods do not",
       "cpu: 4, memory: 4Gi, ephemeral-storage: 1Gi, pods: 110, nvidia.com/gpu: 1", "cpu: 1", 66},
      {"the scarce one is asked for", "cpu: 4, memory: 4Gi, nvidia.com/gpu: 1",
       "cpu: 1, nvidia.com/gpu: 1", 100},
      {"asking for none of it is not asking", "cpu: 4, nvidia.com/gpu: 1",
       "cpu: 1, nvidia.com/gpu: 0", 0},
      {"having none of it is not having", "cpu: 4, memory: 1Gi, nvidia.com/gpu: 0", "cpu: 1", 100},
      {"unknown plain names do not count", "cpu: 4, widgets: 3, nvidia.com/gpu: 1", "cpu: 1", 0},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    ScarceResourceAvoidance plugin(bed.context, kGpus);
    bed.AddNode(Node(test.node));
    EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod(test.pod))),
              std::vector<int64_t>{test.expected})
        << test.name;
  }
}

TEST(ScarceResourceAvoidanceTest, WithoutScarceResourcesAllNodesAreEqual) {
  PluginBed bed;
  ScarceResourceAvoidance plugin(bed.context, {});
  bed.AddNode(Node("cpu: 4, memory: 4Gi, nvidia.com/gpu: 1"));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("cpu: 1"))), std::vector<int64_t>{100});
}

TEST(ScarceResourceAvoidanceTest, FollowsWhatNodesHave) {
  PluginBed bed;
  bed.AddNode(Node("cpu: 4", "before"));
  ScarceResourceAvoidance plugin(bed.context, kGpus);
  const auto query = bed.Query(plugin, Pod("cpu: 1"));
  bed.AddNode(Node("cpu: 4, nvidia.com/gpu: 1", "after"));
  EXPECT_EQ(bed.Scores(plugin, *query), (std::vector<int64_t>{100, 0}));
  bed.AddNode(Node("cpu: 4", "after"));
  bed.AddNode(Node("cpu: 4, nvidia.com/gpu: 1, memory: 1", "before"));
  EXPECT_EQ(bed.Scores(plugin, *query), (std::vector<int64_t>{50, 100}));
}

TEST(ScarceResourceAvoidanceTest, SingleRowsAgreeOnRandomClusters) {
  Random random(3);
  PluginBed bed;
  ScarceResourceAvoidance plugin(bed.context, kGpus);
  bed.AddPod("{metadata: {name: early}, spec: {nodeName: not-there-yet}}");
  FillCluster(bed, random, 300, 1);
  for (int i = 0; i < 20; ++i) {
    ExpectScoresOfSingleRowsAgree(plugin, *bed.Query(plugin, RandomPod(random, i)));
  }
}

}  // namespace
}  // namespace koord::scheduler::scarce_resource_avoidance_test
