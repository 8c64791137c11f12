// Rows that look different for some pods, pods that are refused one by one, and pods that may use
// some rows only.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "scheduler/pipeline/pipeline.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::transformed_rows_test {
namespace {

// Lets pods in where their cpu is left, and prefers nodes by the whole cpus that are free.
class RoomPlugin final : public FilterPlugin, public ScorePlugin {
 public:
  RoomPlugin(const PluginContext& context, bool normalizes)
      : nodes_(context.nodes()),
        full_(context.reasons.Intern("Insufficient cpu")),
        normalizes_(normalizes) {}

  std::string_view name() const override { return normalizes_ ? "ScaledRoom" : "Room"; }
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override {
    filtered += rows.size();
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      if (!Fits(query, {row, nullptr})) keep[row - rows.begin] = 0;
    }
  }
  RowVerdict Check(const PodQuery& query, const RowView& row) override {
    ++checked;
    return Fits(query, row) ? RowVerdict() : RowVerdict::Unschedulable(full_);
  }
  PodsRead Reads(const PodQuery&) override { return PodsRead::kRoom; }
  ResourceAmounts RoomFor(const PodQuery& query) override { return query.shape().requests; }

  void Score(const PodQuery&, RowRange rows, int64_t* scores) override {
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      scores[row - rows.begin] = Free({row, nullptr}) / 1000;
    }
  }
  int64_t ScoreRow(const PodQuery&, const RowView& row) override { return Free(row) / 1000; }
  bool normalizes() const override { return normalizes_; }
  void Normalize(const PodQuery&, ScoreRange range, std::span<int64_t> scores) override {
    for (int64_t& score : scores) score = range.max == 0 ? 0 : score * 100 / range.max;
  }

  size_t filtered = 0;  // rows
  size_t checked = 0;

 private:
  int64_t Free(const RowView& row) const {
    return nodes_.allocatable(kCpuId)[row.row] - row.Requested(nodes_, kCpuId);
  }
  bool Fits(const PodQuery& query, const RowView& row) const {
    return AmountOf(query.shape().requests, kCpuId) <= Free(row);
  }

  const NodeTable& nodes_;
  const ReasonId full_;
  const bool normalizes_;
};

// Gives pods with the label `owner` the room of the reservation that it names.
class ReturnPlugin final : public FilterTransformer, public LedgerListener {
 public:
  explicit ReturnPlugin(const PluginContext& context) : book_(context.books.reservations) {
    context.ledger.AddListener(*this);
  }

  std::string_view name() const override { return "Return"; }
  std::unique_ptr<PluginState> Compile(const PodShape&) override {
    return std::make_unique<State>();
  }
  std::span<const NodeRow> TransformedRows(const PodQuery& query) override {
    return Current(query).rows;
  }
  const RowDelta* DeltaOf(const PodQuery& query, NodeRow row) override {
    State& state = Current(query);
    return std::ranges::find(state.rows, row) == state.rows.end() ? nullptr : &state.delta;
  }
  AbsentPods Absent(const PodQuery& query) override {
    return {Current(query).delta.removed, version_};
  }
  void OnPodAdded(const PodInfo&) override { ++version_; }
  void OnPodRemoved(const PodInfo&) override { ++version_; }

 private:
  struct State final : PluginState {
    uint64_t version = 0;
    std::vector<NodeRow> rows;
    RowDelta delta;
  };
  State& Current(const PodQuery& query) {
    State& state = query.state<State>(slot());
    if (state.version == version_) return state;
    state.version = version_;
    state.rows.clear();
    state.delta = {};
    const auto* entry = book_.Find(kube::ValueOf(query.shape().labels(), "owner"));
    if (entry != nullptr) {
      state.rows = {entry->reserve_pod->row};
      state.delta.removed = {entry->reserve_pod};
    }
    return state;
  }

  const ReservationBook& book_;
  uint64_t version_ = 1;
};

class AdmitByName final : public AdmitPlugin {
 public:
  std::string_view name() const override { return "AdmitByName"; }
  Verdict Admit(const kube::Pod& pod, const PodQuery&) override {
    ++asked;
    const auto found = said.find(pod.metadata.name);
    return found == said.end() ? Verdict::Success() : found->second;
  }

