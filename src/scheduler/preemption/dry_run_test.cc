#include "scheduler/preemption/dry_run.h"

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
  struct DryRun {
    std::optional<PreemptionCost> cost;
    std::vector<const PodInfo*> victims;
    RowVerdict verdict;
  };
  DryRun Try(int priority) {
    const auto pod =
        PodOf(fmt::format("{{metadata: {{name: new}}, spec: {{priority: {}}}}}", priority));
    PodQuery query(bed_.ledger.shapes().Of(pod), bed_.ledger.nodes(), 0);
    const NodeRow row = *bed_.ledger.nodes().Find("a");
    runs_.Begin(query, *this);
    const auto trial = runs_.Try(row, nullptr);
    if (!trial) return {.cost = {}, .victims = {}, .verdict = runs_.WhyNot(row)};
    return {.cost = trial->cost, .victims = runs_.VictimsOn(row), .verdict = {}};
  }
  static std::string Names(const std::vector<const PodInfo*>& pods) {
    std::string names;
    for (const PodInfo* pod : pods) names += pod->pod->metadata.name + " ";
    return names;
  }

  void SetUp() override { bed_.AddNode("{metadata: {name: a}}"); }

  PluginBed bed_;
  ReasonId full_ = bed_.reasons.Intern("full");
  ReasonId no_victims_ = bed_.reasons.Intern("No preemption victims found for incoming pod");
  PreemptionRules rules_;
  DryRuns runs_{bed_.ledger, bed_.objects.disruption_budgets, rules_, no_victims_};
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
  EXPECT_EQ(Names(run.victims), "young ");
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
  EXPECT_EQ(Names(run.victims), "other ") << "although it is more important";
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

TEST_F(DryRunTest, HearsWhenAPodWasStarted) {
  room_ = 1;
  AddPod("early", 5, 1);
  AddPod("late", 5, 9);
  EXPECT_EQ(Names(Try(10).victims), "late ");
  AddPod("early", 5, 20);  // the same pod, of which more is known
  EXPECT_EQ(Names(Try(10).victims), "early ");
}

TEST_F(DryRunTest, FollowsBudgets) {
  AddPod("a", 5, 1, "guarded");
  const auto set = [&](const char* app, int allowed) {
    bed_.objects.disruption_budgets.Set(FromYaml<kube::PodDisruptionBudget>(fmt::format(
        "{{metadata: {{name: b, namespace: default}}, spec: {{selector: {{matchLabels: {{app: "
        "{}}}}}}}, status: {{disruptionsAllowed: {}}}}}",
        app, allowed)));
  };
  set("guarded", 0);
  EXPECT_EQ(Try(10).cost->violations, 1);
  set("guarded", 1);
  EXPECT_EQ(Try(10).cost->violations, 0) << "it allows one more";
  set("guarded", 0);
  EXPECT_EQ(Try(10).cost->violations, 1);
  set("other", 0);
  EXPECT_EQ(Try(10).cost->violations, 0) << "it guards others";
  set("guarded", 0);
  bed_.objects.disruption_budgets.Remove({"default", "b"});
  EXPECT_EQ(Try(10).cost->violations, 0) << "it is gone";
}

// Filters that can be taken apart, and the same filters asked one by one.
class RoomTest : public testing::TestWithParam<int>, protected IdleHandle {
 protected:
  static constexpr int64_t kCpu = 4000, kPlaces = 8;

  RowVerdict CheckRow(PodQuery& query, const RowView& row) override {
    ++asked_;
    const NodeTable& nodes = bed_.ledger.nodes();
    bool fits = suits_ && row.PodCount(nodes) + 1 <= kPlaces;
    for (const ResourceAmount& each : query.shape().requests) {
      fits &= row.Requested(nodes, each.id) + each.amount <= nodes.allocatable(each.id)[row.row];
    }
    return fits ? RowVerdict{} : RowVerdict::Unschedulable(0);
  }
  const RowNeeds* NeedsOf(PodQuery& query) override {
    if (!taken_apart_) return nullptr;
    const NodeTable& nodes = bed_.ledger.nodes();
    needs_ = {.suits = {suits_ ? uint8_t{1} : uint8_t{0}},
              .room = {},
              .places_left = {kPlaces - nodes.pod_counts()[0] - 1},
              .shared = {0},
              .complete = true};
    for (const ResourceAmount& each : query.shape().requests) {
      needs_.room.push_back(
          {each.id, {nodes.allocatable(each.id)[0] - nodes.requested(each.id)[0] - each.amount}});
    }
    return &needs_;
  }

