#include "scheduler/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::pipeline_test {
namespace {

// Refuses nodes whose label `refuse` is set, and pods beyond `room` on a node.
class FakeFilter final : public PreFilterPlugin, public FilterPlugin {
 public:
  explicit FakeFilter(const PluginContext& context)
      : nodes_(context.nodes()),
        refused_(context.reasons.Intern("node(s) were refused")),
        full_(context.reasons.Intern("node(s) were full")) {}

  std::string_view name() const override { return "FakeFilter"; }
  PreFilterResult PreFilter(PodQuery&) override { return pre_filter; }
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override {
    filtered += rows.size();
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      if (nodes_.IsLive(row) && !Check(query, {row, nullptr}).ok()) keep[row - rows.begin] = 0;
    }
  }
  RowVerdict Check(const PodQuery&, const RowView& row) override {
    if (kube::ValueOf(nodes_.node(row.row).metadata.labels, "refuse") == "yes") {
      return RowVerdict::Unresolvable(refused_);
    }
    if (row.PodCount(nodes_) >= room) return RowVerdict::Unschedulable(full_);
    return {};
  }

  PreFilterResult pre_filter;
  int64_t room = 1000;
  size_t filtered = 0;  // rows that were looked at

 private:
  const NodeTable& nodes_;
  ReasonId refused_, full_;
};

// Scores what the label `score` says, as it is or scaled to the largest one.
class FakeScore final : public ScorePlugin {
 public:
  FakeScore(const PluginContext& context, bool normalizes)
      : nodes_(context.nodes()), normalizes_(normalizes) {}

  std::string_view name() const override { return normalizes_ ? "Scaled" : "Plain"; }
  void Score(const PodQuery&, RowRange rows, int64_t* scores) override {
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      if (!nodes_.IsLive(row)) continue;
      const std::string_view label = kube::ValueOf(nodes_.node(row).metadata.labels, "score");
      scores[row - rows.begin] = label.empty() ? 0 : std::stoi(std::string(label));
    }
  }
  bool normalizes() const override { return normalizes_; }
  void Normalize(const PodQuery&, ScoreRange range, std::span<int64_t> scores) override {
    for (int64_t& score : scores) score = range.max == 0 ? 0 : score * 100 / range.max;
  }

 private:
  const NodeTable& nodes_;
  const bool normalizes_;
};

class PipelineTest : public testing::Test {
 protected:
  explicit PipelineTest() {
    auto filter = std::make_unique<FakeFilter>(bed_.context);
    auto plain = std::make_unique<FakeScore>(bed_.context, false);
    auto scaled = std::make_unique<FakeScore>(bed_.context, true);
    filter_ = filter.get();
    lineup_.pre_filter = {filter.get()};
    lineup_.filter = {filter.get()};
    lineup_.score = {{plain.get(), 1}, {scaled.get(), 2}};
    lineup_.plugins.push_back(std::move(filter));
    lineup_.plugins.push_back(std::move(plain));
    lineup_.plugins.push_back(std::move(scaled));
    for (size_t i = 0; i < lineup_.plugins.size(); ++i) lineup_.plugins[i]->set_slot(i);
  }

  Pipeline& pipeline() {
    if (!pipeline_) pipeline_.emplace(lineup_, bed_.ledger, nominated_, order_, bed_.random);
    return *pipeline_;
  }
  void AddNode(std::string_view name, std::string_view labels = "{}") {
    bed_.AddNode(fmt::format("{{metadata: {{name: {}, labels: {}}}}}", name, labels));
  }
  static std::shared_ptr<const kube::Pod> Pod(std::string_view name, int priority = 0) {
    return PodOf(fmt::format("{{metadata: {{name: {}}}, spec: {{priority: {}}}}}", name, priority));
  }
  // The node of a pod; "" for none. Puts it there.
  std::string Place(std::string_view name, int priority = 0) {
    const auto pod = Pod(name, priority);
    const ShapePtr shape = bed_.ledger.shapes().Of(pod);
    decision_ = pipeline().Decide(*pod, shape);
    if (!decision_.placed()) return "";
    EXPECT_TRUE(bed_.ledger.Assume(pod, shape, decision_.row).ok());
    return bed_.ledger.nodes().name(decision_.row);
  }
  std::string Message(std::string_view name, int priority = 0) {
    const auto pod = Pod(name, priority);
    const Diagnosis why = pipeline().Diagnose(*pod, bed_.ledger.shapes().Of(pod));
    return FitErrorMessage(why, bed_.reasons, "");
  }

  PluginBed bed_;
  NominatedRows nominated_{bed_.ledger};
  NodeOrder order_{bed_.ledger};
  PluginLineup lineup_;
  FakeFilter* filter_;
  std::optional<Pipeline> pipeline_;
  Decision decision_;
};

