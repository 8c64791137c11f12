#include "scheduler/extender/extender_dialogue.h"

#include <gmock/gmock.h>

#include <optional>

#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::extender_dialogue_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Would evict whom it is told to.
class Evicting final : public PostFilterPlugin {
 public:
  std::string_view name() const override { return "Evicting"; }
  PostFilterResult PostFilter(Attempt&, PodQuery&, const Diagnosis&) override {
    return {Verdict::Unschedulable("")};
  }
  std::vector<EvictionPlan> Plans(const Attempt&, PodQuery&, const Diagnosis&) override {
    return plans;
  }

  std::vector<EvictionPlan> plans;
};

class ExtenderDialogueTest : public ::testing::Test {
 protected:
  ExtenderDialogueTest() {
    for (const char* name : {"a", "b", "c"}) {
      bed_.AddNode(fmt::format("{{metadata: {{name: {}}}}}", name));
    }
    attempt_.pod = PodOf("{metadata: {name: p}}");
    attempt_.shape = bed_.ledger.shapes().Of(attempt_.pod);
    query_ = bed_.Query(first_, attempt_.pod);
  }
  void Start(Extender settings) {
    settings.url_prefix = "http://extender/";
    settings.http_timeout = 5s;
    std::vector<std::unique_ptr<ExtenderClient>> clients;
    clients.push_back(std::make_unique<ExtenderClient>(
        settings, std::make_shared<kube::InProcessTransport>(bed_.loop, handler_)));
    dialogue_ = std::make_unique<ExtenderDialogue>(std::make_unique<Extenders>(std::move(clients)),
                                                   bed_.ledger, bed_.reasons,
                                                   [this] { happened_.emplace_back("resume"); });
  }
  NodeRow RowOf(std::string_view node) { return *bed_.ledger.nodes().Find(node); }
  void AskAbout(const std::vector<std::string_view>& nodes) {
    std::vector<NodeRow> rows;
    for (const std::string_view node : nodes) rows.push_back(RowOf(node));
    dialogue_->Ask(attempt_.pod, rows, [this](StatusOr<Extenders::Answer> answer) {
      happened_.emplace_back(dialogue_->asking() ? "answer while asking" : "answer");
      answer_ = std::move(answer);
    });
    bed_.loop.RunReady();
  }
  void Say(std::string body) {
    handler_.Take().Answer(200, std::move(body));
    bed_.loop.RunReady();
  }
  bool AskToEvict() {
    PostFilterPlugin* const plugins[] = {&first_, &second_};
    const bool asked = dialogue_->AskToEvict(attempt_, *query_, Diagnosis(), plugins,
                                             [this](const ExtenderDialogue::Agreed& agreed) {
                                               agreed_by_ = agreed.plugin;
                                               agreed_ = agreed.plans;
                                             });
    bed_.loop.RunReady();
    return asked;
  }

  PluginBed bed_;
  kube::ScriptedHandler handler_;
  Evicting first_;
  Evicting second_;
  Attempt attempt_;
  std::unique_ptr<PodQuery> query_;
  std::vector<std::string> happened_;
  std::optional<StatusOr<Extenders::Answer>> answer_;
  const PostFilterPlugin* agreed_by_ = nullptr;
  std::optional<StatusOr<std::vector<EvictionPlan>>> agreed_;
  std::unique_ptr<ExtenderDialogue> dialogue_;
};

TEST_F(ExtenderDialogueTest, NobodyIsAskedWhereThereIsNobody) {
  first_.plans = {{.node = "a"}};
  dialogue_ = std::make_unique<ExtenderDialogue>(nullptr, bed_.ledger, bed_.reasons, [] {});
  EXPECT_FALSE(dialogue_->HasAny());
  EXPECT_FALSE(dialogue_->AreInterestedIn(*attempt_.pod));
  EXPECT_FALSE(AskToEvict());
  EXPECT_FALSE(dialogue_->asking());
}

TEST_F(ExtenderDialogueTest, TheCycleResumesAfterTheAnswerWasDealtWith) {
  Start({.filter_verb = "filter", .node_cache_capable = true});
  AskAbout({"a", "c"});
  EXPECT_TRUE(dialogue_->asking());
  EXPECT_THAT(happened_, IsEmpty());
  auto exchange = handler_.Take();
  const auto args = *kube::ParseJson(exchange.request.body);
  EXPECT_EQ(args.at("NodeNames"), (kube::json::array{"a", "c"}));
  exchange.Answer(200, R"({"NodeNames": ["c"]})");
  bed_.loop.RunReady();
  EXPECT_THAT(happened_, ElementsAre("answer", "resume"));
  EXPECT_FALSE(dialogue_->asking());
}

