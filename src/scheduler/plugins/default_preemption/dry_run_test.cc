#include "scheduler/plugins/default_preemption/dry_run.h"

#include <gtest/gtest.h>

#include "scheduler/testing/idle_handle.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::dry_run_test {
namespace {

class DryRunTest : public testing::Test, protected IdleHandle {
 protected:
  // A pod fits if no more than `room` others are on the node.
  RowVerdict CheckRow(PodQuery&, const RowView& row) override {
    return row.PodCount(bed_.ledger.nodes()) <= room_ ? RowVerdict{}
                                                      : RowVerdict::Unschedulable(full_);
  }

  void AddPod(std::string_view name, int priority, int started, std::string_view app = "x") {
    bed_.AddPod(
        fmt::format("{{metadata: {{name: {0}, labels: {{app: {3}}}}}, spec: {{nodeName: a, "
                    "priority: {1}}}, status: {{startTime: '2026-07-01T00:00:{2:02}Z'}}}}",
                    name, priority, started, app));
  }
  DryRun Try(int priority) {
    const auto pod =
        PodOf(fmt::format("{{metadata: {{name: new}}, spec: {{priority: {}}}}}", priority));
    PodQuery query(bed_.ledger.shapes().Of(pod), bed_.ledger.nodes(), 0);
    return TryNode(query, *bed_.ledger.nodes().Find("a"), bed_.ledger.nodes(), budgets_, *this,
                   no_victims_);
  }
  static std::string Names(const std::vector<const PodInfo*>& pods) {
    std::string names;
    for (const PodInfo* pod : pods) names += pod->pod->metadata.name + " ";
    return names;
  }

  void SetUp() override { bed_.AddNode("{metadata: {name: a}}"); }

  PluginBed bed_;
  DisruptionBudgets budgets_{bed_.objects.disruption_budgets};
  ReasonId full_ = bed_.reasons.Intern("full");
  ReasonId no_victims_ = bed_.reasons.Intern("No preemption victims found for incoming pod");
  int64_t room_ = 0;
};

TEST_F(DryRunTest, OnlyLessImportantPodsAreVictims) {
  AddPod("equal", 10, 1);
  const DryRun run = Try(10);
  ASSERT_FALSE(run.cost.has_value());
  EXPECT_EQ(run.verdict.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(run.verdict.reasons[0], no_victims_);
}

TEST_F(DryRunTest, SaysWhyEvictingEverybodyWouldNotDo) {
  AddPod("high", 20, 1);
  AddPod("low", 0, 1);
  const DryRun run = Try(10);
  ASSERT_FALSE(run.cost.has_value());
  EXPECT_EQ(run.verdict.code, Code::kUnschedulable);
}

TEST_F(DryRunTest, ReprievesTheMostImportantFirst) {
  room_ = 2;
  AddPod("old", 5, 1);
  AddPod("young", 5, 9);
  AddPod("high", 7, 5);
  const DryRun run = Try(10);
  ASSERT_TRUE(run.cost.has_value());
  EXPECT_EQ(Names(run.cost->victims), "young ");
  EXPECT_EQ(run.cost->violations, 0);
}

TEST_F(DryRunTest, SparesThoseWhoseBudgetWouldBreak) {
  room_ = 1;
  AddPod("guarded", 1, 9, "guarded");
  AddPod("other", 5, 1);
  bed_.objects.disruption_budgets.Set(FromYaml<kube::PodDisruptionBudget>(
      "{metadata: {name: b, namespace: default}, spec: {selector: {matchLabels: {app: guarded}}}, "
      "status: {disruptionsAllowed: 0}}"));
  const DryRun run = Try(10);
  ASSERT_TRUE(run.cost.has_value());
  EXPECT_EQ(Names(run.cost->victims), "other ") << "although it is more important";
  room_ = 0;
  EXPECT_EQ(Try(10).cost->violations, 1);
}

TEST_F(DryRunTest, ABudgetIsUsedUpByTheMoreImportant) {
  AddPod("a", 5, 1, "guarded");
  AddPod("b", 4, 1, "guarded");
  bed_.objects.disruption_budgets.Set(FromYaml<kube::PodDisruptionBudget>(
      "{metadata: {name: b, namespace: default}, spec: {selector: {matchLabels: {app: guarded}}}, "
      "status: {disruptionsAllowed: 1}}"));
  EXPECT_EQ(Try(10).cost->violations, 1);
  bed_.objects.disruption_budgets.Set(FromYaml<kube::PodDisruptionBudget>(
      "{metadata: {name: b, namespace: default}, spec: {selector: {matchLabels: {app: guarded}}}, "
      "status: {disruptionsAllowed: 1, disruptedPods: {a: '2026-07-01T00:00:00Z'}}}"));
  EXPECT_EQ(Try(10).cost->violations, 0) << "a is on its way out already";
}

PreemptionCost Cost(int violations, const std::vector<int>& priorities, int earliest = 0) {
  PreemptionCost cost{.violations = violations};
  cost.highest_priority = priorities.front();
  for (const int priority : priorities) cost.priority_sum += priority + (int64_t{1} << 31);
  cost.victims.resize(priorities.size());
  cost.earliest_start = VirtualLoop::kStart + std::chrono::seconds(earliest);
  return cost;
}

TEST(PreemptionCostTest, ChoosesTheNodeWhoseVictimsMatterLeast) {
  const PreemptionCost n1 = Cost(1, {100});
  const PreemptionCost n2 = Cost(0, {200, 100});
  const PreemptionCost n3 = Cost(0, {200});
  EXPECT_TRUE(IsCheaper(n3, n1)) << "no budget is broken";
  EXPECT_TRUE(IsCheaper(n3, n2)) << "the sum is smaller";
  EXPECT_TRUE(IsCheaper(Cost(0, {100, 100}), n3)) << "the highest priority is lower";
  EXPECT_TRUE(IsCheaper(Cost(0, {5}, 9), Cost(0, {5}, 1))) << "it has run for less time";
  EXPECT_FALSE(IsCheaper(n3, n3));
}

}  // namespace
}  // namespace koord::scheduler::dry_run_test