TEST_F(PipelineTest, TakesTheBestOfTheNodesThatPass) {
  AddNode("a", "{score: '50'}");
  AddNode("b", "{score: '80'}");
  AddNode("c", "{score: '100', refuse: 'yes'}");
  EXPECT_EQ(Place("p"), "b");
  EXPECT_EQ(decision_.feasible, 2U);
  // 80 as it is, and 100 of 100 twice: c does not count for the scale either.
  EXPECT_EQ(decision_.total, 80 + 2 * 100);
}

TEST_F(PipelineTest, DecidesWithinWhatOthersLeave) {
  AddNode("a", "{score: '50'}");
  AddNode("b", "{score: '80'}");
  AddNode("c", "{score: '100', refuse: 'yes'}");
  const auto pod = Pod("p");
  const ShapePtr shape = bed_.ledger.shapes().Of(pod);
  const std::vector<NodeRow> all = pipeline().Candidates(*pod, shape);
  ASSERT_EQ(all, (std::vector{NodeRow(0), NodeRow(1)}));
  const auto decide = [&](const std::vector<NodeRow>& rows, const Pipeline::Bonus& bonus) {
    return pipeline().DecideWithin(*pod, shape, rows, bonus).row;
  };
  EXPECT_EQ(decide(all, {}), 1U);
  EXPECT_EQ(decide(all, {{NodeRow(0), 1000}}), 0U);
  EXPECT_EQ(decide({NodeRow(0)}, {}), 0U);
  EXPECT_EQ(decide({NodeRow(2)}, {}), kNoRow) << "what the filters refuse stays refused";
  EXPECT_EQ(decide({}, {}), kNoRow);
  nominated_.Set("a", std::vector<std::shared_ptr<const kube::Pod>>{pod});
  EXPECT_EQ(decide(all, {}), 0U) << "promised";
  EXPECT_EQ(decide({NodeRow(1)}, {}), 1U) << "promised, and not left";
}

TEST_F(PipelineTest, LooksAgainOnlyAtRowsThatChanged) {
  for (int i = 0; i < 100; ++i) AddNode(fmt::format("n{}", i), "{score: '1'}");
  Place("p0");
  EXPECT_EQ(filter_->filtered, 100U);
  Place("p1");
  EXPECT_EQ(filter_->filtered, 101U) << "the row of p0 alone";
  Place("p2");
  EXPECT_EQ(filter_->filtered, 102U);
  AddNode("best", "{score: '90'}");
  EXPECT_EQ(Place("p3"), "best");
  EXPECT_EQ(filter_->filtered, 104U);
}

TEST_F(PipelineTest, ScalesAnewWhenTheBestFallsOut) {
  filter_->room = 1;
  AddNode("a", "{score: '10'}");
  AddNode("b", "{score: '40'}");
  AddNode("c", "{score: '20'}");
  EXPECT_EQ(Place("p0"), "b");
  EXPECT_EQ(decision_.total, 40 + 200);
  EXPECT_EQ(Place("p1"), "c");
  EXPECT_EQ(decision_.total, 20 + 200);
  EXPECT_EQ(Place("p2"), "a");
  EXPECT_EQ(Place("p3"), "");
  EXPECT_EQ(Message("p3"), "0/3 nodes are available: 3 node(s) were full.");
}

TEST_F(PipelineTest, SaysWhyInTheWordsOfKubernetes) {
  filter_->room = 0;
  for (int i = 0; i < 10; ++i) AddNode(fmt::format("full{}", i));
  for (int i = 0; i < 2; ++i) AddNode(fmt::format("refused{}", i), "{refuse: 'yes'}");
  EXPECT_EQ(Message("p"),
            "0/12 nodes are available: 10 node(s) were full, 2 node(s) were refused.");
}

TEST(FitErrorMessageTest, CountsEveryReasonAndSortsThemAsText) {
  Reasons reasons;
  const ReasonId cpu = reasons.Intern("Insufficient cpu");
  const ReasonId memory = reasons.Intern("Insufficient memory");
  const ReasonId cordoned = reasons.Intern("node(s) were unschedulable");
  DiagnosisTable rows;
  rows.Reset(12);
  for (NodeRow row{0}; row < 10; ++row) {
    RowVerdict verdict = RowVerdict::Unschedulable(cpu);
    if (row < 3) verdict.reasons.push_back(memory);
    rows.Set(row, {0, verdict});
  }
  for (NodeRow row{10}; row < 12; ++row) rows.Set(row, {0, RowVerdict::Unresolvable(cordoned)});
  const Diagnosis diagnosis{.nodes = 12, .rows = rows};
  EXPECT_EQ(FitErrorMessage(diagnosis, reasons, ""),
            "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) were unschedulable, 3 "
            "Insufficient memory.");
  EXPECT_EQ(FitErrorMessage({.nodes = 3, .pre_filter = Verdict::Unresolvable("no such claim")},
                            reasons, "preemption: none"),
            "0/3 nodes are available: no such claim. preemption: none");
}

