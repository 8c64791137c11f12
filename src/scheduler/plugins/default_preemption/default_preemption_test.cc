#include "scheduler/plugins/default_preemption/default_preemption.h"

#include <gtest/gtest.h>

#include "scheduler/testing/idle_handle.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::default_preemption_test {
namespace {

constexpr const char* kWaits =
    "preemption: not eligible due to a terminating pod on the nominated node.";
constexpr const char* kLeaves =
    "{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler}";

// One node that is full until its pod is gone, and a pod of priority 10 that wants it.
class DefaultPreemptionTest : public testing::Test, protected IdleHandle {
 protected:
  RowVerdict CheckRow(PodQuery&, const RowView& row) override {
    if (lacks_volume_) return RowVerdict::Unresolvable(no_volume_);
    return row.PodCount(bed_.ledger.nodes()) == 0 ? RowVerdict{} : RowVerdict::Unschedulable(full_);
  }
  uint64_t RowsVersion(PodQuery&) override { return rows_version_; }
  void Preempt(const Attempt&, const std::string&, std::vector<PodPtr> victims,
               PreemptDone done) override {
    for (const PodPtr& victim : victims) evicted_ += victim->metadata.name + " ";
    done_ = std::move(done);
  }
  void ForEachWaiting(const std::function<void(const Attempt&)>& visit) override {
    for (const Attempt& attempt : waiting_) visit(attempt);
  }
  void Activate(const std::vector<kube::ObjectKey>& pods) override { activated_ += pods.size(); }
  std::string NominatedNodeOf(const kube::Pod&) override { return promised_; }

  void SetUp() override { bed_.AddNode("{metadata: {name: a}}"); }

  // A pod on the node; the parts of its metadata and status that matter.
  void SetVictim(int priority, bool is_deleted, const char* condition = "") {
    bed_.AddPod(fmt::format(
        "{{metadata: {{name: victim{}}}, spec: {{nodeName: a, priority: {}}}, "
        "status: {{conditions: [{}]}}}}",
        is_deleted ? ", deletionTimestamp: '2026-07-01T00:00:00Z'" : "", priority, condition));
  }

  // The pod fails on the node: what is said, and who is evicted.
  std::string Fail(Code code = Code::kUnschedulable, const char* policy = "",
                   const char* metadata = "{name: new}") {
    const auto pod =
        PodOf(fmt::format("{{metadata: {}, spec: {{priority: 10{}}}}}", metadata, policy));
    shape_ = bed_.ledger.shapes().Of(pod);
    Attempt attempt{.pod = pod, .shape = shape_, .profile = ""};
    PodQuery query(attempt.shape, bed_.ledger.nodes(), 0);
    DiagnosisTable rows;
    rows.Reset(1);
    rows.Set(NodeRow(0),
             {.verdict = code == Code::kUnschedulable ? RowVerdict::Unschedulable(full_)
                                                      : RowVerdict::Unresolvable(full_)});
    const PostFilterResult result = plugin_.PostFilter(attempt, query, {.nodes = 1, .rows = rows});
    if (result.verdict.ok()) promised_ = result.nominated_node.value_or("");
    return result.verdict.Message() + std::exchange(evicted_, "");
  }
  bool IsGated() {
    return !plugin_.PreEnqueue(*PodOf("{metadata: {name: new}, spec: {priority: 10}}")).ok();
  }

