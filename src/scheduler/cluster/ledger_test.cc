#include "scheduler/cluster/ledger.h"

#include <gtest/gtest.h>

#include <map>

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
  EXPECT_EQ(ledger.NodeOf(*ledger.Find("p")), "a");
  const NodeRow row = ledger.SetNode(NodeOf(kNode));
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 500);
  EXPECT_EQ(ledger.Find("p")->row, row);

  ledger.RemoveNode("a");
  EXPECT_FALSE(ledger.nodes().Find("a").has_value());
  EXPECT_EQ(ledger.pods(), 1U);
  const NodeRow other = ledger.SetNode(NodeOf("{metadata: {name: other}}"));
  EXPECT_EQ(other, row) << "free rows are reused";
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[other], 0);
  EXPECT_EQ(ledger.nodes().allocatable(kCpuId)[other], 0);
  const NodeRow again = ledger.SetNode(NodeOf(kNode));
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[again], 500) << "its pod was not forgotten";

  ledger.RemoveNode("a");
  ledger.RemovePod("p");
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[ledger.SetNode(NodeOf(kNode))], 0);
}

// Whoever creates a pod may write any name into it.
TEST(LedgerTest, PodsOfNodesThatDoNotExistTakeNoRows) {
  Ledger ledger;
  ledger.SetNode(NodeOf(kNode));
  const std::string before = ledger.Fingerprint();
  const auto pod_on = [](int pod, int node) {
    return PodOf(
        fmt::format("{{metadata: {{name: p{}}}, spec: {{nodeName: made-up-{}}}}}", pod, node));
  };
  constexpr int kPods = 1000;
  for (int i = 0; i < kPods; ++i) ledger.SetPod(pod_on(i, i / 3));
  for (int i = 0; i < kPods; ++i) ledger.SetPod(pod_on(i, i / 2));  // as no API server allows
  EXPECT_EQ(ledger.pods(), size_t{kPods});
  EXPECT_EQ(ledger.nodes().rows(), 1U);
  EXPECT_EQ(ledger.NodeOf(*ledger.Find("p7")), "made-up-3");
  for (int i = 0; i < kPods; ++i) ASSERT_TRUE(ledger.RemovePod(fmt::format("p{}", i)));
  EXPECT_EQ(ledger.Fingerprint(), before);
  const NodeRow row = ledger.SetNode(NodeOf("{metadata: {name: made-up-3}}"));
  EXPECT_EQ(ledger.nodes().pod_counts()[row], 0);
}

TEST(LedgerTest, AnAssumedPodOutlivesItsNode) {
  Ledger ledger;
  const NodeRow row = ledger.SetNode(NodeOf(kNode));
  const auto pod = Unassigned();
  ASSERT_TRUE(ledger.Assume(pod, ledger.shapes().Of(pod), row).ok());
  ledger.RemoveNode("a");
  EXPECT_EQ(ledger.NodeOf(*ledger.Find("p")), "a");
  ledger.SetPod(PodOf(kPod));  // it was bound all the same
  EXPECT_EQ(ledger.assumed(), 0U);
  const NodeRow again = ledger.SetNode(NodeOf(kNode));
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[again], 500);
  EXPECT_FALSE(ledger.Forget("p"));
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
  ledger.SetPod(PodOf(kPod));
  ledger.RemoveNode("a");
  ledger.SetPod(PodOf(kPod));  // nobody hears of pods without a node
  ledger.SetNode(NodeOf(kNode));
  EXPECT_EQ(heard.text, "+node ~node +p -p +p -p -node +node +p ");
}

// The ledger as its listeners know it, and the order of the pods of each row.
class Mirror final : public LedgerListener {
 public:
  explicit Mirror(Ledger& ledger) : ledger_(ledger) { ledger.AddListener(*this); }

  void OnPodAdded(const PodInfo& pod) override {
    EXPECT_TRUE(pods_.emplace(pod.uid(), pod.row).second) << pod.uid() << " was there";
  }
  void OnPodRemoved(const PodInfo& pod) override {
    EXPECT_EQ(pods_.erase(pod.uid()), 1u) << pod.uid() << " was not there";
  }
  std::string Print() const {
    std::string text = ledger_.Fingerprint();
    for (const auto& [uid, row] : pods_) text += fmt::format("{} at {}\n", uid, uint32_t{row});
    for (NodeRow row{0}; row < ledger_.nodes().rows(); ++row) {
      for (const PodInfo* pod : ledger_.nodes().pods(row)) text += pod->uid() + " ";
      text += "\n";
    }
    return text + fmt::format("assumed {}", ledger_.assumed());
  }