  // What comes of it, and why not.
  std::string Try(PodQuery& query, bool taken_apart) {
    taken_apart_ = taken_apart;
    asked_ = 0;
    runs_.Begin(query, *this);
    const auto trial = runs_.Try(NodeRow(0), nullptr);
    EXPECT_TRUE(!taken_apart || asked_ == 0) << "no filter is asked";
    if (!trial) return fmt::format("no {}", runs_.WhyNot(NodeRow(0)).reasons[0]);
    EXPECT_FALSE(trial->is_part);
    std::string text = Text(trial->cost);
    for (const PodInfo* victim : runs_.VictimsOn(NodeRow(0))) text += " " + victim->uid();
    ExpectToStopRightly(trial->cost);
    return text;
  }
  static std::string Text(const PreemptionCost& cost) {
    return fmt::format("{} {} {} {} {}:", cost.violations, cost.highest_priority, cost.priority_sum,
                       cost.victims, cost.earliest_start.time_since_epoch().count());
  }
  // With others that cost less, about the same, and more.
  void ExpectToStopRightly(const PreemptionCost& whole) {
    for (const int violations : {-1, 0, 1}) {
      for (const int priority : {-1, 0, 1}) {
        PreemptionCost least{.violations = whole.violations + violations,
                             .highest_priority = whole.highest_priority + priority,
                             .priority_sum = whole.priority_sum + priority,
                             .victims = whole.victims};
        const auto trial = runs_.Try(NodeRow(0), &least);
        ASSERT_TRUE(trial.has_value());
        EXPECT_EQ(trial->cost.violations == 0, whole.violations == 0);
        EXPECT_EQ(trial->is_part, violations < 0 || (violations == 0 && priority < 0));
        if (trial->is_part) {
          EXPECT_TRUE(StaysDearer(trial->cost, least));
          EXPECT_TRUE(IsCheaper(least, whole));
        } else {
          EXPECT_EQ(Text(trial->cost), Text(whole));
        }
      }
    }
  }

  PluginBed bed_;
  PreemptionRules rules_;
  DryRuns runs_{bed_.ledger, bed_.objects.disruption_budgets, rules_, 7};
  RowNeeds needs_;
  bool taken_apart_ = false;
  bool suits_ = true;
  size_t asked_ = 0;
};

TEST_P(RoomTest, AddingUpIsAsGoodAsAsking) {
  Random random(static_cast<uint64_t>(GetParam()));
  const auto below = [&](uint64_t n) { return random.Below(n); };
  bed_.AddNode(
      fmt::format("{{metadata: {{name: a}}, status: {{allocatable: {{cpu: {}m, memory: 8Gi, "
                  "example.com/card: 4, pods: {}}}}}}}",
                  kCpu, kPlaces));
  size_t helped = 0;
  for (int step = 0; step < 60; ++step) {
    suits_ = below(10) != 0;
    bed_.objects.disruption_budgets.Set(FromYaml<kube::PodDisruptionBudget>(fmt::format(
        "{{metadata: {{name: b{0}, namespace: default}}, spec: {{selector: {{matchLabels: {{app: "
        "app{1}}}}}}}, status: {{disruptionsAllowed: {2}, disruptedPods: {{p{3}: "
        "'2026-07-01T00:00:00Z'}}}}}}",
        below(4), below(3), below(2), below(8))));
    const uint64_t name = below(8);
    if (below(3) == 0) {
      bed_.ledger.RemovePod(fmt::format("p{}", name));
    } else {
      bed_.AddPod(fmt::format(
          "{{metadata: {{name: p{}, labels: {{app: app{}}}}}, spec: {{nodeName: a, priority: {}, "
          "containers: [{{name: c, resources: {{requests: {{cpu: {}m, memory: {}Gi, "
          "example.com/card: {}}}}}}}]}}, status: {{startTime: '2026-07-01T00:00:{:02}Z'}}}}",
          name, below(3), below(4), below(1500), below(3), below(3), below(60)));
    }
    const auto pod = PodOf(fmt::format(
        "{{metadata: {{name: new}}, spec: {{priority: {}, containers: [{{name: c, resources: "
        "{{requests: {{cpu: {}m, memory: {}Gi, example.com/card: {}}}}}}}]}}}}",
        below(5), below(4500), below(9), below(5)));
    PodQuery query(bed_.ledger.shapes().Of(pod), bed_.ledger.nodes(), 0);
    const std::string asked = Try(query, false);
    EXPECT_EQ(Try(query, true), asked) << "step " << step;
    helped += asked.starts_with("no") ? 0 : 1;
  }
  EXPECT_GT(helped, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoomTest, testing::Range(0, 20));

PreemptionCost Cost(int violations, const std::vector<int>& priorities, int earliest = 0) {
  PreemptionCost cost{.violations = violations};
  for (const int priority : priorities) {
    cost.Add(priority, VirtualLoop::kStart + std::chrono::seconds(earliest));
  }
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

TEST_F(DryRunTest, WhatStandsForAReservationIsNoVictim) {
  room_ = 0;
  bed_.AddPod(
      "{metadata: {name: r, annotations: {scheduling.koordinator.sh/reserve-pod: 'true'}}, spec: "
      "{nodeName: a}}");
  const DryRun run = Try(10);
  ASSERT_FALSE(run.cost.has_value());
  EXPECT_EQ(run.verdict.reasons[0], no_victims_);
}

}  // namespace
}  // namespace koord::scheduler::dry_run_test