  PluginBed bed_;
  ReasonId full_ = bed_.reasons.Intern("full");
  ReasonId no_volume_ = bed_.reasons.Intern("no volume");
  bool lacks_volume_ = false;
  uint64_t rows_version_ = 1;
  PluginContext context_ = [this] {
    PluginContext context = bed_.context;
    context.handle = this;
    return context;
  }();
  DefaultPreemption plugin_{context_, {}};
  ShapePtr shape_;  // of the pod, so that it is the same one each time
  std::string promised_;
  std::string evicted_;
  size_t activated_ = 0;
  std::vector<Attempt> waiting_;
  PreemptDone done_;
};

TEST_F(DefaultPreemptionTest, AReservationEvictsNobody) {
  SetVictim(0, false);
  EXPECT_EQ(Fail(Code::kUnschedulable, "",
                 "{name: r, uid: r, annotations: {scheduling.koordinator.sh/reserve-pod: 'true'}}"),
            "");
  EXPECT_FALSE(plugin_.MightHelp(*shape_, NodeRow(0), Code::kUnschedulable));
  EXPECT_EQ(Fail(), "victim ");
}

TEST_F(DefaultPreemptionTest, ChecksWhetherThePodMayPreempt) {
  struct Case {
    const char* name;
    const char* promised;
    int priority;
    bool is_deleted;
    const char* condition;
    Code code;
    const char* says;
  };
  const Code kFull = Code::kUnschedulable;
  const char* const kNoHelp =
      "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
  const char* const kNoVictims =
      "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
  const Case cases[] = {
      {"its victim leaves", "a", 0, true, kLeaves, kFull, kWaits},
      {"nothing is promised", "", 0, true, kLeaves, kFull, "victim "},
      {"a node is promised that is gone", "gone", 0, true, kLeaves, kFull, "victim "},
      {"the promise cannot be kept", "a", 0, true, kLeaves, Code::kUnschedulableAndUnresolvable,
       kNoHelp},
      {"an equal leaves", "a", 10, true, kLeaves, kFull, kNoVictims},
      {"a user has deleted it", "a", 0, true, "", kFull, "victim "},
      {"an eviction has deleted it", "a", 0, true,
       "{type: DisruptionTarget, status: 'True', reason: EvictionByEvictionAPI}", kFull, "victim "},
      {"it was spared", "a", 0, true,
       "{type: DisruptionTarget, status: 'False', reason: PreemptionByScheduler}", kFull,
       "victim "},
      {"it is not deleted yet", "a", 0, false, kLeaves, kFull, "victim "},
  };
  for (const Case& each : cases) {
    promised_ = each.promised;
    SetVictim(each.priority, each.is_deleted, each.condition);
    EXPECT_EQ(Fail(each.code), each.says) << each.name;
    bed_.ledger.RemovePod("victim");
  }
  SetVictim(0, false);
  EXPECT_EQ(Fail(kFull, ", preemptionPolicy: Never"),
            "preemption: not eligible due to preemptionPolicy=Never.");
}

TEST_F(DefaultPreemptionTest, TriesNodesAgainWhenTheFiltersKnowMore) {
  const char* const kNoVolume = "preemption: 0/1 nodes are available: 1 no volume.";
  SetVictim(0, false);
  lacks_volume_ = true;
  EXPECT_EQ(Fail(), kNoVolume);
  lacks_volume_ = false;
  EXPECT_EQ(Fail(), kNoVolume) << "nothing is said to have changed";
  rows_version_ = 2;
  EXPECT_EQ(Fail(), "victim ");
}

TEST_F(DefaultPreemptionTest, DoesNotEvictTwiceWhileTheWatchLags) {
  SetVictim(0, false);
  EXPECT_EQ(Fail(), "victim ");
  EXPECT_TRUE(IsGated());
  done_(true);
  EXPECT_FALSE(IsGated());
  EXPECT_EQ(activated_, 1u);
  EXPECT_EQ(Fail(), kWaits) << "the API server knows that it leaves";
  SetVictim(0, true, kLeaves);
  EXPECT_EQ(Fail(), kWaits);
  SetVictim(0, true);
  EXPECT_EQ(Fail(), "victim ") << "what the watch shows counts";
}

TEST_F(DefaultPreemptionTest, TriesAgainAfterAPauseIfAVictimCouldNotBeTold) {
  SetVictim(0, false);
  EXPECT_EQ(Fail(), "victim ");
  done_(false);
  EXPECT_TRUE(IsGated());
  EXPECT_EQ(activated_, 0u);
  bed_.loop.Advance(1s);
  EXPECT_FALSE(IsGated());
  EXPECT_EQ(activated_, 1u);
  EXPECT_EQ(Fail(), "victim ");
}

TEST_F(DefaultPreemptionTest, DoesNotWakeThePodForVictimsThatLeaveAnyway) {
  SetVictim(0, true);
  EXPECT_EQ(Fail(), "victim ");
  EXPECT_EQ(promised_, "a");
  EXPECT_FALSE(IsGated()) << "nobody is told anything";
  done_(true);
  EXPECT_EQ(activated_, 0u) << "it would find the same again and again";
}

TEST_F(DefaultPreemptionTest, AVictimThatOnlyWaitedForItsPermitDoesNotLeave) {
  SetVictim(0, false);
  waiting_.push_back(Attempt{.pod = bed_.ledger.Find("victim")->pod, .shape = {}, .profile = ""});
  EXPECT_EQ(Fail(), "victim ");
  done_(true);
  EXPECT_EQ(activated_, 1u);
  waiting_.clear();
  EXPECT_EQ(Fail(), "victim ") << "it came back and may be evicted again";
}

}  // namespace
}  // namespace koord::scheduler::default_preemption_test