TEST_F(PipelineTest, WithoutNodesThereIsNothingToDecide) {
  EXPECT_EQ(Place("p"), "");
  EXPECT_TRUE(decision_.no_nodes);
  EXPECT_EQ(decision_.verdict.Message(), "no nodes available to schedule pods");
}

TEST_F(PipelineTest, LooksAtNamedNodesOnly) {
  AddNode("a", "{score: '1'}");
  AddNode("b", "{score: '9'}");
  AddNode("c", "{refuse: 'yes'}");
  filter_->pre_filter.node_names = {"a", "c", "gone"};
  EXPECT_EQ(Place("p"), "a");
  bed_.ledger.RemoveNode("a");
  EXPECT_EQ(Message("p"),
            "0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [FakeFilter], 1 node(s) "
            "were refused.");
}

TEST_F(PipelineTest, APodIsRejectedBeforeAnyNodeIsLookedAt) {
  AddNode("a");
  filter_->pre_filter.verdict = Verdict::Unresolvable("pod affinity terms conflict");
  EXPECT_EQ(Place("p"), "");
  EXPECT_EQ(decision_.verdict.plugin, "FakeFilter");
  EXPECT_EQ(Message("p"), "0/1 nodes are available: pod affinity terms conflict.");
}

TEST_F(PipelineTest, PodsThatArePromisedANodeCountForThoseThatAreNotMoreImportant) {
  filter_->room = 1;
  AddNode("a");
  const std::vector promised{Pod("big", 10)};
  nominated_.Set("a", promised);
  EXPECT_EQ(Place("small"), "");
  EXPECT_EQ(Message("small"), "0/1 nodes are available: 1 node(s) were full.");
  EXPECT_EQ(Place("vip", 11), "a");
  bed_.ledger.RemovePod("vip");
  EXPECT_EQ(Place("big", 10), "a") << "its own promise does not stand in its way";
}

TEST_F(PipelineTest, APromisedNodeIsTriedFirst) {
  AddNode("a", "{score: '1'}");
  AddNode("b", "{score: '100'}");
  const std::vector promised{Pod("p")};
  nominated_.Set("a", promised);
  EXPECT_EQ(Place("p"), "a");
}

TEST_F(PipelineTest, ConsidersASampleOnlyWhenTold) {
  lineup_.percentage_of_nodes_to_score = 2;
  for (int i = 0; i < 200; ++i) AddNode(fmt::format("n{}", i), "{score: '1'}");
  Place("p0");
  EXPECT_EQ(decision_.feasible, 100U) << "never less than a hundred";
  EXPECT_EQ(decision_.evaluated, 100U);
  std::set<NodeRow> seen{decision_.row};
  Place("p1");
  EXPECT_EQ(decision_.evaluated, 100U) << "the other half";
}

TEST_F(PipelineTest, OneOffShapesPushOutEachOtherOnly) {
  AddNode("a");
  const auto place = [&](std::string_view label) {
    const auto pod = PodOf(fmt::format("{{metadata: {{name: p, labels: {{x: '{}'}}}}}}", label));
    return pipeline().Decide(*pod, bed_.ledger.shapes().Of(pod));
  };
  const auto kept = PodOf("{metadata: {name: p, labels: {x: kept}}}");
  const ShapePtr shape = bed_.ledger.shapes().Of(kept);
  pipeline().Decide(*kept, shape);
  place("other");
  pipeline().Decide(*kept, shape);
  for (int i = 0; i < 100; ++i) place(std::to_string(i));
  const size_t before = filter_->filtered;
  pipeline().Decide(*kept, shape);
  EXPECT_EQ(filter_->filtered, before) << "what is known of it is still there";
  EXPECT_LE(pipeline().kept(), 8U);
}

TEST(NodeOrderTest, GoesRoundTheZones) {
  PluginBed bed;
  NodeOrder order(bed.ledger);
  for (const auto& [name, zone] : {std::pair{"a1", "a"}, {"a2", "a"}, {"b1", "b"}, {"a3", "a"}}) {
    bed.AddNode(fmt::format(
        "{{metadata: {{name: {}, labels: {{topology.kubernetes.io/zone: {}}}}}}}", name, zone));
  }
  const auto names = [&] {
    std::string text;
    for (const NodeRow row : order.rows()) text += bed.ledger.nodes().name(row) + " ";
    return text;
  };
  EXPECT_EQ(names(), "a1 b1 a2 a3 ");
  bed.ledger.RemoveNode("a1");
  EXPECT_EQ(names(), "a2 b1 a3 ");
}

}  // namespace
}  // namespace koord::scheduler::pipeline_test
