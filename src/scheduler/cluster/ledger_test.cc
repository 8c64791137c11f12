#include "scheduler/cluster/ledger.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::ledger_test {
namespace {

constexpr char kNode[] = "{metadata: {name: a}, status: {allocatable: {cpu: '4', memory: 8Gi}}}";
constexpr char kPod[] =
    "{metadata: {name: p}, spec: {nodeName: a, containers: [{resources: {requests: {cpu: 500m, "
    "memory: 1Gi}}}]}}";

std::shared_ptr<const kube::Pod> Unassigned(std::string_view name = "p") {
  kube::Pod pod = *PodOf(kPod);
  pod.metadata.name = pod.metadata.uid = name;
  pod.spec.node_name.clear();
  return std::make_shared<const kube::Pod>(std::move(pod));
}

TEST(LedgerTest, ChargesAPodOnceWhateverIsSeenOfIt) {
  Ledger ledger;
  const NodeRow row = ledger.SetNode(NodeOf(kNode));
  const auto pod = Unassigned();
  ASSERT_TRUE(ledger.Assume(pod, ledger.shapes().Of(pod), row).ok());
  EXPECT_EQ(ledger.assumed(), 1U);
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 500);
  EXPECT_FALSE(ledger.Assume(pod, ledger.shapes().Of(pod), row).ok()) << "it is in already";

  ledger.SetPod(PodOf(kPod));  // the watch confirms it
  ledger.SetPod(PodOf(kPod));  // and repeats itself
  EXPECT_EQ(ledger.assumed(), 0U);
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 500);
  EXPECT_EQ(ledger.nodes().pod_counts()[row], 1);
  EXPECT_FALSE(ledger.Forget("p")) << "what was seen on a node is not forgotten";

  EXPECT_TRUE(ledger.RemovePod("p"));
  EXPECT_FALSE(ledger.RemovePod("p"));
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 0);
  EXPECT_EQ(ledger.nodes().requested(kMemoryId)[row], 0);
  EXPECT_EQ(ledger.nodes().pod_counts()[row], 0);
}

TEST(LedgerTest, ForgettingGivesEverythingBack) {
  Ledger ledger;
  const NodeRow row = ledger.SetNode(NodeOf(kNode));
  const std::string before = ledger.Fingerprint();
  const auto pod = Unassigned();
  ASSERT_TRUE(ledger.Assume(pod, ledger.shapes().Of(pod), row).ok());
  EXPECT_NE(ledger.Fingerprint(), before);
  EXPECT_TRUE(ledger.Forget("p"));
  EXPECT_EQ(ledger.Fingerprint(), before);
}

TEST(LedgerTest, ABindingElsewhereMovesTheCharge) {
  Ledger ledger;
  const NodeRow a = ledger.SetNode(NodeOf(kNode));
  const NodeRow b = ledger.SetNode(NodeOf("{metadata: {name: b}}"));
  const auto pod = Unassigned();
  ASSERT_TRUE(ledger.Assume(pod, ledger.shapes().Of(pod), b).ok());
  ledger.SetPod(PodOf(kPod));
  EXPECT_EQ(ledger.nodes().pod_counts()[a], 1);
  EXPECT_EQ(ledger.nodes().pod_counts()[b], 0);
}

TEST(LedgerTest, PodsOutliveTheirNodeAndMayComeBeforeIt) {
  Ledger ledger;
  ledger.SetPod(PodOf(kPod));
  EXPECT_FALSE(ledger.nodes().Find("a").has_value());
  const NodeRow row = ledger.SetNode(NodeOf(kNode));
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 500);

  ledger.RemoveNode("a");
  EXPECT_FALSE(ledger.nodes().Find("a").has_value());
  EXPECT_EQ(ledger.pods(), 1U);
  EXPECT_EQ(ledger.SetNode(NodeOf(kNode)), row) << "its pods still hold the row";
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 500);

  ledger.RemoveNode("a");
  ledger.RemovePod("p");
  EXPECT_EQ(ledger.SetNode(NodeOf("{metadata: {name: other}}")), row) << "free rows are reused";
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 0);
  EXPECT_EQ(ledger.nodes().allocatable(kCpuId)[row], 0);
}