  std::map<std::string, Verdict> said;
  size_t asked = 0;
};

class LimitPlugin final : public PreFilterPlugin {
 public:
  std::string_view name() const override { return "Limit"; }
  PreFilterResult PreFilter(PodQuery&) override {
    PreFilterResult result;
    result.rows = rows;
    return result;
  }

  std::shared_ptr<RowLimit> rows;
};

class TransformedRowsTest : public ::testing::Test {
 protected:
  TransformedRowsTest() {
    room_ = Own(std::make_unique<RoomPlugin>(bed_.context, false));
    auto* scaled = Own(std::make_unique<RoomPlugin>(bed_.context, true));
    auto* transformer = Own(std::make_unique<ReturnPlugin>(bed_.context));
    admit_ = Own(std::make_unique<AdmitByName>());
    limit_ = Own(std::make_unique<LimitPlugin>());
    lineup_.filter = {room_};
    lineup_.score = {{room_, 1}, {scaled, 1}};
    lineup_.filter_transformers = {transformer};
    lineup_.admit = {admit_};
    lineup_.pre_filter = {limit_};
  }

  template <class T>
  T* Own(std::unique_ptr<T> plugin) {
    plugin->set_slot(lineup_.plugins.size());
    T* raw = plugin.get();
    lineup_.plugins.push_back(std::move(plugin));
    return raw;
  }
  Pipeline& pipeline() {
    if (!pipeline_) pipeline_.emplace(lineup_, bed_.ledger, nominated_, order_, bed_.random);
    return *pipeline_;
  }
  void AddNode(std::string_view name, int cpu = 10) {
    bed_.AddNode(fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: {{cpu: '{}'}}}}}}",
                             name, cpu));
  }
  void AddReservation(std::string_view name, std::string_view node, int cpu) {
    bed_.AddPod(fmt::format(
        "{{metadata: {{name: uid-of-{0}, annotations: {{scheduling.koordinator.sh/reserve-pod: "
        "'true', scheduling.koordinator.sh/reservation-name: {0}}}}}, spec: {{nodeName: {1}, "
        "containers: [{{resources: {{requests: {{cpu: {2}}}}}}}]}}}}",
        name, node, cpu));
  }
  static std::shared_ptr<const kube::Pod> Pod(std::string_view name, int cpu,
                                              std::string_view owner = "",
                                              std::string_view node = "", int priority = 0) {
    return PodOf(fmt::format(
        "{{metadata: {{name: {}, labels: {{owner: '{}'}}}}, spec: {{nodeName: '{}', priority: {}, "
        "containers: [{{resources: {{requests: {{cpu: {}}}}}}}]}}}}",
        name, owner, node, priority, cpu));
  }
  std::string Decide(const std::shared_ptr<const kube::Pod>& pod) {
    decision_ = pipeline().Decide(*pod, bed_.ledger.shapes().Of(pod));
    return decision_.placed() ? bed_.ledger.nodes().name(decision_.row) : "";
  }
  std::string Message(const std::shared_ptr<const kube::Pod>& pod) {
    const Diagnosis why = pipeline().Diagnose(*pod, bed_.ledger.shapes().Of(pod));
    return FitErrorMessage(why, bed_.reasons, "");
  }
  CompiledQuery& QueryFor(const std::shared_ptr<const kube::Pod>& pod) {
    return pipeline().QueryFor(bed_.ledger.shapes().Of(pod));
  }
  NodeRow RowOf(std::string_view node) const { return *bed_.ledger.nodes().Find(node); }
  const RowDelta Victims(std::initializer_list<std::string_view> uids) const {
    RowDelta delta;
    for (const std::string_view uid : uids) delta.removed.push_back(bed_.ledger.Find(uid));
    return delta;
  }

  PluginBed bed_;
  NominatedRows nominated_{bed_.ledger};
  NodeOrder order_{bed_.ledger};
  PluginLineup lineup_;
  RoomPlugin* room_;
  AdmitByName* admit_;
  LimitPlugin* limit_;
  std::optional<Pipeline> pipeline_;
  Decision decision_;
};