TEST_F(ExtenderDialogueTest, AnErrorIsAnAnswerToo) {
  Start({.filter_verb = "filter"});
  AskAbout({"a"});
  Say(R"({"Error": "out of order"})");
  EXPECT_THAT(happened_, ElementsAre("answer", "resume"));
  EXPECT_EQ(Message(answer_->status()), "out of order");
}

TEST_F(ExtenderDialogueTest, ChoosesAmongTheNodesThatAreStillThere) {
  Start({.prioritize_verb = "prioritize", .weight = 2, .node_cache_capable = true});
  AskAbout({"a", "b", "c"});
  Say(R"([{"Host": "a", "Score": 1}, {"Host": "b", "Score": 3}])");
  ASSERT_TRUE(answer_ && answer_->ok());
  const NodeRow a = RowOf("a");
  const NodeRow c = RowOf("c");
  bed_.ledger.RemoveNode("b");
  const ExtenderDialogue::Choice choice = dialogue_->ChoiceOf(**answer_);
  EXPECT_THAT(choice.rows, ElementsAre(a, c));
  EXPECT_THAT(choice.bonus, UnorderedElementsAre(Pair(a, 20)));
}

TEST_F(ExtenderDialogueTest, WhatItRefusesIsAddedToWhyRowsFellOut) {
  Start({.filter_verb = "filter"});
  DiagnosisTable table;
  table.Reset(3);
  table.Set(RowOf("a"),
            {0, RowVerdict::Unschedulable(bed_.reasons.Intern("too small")), /*pass=*/0});
  Extenders::Answer answer;
  answer.refused = {{"a", "too far"}, {"b", "no licence", true}, {"nowhere", "too far"}};
  ReasonHold texts;
  const DiagnosisTable all = dialogue_->WithRefused(table, answer, texts);
  EXPECT_EQ(all[RowOf("a")].plugin, 0u) << "the profile was first";
  EXPECT_EQ(all[RowOf("b")].plugin, kExtenderSlot);
  EXPECT_EQ(all[RowOf("b")].verdict.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(bed_.reasons.TextOf(all[RowOf("b")].verdict.reasons.front()), "no licence");
  EXPECT_TRUE(all[RowOf("c")].verdict.ok());
}

TEST_F(ExtenderDialogueTest, IsAskedAboutTheEvictionsOfTheFirstPluginThatPlansAny) {
  Start({.preempt_verb = "preempt", .node_cache_capable = true});
  EXPECT_FALSE(AskToEvict()) << "nobody would be evicted";
  bed_.AddPod("{metadata: {name: v}, spec: {nodeName: a}}");
  const auto victim = bed_.ledger.Find("v")->pod;
  second_.plans = {{.node = "a", .victims = {victim}}, {.node = "b", .victims = {victim}}};
  EXPECT_TRUE(AskToEvict());
  EXPECT_TRUE(dialogue_->asking());
  Say(R"({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "v"}]}}})");
  EXPECT_EQ(agreed_by_, &second_);
  ASSERT_TRUE(agreed_ && agreed_->ok());
  ASSERT_EQ((*agreed_)->size(), 1u);
  EXPECT_EQ((*agreed_)->front().node, "a");
  EXPECT_THAT((*agreed_)->front().victims, ElementsAre(victim));
  EXPECT_THAT(happened_, ElementsAre("resume"));
}

TEST_F(ExtenderDialogueTest, NobodyIsEvictedFromANodeOnWhichHeIsNot) {
  Start({.preempt_verb = "preempt", .node_cache_capable = true});
  bed_.AddPod("{metadata: {name: v}, spec: {nodeName: a}}");
  first_.plans = {{.node = "a", .victims = {bed_.ledger.Find("v")->pod}}};
  EXPECT_TRUE(AskToEvict());
  Say(R"({"NodeNameToMetaVictims": {"b": {"Pods": [{"UID": "v"}]}}})");
  ASSERT_TRUE(agreed_);
  EXPECT_FALSE(agreed_->ok());
}

TEST_F(ExtenderDialogueTest, AnAnswerThatComesAfterItsEndIsNotHeard) {
  Start({.filter_verb = "filter"});
  AskAbout({"a"});
  dialogue_ = nullptr;
  Say(R"({"NodeNames": ["a"]})");
  EXPECT_THAT(happened_, IsEmpty());
}

}  // namespace
}  // namespace koord::scheduler::extender_dialogue_test
