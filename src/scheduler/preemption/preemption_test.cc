#include "scheduler/preemption/preemption.h"

#include <gtest/gtest.h>

#include <functional>

#include "scheduler/testing/idle_handle.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::preemption_test {
namespace {

// Rules that can be set one by one.
class ToldRules final : public PreemptionRules, public ReprieveTest {
 public:
  std::vector<NodeRow> RowsToTry(const Diagnosis& diagnosis) const override {
    return rows.empty() ? PreemptionRules::RowsToTry(diagnosis) : rows;
  }
  bool IsChoosy(const PodShape&) const override { return may_evict != nullptr; }
  bool MayEvict(const PodShape& preemptor, const PodInfo& victim) const override {
    return may_evict == nullptr || may_evict(preemptor, victim);
  }
  ReprieveTest* TestFor(const PodShape&) override { return may_keep < 0 ? nullptr : this; }
  PreemptionOrder order() const override { return told_order; }
  uint64_t VersionFor(const PodShape&) const override { return version; }

  // Lets no more than `may_keep` of the potential victims of a node stay.
  void Begin() override { kept_ = removed_ = 0; }
  void Remove(const PodInfo&) override { ++removed_; }
  bool GiveBack(const PodInfo&) override {
    EXPECT_LT(kept_, removed_);
    if (kept_ == may_keep) return false;
    ++kept_;
    return true;
  }

  std::vector<NodeRow> rows;
  std::function<bool(const PodShape&, const PodInfo&)> may_evict;
  int may_keep = -1;
  PreemptionOrder told_order;
  uint64_t version = 1;

 private:
  int kept_ = 0;
  int removed_ = 0;
};

// Nodes on which a pod fits if no more than `room_` others are there.
class PreemptionTest : public testing::Test, protected IdleHandle {
 protected:
  RowVerdict CheckRow(PodQuery& query, const RowView& row) override {
    RowDelta seen = row.delta != nullptr ? *row.delta : RowDelta();
    for (const PodInfo* pod : bed_.ledger.nodes().pods(row.row)) {
      if (query.IsAbsent(*pod)) seen.Add({.removed = {pod}});
    }
    return RowView{row.row, &seen}.PodCount(bed_.ledger.nodes()) <= room_
               ? RowVerdict{}
               : RowVerdict::Unschedulable(full_);
  }
  void Preempt(const Attempt&, const std::string& node, std::vector<PodPtr> victims,
               PreemptDone) override {
    evicted_ = node + ":";
    for (const PodPtr& victim : victims) evicted_ += " " + victim->metadata.name;
  }

  void AddNode(std::string_view name) {
    bed_.AddNode(fmt::format("{{metadata: {{name: {}}}}}", name));
  }
  void AddPod(std::string_view node, std::string_view name, int priority,
              std::string_view metadata = "") {
    bed_.AddPod(
        fmt::format("{{metadata: {{name: {1}, {3}}}, spec: {{nodeName: {0}, priority: {2}}}}}",
                    node, name, priority, metadata));
  }

  // A pod of priority 10 fails on all nodes: what is said, or "node: victims".
  std::string Fail(const Verdict& pre_filter = {}, const std::vector<const PodInfo*>& absent = {}) {
    if (!preemption_) preemption_.emplace(context_, rules_, CandidateCount{});
    const auto pod = PodOf("{metadata: {name: new}, spec: {priority: 10}}");
    const Attempt attempt{.pod = pod, .shape = bed_.ledger.shapes().Of(pod), .profile = ""};
    shape_ = attempt.shape;
    PodQuery query(attempt.shape, bed_.ledger.nodes(), 0);
    query.SetAbsent(absent, 1);
    DiagnosisTable rows;
    rows.Reset(pre_filter.ok() ? bed_.ledger.nodes().rows() : 0);
    for (NodeRow row{0}; row < rows.rows(); ++row) {
      rows.Set(row, {.verdict = RowVerdict::Unschedulable(full_)});
    }
    evicted_.clear();
    const PostFilterResult result = preemption_->Run(
        attempt, query,
        {.nodes = bed_.ledger.nodes().rows(), .pre_filter = pre_filter, .rows = rows});
    return result.verdict.ok() ? evicted_ : result.verdict.Message();
  }