// ---- FilterTransformer

TEST_F(TransformedRowsTest, OwnersFindRoomThatStrangersDoNot) {
  AddNode("a");
  AddReservation("r", "a", 6);
  EXPECT_EQ(Decide(Pod("stranger", 5)), "");
  EXPECT_EQ(Message(Pod("stranger", 5)), "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(Decide(Pod("owner", 5, "r")), "a");
  EXPECT_EQ(Decide(Pod("large", 11, "r")), "");
  EXPECT_EQ(Message(Pod("large", 11, "r")), "0/1 nodes are available: 1 Insufficient cpu.");
}

TEST_F(TransformedRowsTest, ARowThatLooksDifferentIsLookedAtAgainWhenItIsTouched) {
  for (int i = 0; i < 20; ++i) AddNode(fmt::format("n{}", i), 1);
  AddNode("a");
  AddReservation("r", "a", 6);
  EXPECT_EQ(Decide(Pod("o1", 5, "r")), "a");
  const size_t filtered = room_->filtered;
  bed_.AddPod(
      "{metadata: {name: x}, spec: {nodeName: a, containers: [{resources: {requests: {cpu: "
      "4}}}]}}");
  EXPECT_EQ(Decide(Pod("o2", 5, "r")), "a") << "6 are left of the reservation's";
  EXPECT_EQ(room_->filtered, filtered) << "no other row was looked at, and this one by Check";
  bed_.ledger.RemovePod("uid-of-r");
  bed_.AddPod(
      "{metadata: {name: y}, spec: {nodeName: a, containers: [{resources: {requests: {cpu: "
      "4}}}]}}");
  EXPECT_EQ(Decide(Pod("o3", 5, "r")), "");
  EXPECT_EQ(room_->filtered, filtered + 2) << "twice changed, and nothing special any more";
}

TEST_F(TransformedRowsTest, DiagnosesFollowTheRowsThatAreTouched) {
  AddNode("a");
  AddNode("b", 1);
  AddReservation("r", "a", 6);
  const auto large = Pod("o", 11, "r");
  EXPECT_EQ(Message(large), "0/2 nodes are available: 2 Insufficient cpu.");
  ASSERT_TRUE(QueryFor(large).diagnosed_at().has_value());
  AddNode("a", 12);
  EXPECT_EQ(Message(large), "0/2 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(Decide(large), "a");
}

TEST_F(TransformedRowsTest, ScoresSeeWhatFiltersSee) {
  AddNode("a");
  AddNode("b", 9);
  AddReservation("r", "a", 6);
  // 4 free as it is, 10 for owners: 10 + 100 of 100, and 9 + 90 for b.
  EXPECT_EQ(Decide(Pod("stranger", 1)), "b");
  EXPECT_EQ(decision_.total, 9 + 100);
  EXPECT_EQ(Decide(Pod("owner", 1, "r")), "a");
  EXPECT_EQ(decision_.total, 10 + 100);
  // When the row is refreshed.
  bed_.AddPod(
      "{metadata: {name: x}, spec: {nodeName: a, containers: [{resources: {requests: {cpu: "
      "2}}}]}}");
  EXPECT_EQ(Decide(Pod("owner", 1, "r")), "b");
  EXPECT_EQ(decision_.total, 9 + 100);
}

TEST_F(TransformedRowsTest, ScoresAreTheSameWhereRowsAreLookedAtOneByOne) {
  AddNode("a");
  AddNode("b", 9);
  AddReservation("r", "a", 6);
  const auto owner = Pod("owner", 1, "r");
  const Pipeline::Ranking ranking = pipeline().Rank(*owner, bed_.ledger.shapes().Of(owner), 2);
  ASSERT_EQ(ranking.best.size(), 2U);
  EXPECT_EQ(ranking.best[0].row, RowOf("a"));
  EXPECT_EQ(ranking.best[0].total, 10 + 100);
  EXPECT_EQ(ranking.best[1].total, 9 + 90);
}

TEST_F(TransformedRowsTest, PodsThatArePromisedTheNodeCountBesides) {
  AddNode("a");
  AddReservation("r", "a", 6);
  const std::vector promised{Pod("vip", 7, "", "", 10)};
  nominated_.Set("a", promised);
  EXPECT_EQ(Decide(Pod("owner", 4, "r")), "") << "7 are promised";
  EXPECT_EQ(Decide(Pod("owner", 3, "r")), "a");
}

TEST_F(TransformedRowsTest, PreemptionIsToldOfTheRowAsThePodSeesIt) {
  AddNode("a");
  AddReservation("r", "a", 6);
  bed_.AddPod(
      "{metadata: {name: x}, spec: {nodeName: a, containers: [{resources: {requests: {cpu: "
      "4}}}]}}");
  const auto owner = Pod("o", 8, "r");
  const auto stranger = Pod("s", 8);
  const RowDelta victims = Victims({"x"});
  const RowView without_x{RowOf("a"), &victims};
  EXPECT_FALSE(QueryFor(owner).Check({RowOf("a"), nullptr}, "o").ok());
  EXPECT_TRUE(QueryFor(owner).Check(without_x, "o").ok());
  EXPECT_FALSE(QueryFor(stranger).Check(without_x, "s").ok());
  EXPECT_EQ(QueryFor(owner).Needs("o"), nullptr) << "room as it is says nothing of the owner's";
  EXPECT_NE(QueryFor(stranger).Needs("s"), nullptr) << "others do not pay for that";
  EXPECT_NE(QueryFor(owner).RowsVersion(), 0U) << "what was tried of a row may be kept";
}

TEST_F(TransformedRowsTest, OneRowMayBeLookedAtInSeveralWaysAtOnce) {
  AddNode("a");
  AddReservation("r", "a", 3);
  AddReservation("q", "a", 5);
  const auto pod = Pod("p", 6);
  const PodQuery& query = QueryFor(pod).query();
  const RowDelta without_r = Victims({"uid-of-r"});
  const RowDelta without_q = Victims({"uid-of-q"});
  const RowView r{RowOf("a"), &without_r};
  const RowView q{RowOf("a"), &without_q};
  EXPECT_FALSE(room_->Check(query, r).ok());
  EXPECT_TRUE(room_->Check(query, q).ok());
  EXPECT_EQ(room_->ScoreRow(query, r), 5);
  EXPECT_EQ(room_->ScoreRow(query, q), 7);
  EXPECT_FALSE(room_->Check(query, r).ok()) << "neither knows of the other";
}

TEST_F(TransformedRowsTest, PodsThatAreNotSeenAreKnownToTheQuery) {
  AddNode("a");
  AddReservation("r", "a", 6);
  EXPECT_TRUE(QueryFor(Pod("stranger", 1)).query().absent_pods().empty());
  const auto owner = Pod("owner", 1, "r");
  const PodQuery& query = QueryFor(owner).query();
  ASSERT_EQ(query.absent_pods().size(), 1U);
  EXPECT_TRUE(query.IsAbsent(*bed_.ledger.Find("uid-of-r")));
  const uint64_t version = query.absent_version();
  bed_.ledger.RemovePod("uid-of-r");
  EXPECT_TRUE(QueryFor(owner).query().absent_pods().empty());
  EXPECT_NE(QueryFor(owner).query().absent_version(), version);
}

// ---- Admit

TEST_F(TransformedRowsTest, APodMayBeRefusedWhateverItsShape) {
  AddNode("a");
  admit_->said["bad"] = Verdict::Unschedulable("quota is used up");
  admit_->said["broken"] = Verdict::Error("no such quota");
  EXPECT_EQ(Decide(Pod("bad", 1)), "");
  EXPECT_EQ(decision_.verdict.code, Code::kUnschedulable);
  EXPECT_EQ(decision_.verdict.plugin, "AdmitByName");
  EXPECT_EQ(room_->filtered, 0U) << "no row was touched";
  EXPECT_EQ(Message(Pod("bad", 1)), "0/1 nodes are available: quota is used up.");
  EXPECT_EQ(Decide(Pod("good", 1)), "a");
  EXPECT_EQ(Decide(Pod("broken", 1)), "");
  EXPECT_EQ(decision_.verdict.Message(), "running PreFilter plugin \"AdmitByName\": no such quota");
}

TEST_F(TransformedRowsTest, WhoAsksAboutEveryPodLeavesWhatIsKnownOfRowsAlone) {
  for (int i = 0; i < 50; ++i) AddNode(fmt::format("n{}", i));
  const auto large = Pod("p", 11);
  EXPECT_EQ(Decide(large), "");
  EXPECT_NE(Message(large), "");
  const size_t filtered = room_->filtered;
  const size_t checked = room_->checked;
  admit_->said["bad"] = Verdict::Unschedulable("quota is used up");
  EXPECT_EQ(Message(Pod("bad", 11)), "0/50 nodes are available: quota is used up.");
  EXPECT_EQ(Message(Pod("q", 11)), "0/50 nodes are available: 50 Insufficient cpu.");
  EXPECT_EQ(Decide(Pod("q", 11)), "");
  EXPECT_EQ(room_->filtered, filtered) << "the diagnosis of all rows was kept";
  EXPECT_EQ(room_->checked, checked);
  EXPECT_NE(QueryFor(large).RowsVersion(), 0U) << "preemption may keep what it has tried";
  EXPECT_NE(QueryFor(large).Needs("p"), nullptr);
  EXPECT_GE(admit_->asked, 4U) << "although it was asked about each";
}

// ---- PreFilterResult::rows

TEST_F(TransformedRowsTest, APodThatMayUseSomeRowsOnlyLooksAgainAtThoseThatChanged) {
  for (int i = 0; i < 50; ++i) AddNode(fmt::format("n{}", i), 10 + i);
  limit_->rows = std::make_shared<RowLimit>(bed_.ledger.nodes());
  limit_->rows->Assign(std::vector{RowOf("n3"), RowOf("n7")});
  EXPECT_EQ(Decide(Pod("p", 1)), "n7");
  EXPECT_EQ(decision_.evaluated, 2U);
  EXPECT_EQ(decision_.feasible, 2U);
  const size_t filtered = room_->filtered;
  EXPECT_EQ(Decide(Pod("p", 1)), "n7");
  EXPECT_EQ(room_->filtered, filtered);
  limit_->rows->Add(RowOf("n40"));
  EXPECT_EQ(Decide(Pod("p", 1)), "n40");
  EXPECT_EQ(room_->filtered, filtered + 1) << "the row that came";
  limit_->rows->Remove(RowOf("n40"));
  EXPECT_EQ(Decide(Pod("p", 1)), "n7");
  EXPECT_LE(room_->filtered, filtered + 2);
  limit_->rows->Assign(std::vector{RowOf("n20")});
  EXPECT_EQ(Decide(Pod("p", 1)), "n20") << "another set altogether";
}

TEST_F(TransformedRowsTest, RowsThatMayNotBeUsedAreNamedAfterTheirPlugin) {
  for (int i = 0; i < 3; ++i) AddNode(fmt::format("n{}", i));
  limit_->rows = std::make_shared<RowLimit>(bed_.ledger.nodes());
  limit_->rows->Assign(std::vector{RowOf("n1")});
  const auto large = Pod("p", 11);
  EXPECT_EQ(Decide(large), "");
  EXPECT_EQ(Message(large),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) "
            "[Limit].");
  limit_->rows->Remove(RowOf("n1"));
  EXPECT_EQ(Message(large), "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [Limit].");
  EXPECT_EQ(Decide(Pod("p", 1)), "");
}

TEST_F(TransformedRowsTest, APromiseOutsideOfTheRowsIsOfNoUse) {
  AddNode("a");
  AddNode("b");
  limit_->rows = std::make_shared<RowLimit>(bed_.ledger.nodes());
  limit_->rows->Assign(std::vector{RowOf("b")});
  const std::vector promised{Pod("p", 1)};
  nominated_.Set("a", promised);
  EXPECT_EQ(Decide(Pod("p", 1)), "b");
}

}  // namespace
}  // namespace koord::scheduler::transformed_rows_test
