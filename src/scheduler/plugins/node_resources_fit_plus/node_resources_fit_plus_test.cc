#include "scheduler/plugins/node_resources_fit_plus/node_resources_fit_plus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::node_resources_fit_plus_test {
namespace {

const NodeResourcesFitPlusArgs kPackGpus{.resources = {{"nvidia.com/gpu", {"MostAllocated", 2}},
                                                       {"cpu", {"LeastAllocated", 1}},
                                                       {"memory", {"LeastAllocated", 1}}}};

std::string Node(std::string_view allocatable, std::string_view name = "n") {
  return fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: {{{}}}}}}}", name,
                     allocatable);
}

std::string Pod(std::string_view requests, std::string_view node = "") {
  return fmt::format(
      "{{metadata: {{name: '{0}p'}}, spec: {{nodeName: '{0}', containers: [{{resources: "
      "{{requests: {{{1}}}}}}}]}}}}",
      node, requests);
}

TEST(NodeResourcesFitPlusTest, ScoresEachResourceInItsOwnDirection) {
  PluginBed bed;
  NodeResourcesFitPlus plugin(bed.context, kPackGpus);
  bed.AddNode(Node("cpu: 96, memory: 512Gi, nvidia.com/gpu: 8", "used"));
  bed.AddPod(Pod("cpu: 16, memory: 32Gi, nvidia.com/gpu: 4", "used"));
  bed.AddNode(Node("cpu: 96, memory: 512Gi, nvidia.com/gpu: 8", "empty"));
  bed.AddNode(Node("cpu: 96, memory: 512Gi", "without"));
  const auto query = bed.Query(plugin, Pod("cpu: 16, memory: 32Gi, nvidia.com/gpu: 2"));
  EXPECT_EQ(bed.Scores(plugin, *query), (std::vector<int64_t>{75, 56, 44}));
}

struct Case {
  std::string_view name;
  NodeResourcesFitPlusArgs args;
  std::string_view spec;
  int64_t expected;  // on a node with 10 cpu, 1000Mi and 10 a.b/c, empty
};

TEST(NodeResourcesFitPlusTest, Scores) {
  const auto one = [](std::string name, std::string type, int64_t weight = 1) {
    return NodeResourcesFitPlusArgs{.resources = {{std::move(name), {std::move(type), weight}}}};
  };
  const Case cases[] = {
      {"nothing configured", {}, "{containers: [{resources: {requests: {cpu: 5}}}]}", 100},
      {"nothing of it requested", one("a.b/c", "MostAllocated"),
       "{containers: [{resources: {requests: {cpu: 5}}}]}", 100},
      {"weight 0", one("cpu", "LeastAllocated", 0),
       "{containers: [{resources: {requests: {cpu: 5}}}]}", 100},
      {"a type that nobody knows", one("cpu", "Random"),
       "{containers: [{resources: {requests: {cpu: 5}}}]}", 0},
      {"containers that do not say count with defaults", one("cpu", "MostAllocated"),
       "{containers: [{resources: {requests: {cpu: 5}}}, {}]}", 51},
      {"of memory too", one("memory", "MostAllocated"),
       "{containers: [{resources: {requests: {memory: 100Mi}}}, {}]}", 30},
      {"overhead is not counted", one("cpu", "MostAllocated"),
       "{overhead: {cpu: 1}, containers: [{resources: {requests: {cpu: 5}}}]}", 50},
      {"a larger init container", one("cpu", "MostAllocated"),
       "{initContainers: [{resources: {requests: {cpu: 7}}}], containers: [{resources: {requests: "
       "{cpu: 5}}}]}",
       70},
      {"a sidecar adds up, also to an init container before it", one("cpu", "MostAllocated"),
       "{initContainers: [{resources: {requests: {cpu: 7}}}, {restartPolicy: Always, resources: "
       "{requests: {cpu: 1}}}], containers: [{resources: {requests: {cpu: 5}}}]}",
       80},
      {"an init container after a sidecar is compared with the sum", one("cpu", "MostAllocated"),
       "{initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}, {resources: "
       "{requests: {cpu: 7}}}], containers: [{resources: {requests: {cpu: 5}}}]}",
       70},
      {"more than there is", one("a.b/c", "LeastAllocated"),
       "{containers: [{resources: {requests: {a.b/c: 11}}}]}", 0},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    NodeResourcesFitPlus plugin(bed.context, test.args);
    bed.AddNode(Node("cpu: 10, memory: 1000Mi, a.b/c: 10"));
    const auto query = bed.Query(plugin, fmt::format("{{spec: {}}}", test.spec));
    EXPECT_EQ(bed.Scores(plugin, *query), std::vector<int64_t>{test.expected}) << test.name;
  }
}

TEST(NodeResourcesFitPlusTest, PodsThatDoNotSayCountOnNodesToo) {
  PluginBed bed;
  NodeResourcesFitPlus plugin(bed.context,
                              {.resources = {{"cpu", {std::string(kMostAllocated), 1}}}});
  bed.AddNode(Node("cpu: 1"));
  bed.AddPod(Pod("", "n"));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("cpu: 100m"))), std::vector<int64_t>{20});
}

TEST(NodeResourcesFitPlusTest, SingleRowsAgreeOnRandomClusters) {
  Random random(3);
  PluginBed bed;
  NodeResourcesFitPlus plugin(bed.context, kPackGpus);
  FillCluster(bed, random, 600, 2);
  for (int i = 0; i < 20; ++i) {
    const auto query = bed.Query(plugin, RandomPod(random, i));
    ExpectScoresOfSingleRowsAgree(plugin, *query);
    ExpectScoreRowAgreesWithScore(plugin, *query, bed, random);
  }
}

}  // namespace
}  // namespace koord::scheduler::node_resources_fit_plus_test