 private:
  const Ledger& ledger_;
  std::map<std::string, NodeRow> pods_;
};

TEST(LedgerTest, RollingBackTakesChargesBackInReverse) {
  Ledger ledger;
  const NodeRow row = ledger.SetNode(NodeOf(kNode));
  ledger.SetPod(PodOf(kPod));
  Heard heard;
  ledger.AddListener(heard);
  const auto savepoint = ledger.Mark();
  ledger.RemovePod("p");
  const auto q = Unassigned("q");
  ASSERT_TRUE(ledger.Assume(q, ledger.shapes().Of(q), row).ok());
  EXPECT_EQ(ledger.Find("p"), nullptr);
  ledger.RollBack(savepoint);
  EXPECT_EQ(heard.text, "-p +q -q +p ");
  EXPECT_EQ(ledger.Find("q"), nullptr);
  EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 500);
  EXPECT_EQ(ledger.assumed(), 0u);
  EXPECT_TRUE(ledger.RemovePod("p")) << "it is booked as ever";
}

TEST(LedgerTest, WhatIsKeptStandsUnlessTheSavepointAroundItIsRolledBack) {
  for (const bool keep : {true, false}) {
    Ledger ledger;
    const NodeRow row = ledger.SetNode(NodeOf(kNode));
    const auto outer = ledger.Mark();
    const auto inner = ledger.Mark();
    const auto pod = Unassigned();
    ASSERT_TRUE(ledger.Assume(pod, ledger.shapes().Of(pod), row).ok());
    ledger.Keep(inner);
    EXPECT_NE(ledger.Find("p"), nullptr);
    if (keep) {
      ledger.Keep(outer);
    } else {
      ledger.RollBack(outer);
    }
    EXPECT_EQ(ledger.Find("p") != nullptr, keep);
    ledger.SetPod(PodOf(kPod));  // as it would be without savepoints
    EXPECT_EQ(ledger.nodes().requested(kCpuId)[row], 500);
  }
}

TEST(LedgerTest, RollingBackPutsAPodBackWhoseNodeIsGone) {
  Ledger ledger;
  ledger.SetNode(NodeOf(kNode));
  ledger.SetPod(PodOf(kPod));
  ledger.RemoveNode("a");
  const std::string before = ledger.Fingerprint();
  const auto savepoint = ledger.Mark();
  ledger.RemovePod("p");
  EXPECT_NE(ledger.Fingerprint(), before);
  ledger.RollBack(savepoint);
  EXPECT_EQ(ledger.Fingerprint(), before);
}

TEST(LedgerTest, RollingBackMakesItWhatItWasWhateverWasTried) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Ledger ledger;
    Mirror mirror(ledger);
    const auto rows =
        std::vector{ledger.SetNode(NodeOf(kNode)), ledger.SetNode(NodeOf("{metadata: {name: b}}"))};
    for (int i = 0; i < 6; ++i) {
      ledger.SetPod(
          PodOf(fmt::format("{{metadata: {{name: seen-{}}}, spec: {{priority: {}, "
                            "nodeName: {}}}}}",
                            i, random.Below(3), random.Chance(0.5) ? "a" : "gone")));
    }
    const auto anything = [&] {
      for (uint64_t steps = random.Below(10); steps > 0; --steps) {
        const auto pod = Unassigned(fmt::format("new-{}", random.Below(4)));
        switch (random.Below(3)) {
          case 0:
            (void)ledger.Assume(pod, ledger.shapes().Of(pod), rows[random.Below(rows.size())]);
            break;
          case 1:
            ledger.Forget(pod->metadata.uid);
            break;
          case 2:
            ledger.RemovePod(fmt::format("seen-{}", random.Below(6)));
            break;
        }
      }
    };
    anything();
    const std::string before = mirror.Print();
    const auto outer = ledger.Mark();
    anything();
    const std::string between = mirror.Print();
    const auto inner = ledger.Mark();
    anything();
    ledger.RollBack(inner);
    ASSERT_EQ(mirror.Print(), between) << "seed " << seed;
    anything();
    ledger.RollBack(outer);
    ASSERT_EQ(mirror.Print(), before) << "seed " << seed;
  }
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