  PluginBed bed_;
  ReasonId full_ = bed_.reasons.Intern("full");
  int64_t room_ = 0;
  PluginContext context_ = [this] {
    PluginContext context = bed_.context;
    context.handle = this;
    return context;
  }();
  ToldRules rules_;
  std::optional<Preemption> preemption_;
  ShapePtr shape_;  // of the pod, so that it is the same one each time
  std::string evicted_;
};

TEST_F(PreemptionTest, AReservationIsNobodysVictim) {
  AddNode("a");
  AddPod("a", "r", 0, "annotations: {scheduling.koordinator.sh/reserve-pod: 'true'}");
  EXPECT_EQ(Fail(),
            "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.");
  room_ = 1;
  AddPod("a", "p", 0);
  EXPECT_EQ(Fail(), "a: p") << "although both are as important";
}

TEST_F(PreemptionTest, APodThatOnlySaysSoIsNoReservation) {
  AddNode("a");
  AddPod("a", "p", 0, "uid: '7', annotations: {scheduling.koordinator.sh/reserve-pod: 'true'}");
  EXPECT_EQ(Fail(), "a: p");
}

// What a reservation holds is not the preemptor's, whoever goes: unless it may use it itself.
TEST_F(PreemptionTest, PodsInsideOfAReservationGoOnlyForThoseWhoMayUseItToo) {
  AddNode("a");
  AddPod("a", "r", 100,
         "annotations: {scheduling.koordinator.sh/reserve-pod: 'true', "
         "scheduling.koordinator.sh/reservation-name: r}");
  AddPod("a", "inside", 0,
         "annotations: {scheduling.koordinator.sh/reservation-allocated: "
         "'{\"name\":\"r\",\"uid\":\"r\"}'}");
  EXPECT_EQ(Fail(),
            "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.");
  const PodInfo* const reserve_pod = bed_.ledger.Find("r");
  bed_.ledger.nodes().Touch(NodeRow(0));
  EXPECT_EQ(Fail({}, {reserve_pod}), "a: inside");
  // An outsider goes for outsiders, and the insider stays.
  AddPod("a", "outside", 0);
  room_ = 1;
  EXPECT_EQ(Fail(), "a: outside");
  // The reservation has ended: whoever used it is a pod like others.
  bed_.ledger.RemovePod("r");
  bed_.ledger.RemovePod("outside");
  room_ = 0;
  EXPECT_EQ(Fail(), "a: inside");
}

TEST_F(PreemptionTest, RulesChooseWhoMayBeEvictedForWhom) {
  AddNode("a");
  for (const char* name : {"one", "two", "three"}) AddPod("a", name, 0);
  room_ = 2;
  rules_.may_evict = [](const PodShape&, const PodInfo& pod) { return pod.uid() == "two"; };
  EXPECT_EQ(Fail(), "a: two");
  room_ = 1;
  bed_.ledger.nodes().Touch(NodeRow(0));
  EXPECT_EQ(Fail(), "preemption: 0/1 nodes are available: 1 full.") << "two must go";
}

TEST_F(PreemptionTest, BudgetsOfPodsThatMayNotBeEvictedDoNotCount) {
  AddNode("a");
  AddNode("b");
  constexpr const char* kGuarded = "labels: {app: guarded}";
  for (const char* node : {"a", "b"}) {
    AddPod(node, fmt::format("old-{}", node), 5, kGuarded);
    AddPod(node, fmt::format("new-{}", node), 0, kGuarded);
  }
  room_ = 1;
  bed_.objects.disruption_budgets.Set(FromYaml<kube::PodDisruptionBudget>(
      "{metadata: {name: b, namespace: default}, spec: {selector: {matchLabels: {app: guarded}}}, "
      "status: {disruptionsAllowed: 1}}"));
  // On a, the budget is used up by the more important pod; on b only the other one may go.
  rules_.may_evict = [](const PodShape&, const PodInfo& pod) { return pod.uid() != "old-b"; };
  EXPECT_EQ(Fail(), "b: new-b");
}

TEST_F(PreemptionTest, AVictimThatTheFiltersSpareMayHaveToGoByARule) {
  AddNode("a");
  for (const char* name : {"one", "three", "two"}) AddPod("a", name, 0);
  room_ = 2;
  EXPECT_EQ(Fail(), "a: two");
  rules_.may_keep = 1;
  rules_.version = 2;
  EXPECT_EQ(Fail(), "a: three two");
  rules_.may_keep = 0;
  rules_.version = 3;
  EXPECT_EQ(Fail(), "a: one three two");
}

TEST_F(PreemptionTest, WhatWasFoundIsKeptWhileTheRulesStay) {
  AddNode("a");
  AddPod("a", "p", 0);
  rules_.may_evict = [](const PodShape&, const PodInfo&) { return false; };
  const std::string no = Fail();
  rules_.may_evict = [](const PodShape&, const PodInfo&) { return true; };
  EXPECT_EQ(Fail(), no) << "nothing is said to have changed";
  rules_.version = 2;
  EXPECT_EQ(Fail(), "a: p");
  rules_.version = 0;
  rules_.may_evict = [](const PodShape&, const PodInfo&) { return false; };
  EXPECT_EQ(Fail(), no) << "nothing is kept";
}

class PreemptionOrderTest : public PreemptionTest {
 protected:
  void SetUp() override {
    AddNode("a");
    AddNode("b");
    AddPod("a", "few", 5);
    AddPod("b", "many-1", 0);
    AddPod("b", "many-2", 0);
  }
};

TEST_F(PreemptionOrderTest, TheLeastImportantVictimsAreChosen) {
  EXPECT_EQ(Fail(), "b: many-1 many-2");
}

TEST_F(PreemptionOrderTest, RulesMayPreferOtherNodes) {
  rules_.told_order = {
      .is_cheaper = [](const PreemptionCost& a,
                       const PreemptionCost& b) { return a.victims < b.victims; },
      .stays_dearer = [](const PreemptionCost& a,
                         const PreemptionCost& b) { return a.victims > b.victims; }};
  EXPECT_EQ(Fail(), "a: few");
}

TEST_F(PreemptionTest, RulesSayWhichNodesAreTried) {
  AddNode("a");
  AddPod("a", "p", 0);
  const Verdict rejected = Verdict::Unschedulable("too much for its quota");
  EXPECT_EQ(Fail(rejected),
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
  rules_.rows = {NodeRow(0)};
  EXPECT_EQ(Fail(rejected), "a: p");
}

}  // namespace
}  // namespace koord::scheduler::preemption_test
