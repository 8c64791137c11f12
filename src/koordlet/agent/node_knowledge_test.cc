#include "koordlet/agent/node_knowledge.h"

#include <gtest/gtest.h>

#include "koordlet/agent/koordlet_rig_testing.h"

namespace koord::koordlet::node_knowledge_test {
namespace {

constexpr char kBursting[] = R"(
metadata:
  name: bursting
  labels: {koordinator.sh/qosClass: LS}
  annotations: {koordinator.sh/cpuBurst: '{"policy":"auto","cfsQuotaBurstPercent":400}'}
spec: {nodeName: n, containers: [{name: main, resources: {limits: {cpu: "1"}}}]}
)";

class NodeKnowledgeTest : public testing::Test {
 protected:
  NodeKnowledge Make(KubeletClient* kubelet = nullptr) {
    return NodeKnowledge(loop_, {client_, layout_, info_, kubelet}, options_, registry_, 1);
  }

  VirtualLoop loop_;
  SilentCluster cluster_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, cluster_), {}};
  const CgroupLayout layout_{};
  NodeInfoCache info_;
  KoordletOptions options_ = PlainOptions();
  metrics::Registry registry_;
};

TEST_F(NodeKnowledgeTest, IsCompleteWithANodeItsPodsAndWordOfTheSlo) {
  NodeKnowledge knowledge = Make();
  EXPECT_FALSE(knowledge.complete());
  knowledge.SetNode(TestNode(kNode));
  EXPECT_FALSE(knowledge.complete());
  knowledge.SetPods({});
  EXPECT_FALSE(knowledge.complete());
  knowledge.SetSlo(nullptr);
  EXPECT_TRUE(knowledge.complete()) << "that there is no NodeSLO is word enough";
  EXPECT_EQ(knowledge.state().slo(), nullptr);
}

TEST_F(NodeKnowledgeTest, WhatIsDeletedStillHolds) {
  NodeKnowledge knowledge = Make();
  knowledge.SetNode(TestNode(kNode));
  knowledge.SetSlo(NodeSloOf("systemStrategy: {watermarkScaleFactor: 151}"));
  knowledge.SetNode(nullptr);
  knowledge.SetSlo(nullptr);
  ASSERT_NE(knowledge.state().node(), nullptr);
  EXPECT_EQ(knowledge.state().slo()->system_strategy->watermark_scale_factor, 151);
}

TEST_F(NodeKnowledgeTest, PodsGetNoMoreThanTheNodeGrants) {
  NodeKnowledge knowledge = Make();
  const auto burst = [&] {
    return *knowledge.state().pods()->at(0).cpu_burst->cfs_quota_burst_percent;
  };
  knowledge.SetPods({TestPod(kBursting)});
  EXPECT_EQ(burst(), 400) << "nothing is known that bounds it";
  knowledge.SetSlo(NodeSloOf("cpuBurstStrategy: {policy: auto, cfsQuotaBurstPercent: 200}"));
  EXPECT_EQ(burst(), 200) << "pods that are known already, too";
}

TEST_F(NodeKnowledgeTest, BoundsFollowTheMachine) {
  NodeKnowledge knowledge = Make();
  knowledge.SetPods({TestPod(R"(
metadata:
  name: pinned
  labels: {koordinator.sh/qosClass: LSR}
  annotations: {scheduling.koordinator.sh/resource-status: '{"cpuset":"6-9"}'}
spec: {nodeName: n, containers: [{name: main, resources: {limits: {cpu: "4"}}}]}
)")});
  knowledge.KeepBounds();
  EXPECT_EQ(knowledge.state().pods()->at(0).cpuset.ToString(), "6-9");
  TestHost machine({.shape = kShape});
  info_.SetCpu(*machine.host().ReadCpuInfo());
  loop_.Advance(options_.topology_interval);
  EXPECT_TRUE(knowledge.state().pods()->at(0).cpuset.empty()) << "there are only eight";
  knowledge.Stop();
}

TEST_F(NodeKnowledgeTest, TheKubeletIsAskedOnceItIsKnownWhereItIs) {
  int asked = 0;
  KubeletClient kubelet(
      loop_,
      [&](const kube::Node&) -> StatusOr<std::shared_ptr<kube::Transport>> {
        ++asked;
        return std::make_shared<kube::InProcessTransport>(loop_, cluster_);
      },
      3s, nullptr);
  NodeKnowledge knowledge = Make(&kubelet);
  knowledge.AskForPodsSoon();
  loop_.Advance(1min);
  EXPECT_EQ(cluster_.requests, 0u);
  knowledge.SetNode(TestNode(kNode));
  loop_.Advance(1min);
  EXPECT_EQ(asked, 1);
  EXPECT_GT(cluster_.requests, 1u);
  knowledge.Stop();
  const size_t before = cluster_.requests;
  knowledge.SetNode(TestNode(kNode));
  loop_.Advance(1min);
  EXPECT_EQ(cluster_.requests, before);
}

}  // namespace
}  // namespace koord::koordlet::node_knowledge_test
