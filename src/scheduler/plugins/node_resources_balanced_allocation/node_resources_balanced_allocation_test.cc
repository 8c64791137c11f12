#include "scheduler/plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::node_resources_balanced_allocation_test {
namespace {

std::string Pod(std::string_view requests, std::string_view node = "") {
  return fmt::format(
      "{{metadata: {{name: '{0}p'}}, spec: {{nodeName: '{0}', containers: [{{resources: "
      "{{requests: {{{1}}}}}}}]}}}}",
      node, requests);
}

NodeResourcesBalancedAllocationArgs Balancing(std::vector<std::string> resources) {
  NodeResourcesBalancedAllocationArgs args;
  for (std::string& name : resources) args.resources.push_back({std::move(name), 1});
  return args;
}

struct Case {
  std::string_view name;
  std::vector<std::string> resources;
  std::string_view node;
  std::string_view running;
  std::string_view pod;
  std::vector<int64_t> expected;  // none: not scored
};

TEST(NodeResourcesBalancedAllocationTest, Scores) {
  const std::vector<std::string> three = {"cpu", "memory", "a.b/gpu"};
  const Case cases[] = {
      {"a quarter apart",
       {},
       "cpu: 8, memory: 16Gi",
       "cpu: 2, memory: 8Gi",
       "cpu: 500m, memory: 1Gi",
       {87}},
      {"alike", {}, "cpu: 8, memory: 8Gi", "cpu: 1, memory: 1Gi", "cpu: 2, memory: 2Gi", {100}},
      {"as different as can be", {}, "cpu: 1, memory: 1Gi", "cpu: 1", "cpu: 1", {50}},
      {"more than everything is everything",
       {},
       "cpu: 1, memory: 1Gi",
       "cpu: 3, memory: 1Gi",
       "cpu: 3, memory: 5Gi",
       {100}},
      {"no defaults for containers that do not say",
       {},
       "cpu: 1, memory: 200Mi",
       "",
       "cpu: 500m",
       {75}},
      {"nothing requested", {}, "cpu: 1, memory: 1Gi", "cpu: 1", "", {}},
      {"nothing requested of what is balanced", {"cpu"}, "cpu: 1", "", "memory: 1Gi", {}},
      {"one resource has nothing to deviate from", {"cpu"}, "cpu: 4", "", "cpu: 1", {100}},
      {"one that the node lacks is left out", {}, "cpu: 4", "", "cpu: 1, memory: 1Gi", {100}},
      {"three: 0.5, 0.5, 0.2",
       three,
       "cpu: 10, memory: 10, a.b/gpu: 10",
       "",
       "cpu: 5, memory: 5, a.b/gpu: 2",
       {85}},
      {"a scalar that is not requested is left out",
       three,
       "cpu: 10, memory: 10, a.b/gpu: 10",
       "a.b/gpu: 10",
       "cpu: 5, memory: 3",
       {90}},
      {"numbers beyond doubles' exactness",
       {},
       "cpu: 1, memory: 4611686018427387904",
       "",
       "cpu: 500m, memory: 1152921504606846976",
       {87}},
  };
  for (const Case& test : cases) {
    PluginBed bed;
    NodeResourcesBalancedAllocation plugin(bed.context, Balancing(test.resources));
    bed.AddNode(
        fmt::format("{{metadata: {{name: n}}, status: {{allocatable: {{{}}}}}}}", test.node));
    bed.AddPod(Pod(test.running, "n"));
    EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod(test.pod))), test.expected) << test.name;
  }
}

// The quick way for two resources and the general one are the same function.
TEST(NodeResourcesBalancedAllocationTest, TwoResourcesScoreAsTwoOfThree) {
  Random random(11);
  PluginBed bed;
  NodeResourcesBalancedAllocation two(bed.context, Balancing({"cpu", "memory"}));
  // Counts for nothing, but takes the general way.
  NodeResourcesBalancedAllocation three(bed.context, Balancing({"cpu", "memory", "a.b/unknown"}));
  FillCluster(bed, random, 600, 3);
  for (int i = 0; i < 20; ++i) {
    kube::Pod pod = *RandomPod(random, i);
    pod.spec.containers.Mutable()[0].resources.requests["a.b/unknown"] = kube::Quantity(1);
    const auto shared = std::make_shared<const kube::Pod>(std::move(pod));
    const auto query = bed.Query(two, shared);
    EXPECT_EQ(bed.RawScores(two, *query), bed.RawScores(three, *bed.Query(three, shared)));
    ExpectScoresOfSingleRowsAgree(two, *query);
    ExpectScoreRowAgreesWithScore(two, *query, bed, random);
  }
}

}  // namespace
}  // namespace koord::scheduler::node_resources_balanced_allocation_test