TEST(LedgerTest, APodThatIsResizedIsChargedTheMost) {
  Ledger ledger;
  const NodeRow row = ledger.SetNode(NodeOf(kNode));
  ledger.SetPod(PodOf(R"({metadata: {name: p}, spec: {nodeName: a, containers: [
      {name: c, resources: {requests: {cpu: 500m}}}]}, status: {containerStatuses: [
      {name: c, allocatedResources: {cpu: 500m}, resources: {requests: {cpu: 800m}}}]}})"));
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 800);
  ledger.SetPod(PodOf(R"({metadata: {name: p}, spec: {nodeName: a, containers: [
      {name: c, resources: {requests: {cpu: 500m}}}]}, status: {containerStatuses: [
      {name: c, allocatedResources: {cpu: 500m}, resources: {requests: {cpu: 500m}}}]}})"));
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 500);
}

struct Heard final : LedgerListener {
  void OnNodeAdded(NodeRow) override { text += "+node "; }
  void OnNodeChanged(NodeRow, const NodeChanges&) override { text += "~node "; }
  void OnNodeRemoved(NodeRow) override { text += "-node "; }
  void OnPodAdded(const PodInfo& pod) override { text += "+" + pod.uid() + " "; }
  void OnPodRemoved(const PodInfo& pod) override { text += "-" + pod.uid() + " "; }
  std::string text;
};

TEST(LedgerTest, ListenersHearOfWhatMattersOnly) {
  Ledger ledger;
  Heard heard;
  ledger.AddListener(heard);
  ledger.SetNode(NodeOf(kNode));
  ledger.SetNode(NodeOf(kNode));  // nothing changed
  ledger.SetNode(NodeOf("{metadata: {name: a, labels: {zone: x}}}"));
  ledger.SetPod(PodOf(kPod));
  ledger.SetPod(PodOf(kPod));
  ledger.RemovePod("p");
  ledger.RemoveNode("a");
  EXPECT_EQ(heard.text, "+node ~node +p -p -node ");
}

// Whatever happened before, the ledger is what a list of the present cluster makes it.
TEST(LedgerTest, EqualsOneThatIsFilledFromLists) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Ledger ledger;
    std::map<std::string, std::shared_ptr<const kube::Node>> nodes;
    std::map<std::string, std::shared_ptr<const kube::Pod>> pods;
    for (int step = 0; step < 200; ++step) {
      const std::string node = fmt::format("n{}", random.Below(4));
      const std::string name = fmt::format("p{}", random.Below(12));
      switch (random.Below(5)) {
        case 0:
          nodes[node] =
              NodeOf(fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: "
                                 "{{cpu: '{}'}}}}}}",
                                 node, random.Below(8)));
          ledger.SetNode(nodes[node]);
          break;
        case 1:
          if (nodes.erase(node) > 0) ledger.RemoveNode(node);
          break;
        case 2:
        case 3: {
          if (pods.contains(name)) break;
          const auto pending = Unassigned(name);
          const auto row = ledger.nodes().Find(node);
          if (row && random.Chance(0.7)) {
            ASSERT_TRUE(ledger.Assume(pending, ledger.shapes().Of(pending), *row).ok());
          }
          if (random.Chance(0.3) && ledger.Forget(name)) break;  // the binding failed
          kube::Pod bound = *pending;
          bound.spec.node_name = node;
          pods[name] = std::make_shared<const kube::Pod>(std::move(bound));
          ledger.SetPod(pods[name]);
          break;
        }
        default:
          if (pods.erase(name) > 0) ledger.RemovePod(name);
      }
    }
    Ledger fresh;
    for (const auto& [name, node] : nodes) fresh.SetNode(node);
    for (const auto& [name, pod] : pods) fresh.SetPod(pod);
    ASSERT_EQ(ledger.Fingerprint(), fresh.Fingerprint()) << "seed " << seed;
    ASSERT_EQ(ledger.assumed(), 0U);
  }
}

}  // namespace
}  // namespace koord::scheduler::ledger_test
