#include "scheduler/matching/node_matcher.h"

#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::node_matcher_test {
namespace {

void ExpectMeansWhatThePodMeans(NodeMatcher& matcher, const kube::PodSpec& pod,
                                const NodeTable& nodes) {
  std::vector<uint8_t> keep(nodes.rows(), 1);
  matcher.Narrow(nodes.all(), keep.data());
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    if (!nodes.IsLive(row)) continue;
    const bool expected = kube::MatchesNode(pod, nodes.name(row), nodes.node(row).metadata.labels);
    ASSERT_EQ(keep[row] == 1, expected) << nodes.name(row);
    ASSERT_EQ(matcher.Matches(row), expected) << nodes.name(row) << " alone";
  }
}

TEST(NodeMatcherTest, MeansTheSameAsMatchingObjects) {
  Random random(21);
  PluginBed bed;
  FillCluster(bed, random, 600, 0);
  for (int i = 0; i < 200; ++i) {
    const auto pod = RandomPod(random, i);
    NodeMatcher matcher = NodeMatcher::OfPod(bed.ledger.nodes(), pod->spec);
    ExpectMeansWhatThePodMeans(matcher, pod->spec, bed.ledger.nodes());
  }
}

TEST(NodeMatcherTest, FollowsNodesAsTheyComeGoAndChange) {
  Random random(22);
  PluginBed bed;
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  std::vector<NodeMatcher> matchers;
  for (int i = 0; i < 40; ++i) {
    pods.push_back(RandomPod(random, i));
    matchers.push_back(NodeMatcher::OfPod(bed.ledger.nodes(), pods.back()->spec));
  }
  for (int round = 0; round < 30; ++round) {
    for (int change = 0; change < 5; ++change) {
      const auto node = RandomNode(random, static_cast<int>(random.Below(40)));
      if (random.Chance(0.4)) {
        bed.ledger.RemoveNode(node->metadata.name);
      } else {
        bed.ledger.SetNode(node);
      }
    }
    for (size_t i = 0; i < pods.size(); ++i) {
      ExpectMeansWhatThePodMeans(matchers[i], pods[i]->spec, bed.ledger.nodes());
    }
  }
}

TEST(NodeMatcherTest, BadRequirementsHoldNowhere) {
  const std::string_view selectors[] = {
      "[]",
      "[{}]",
      "[{matchExpressions: [{key: zone, operator: Near, values: [a]}]}]",
      "[{matchExpressions: [{key: zone, operator: In, values: []}]}]",
      "[{matchExpressions: [{key: cores, operator: Gt, values: [many]}]}]",
      "[{matchFields: [{key: metadata.uid, operator: In, values: [node-0]}]}]",
      "[{matchFields: [{key: metadata.name, operator: Exists}]}]",
      "[{matchFields: [{key: metadata.name, operator: In, values: [elsewhere]}]}]",
  };
  Random random(23);
  PluginBed bed;
  FillCluster(bed, random, 20, 0);
  for (const std::string_view terms : selectors) {
    const auto selector = FromYaml<kube::NodeSelector>("nodeSelectorTerms: " + std::string(terms));
    NodeMatcher matcher(bed.ledger.nodes(), {}, selector.get());
    for (NodeRow row{0}; row < bed.ledger.nodes().rows(); ++row) {
      EXPECT_FALSE(matcher.Matches(row)) << terms;
    }
  }
}

}  // namespace
}  // namespace koord::scheduler::node_matcher_test
