// Extenders at work in the scheduling cycle, against one that answers as it is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::extender_test {
namespace {

using kube::Json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// All that a profile needs: nodes labelled `refuse` are refused, `favourite` has 100 points, and
// what it binds and has to preempt for is noted.
class TestProfile final : public QueueSortPlugin,
                          public FilterPlugin,
                          public ScorePlugin,
                          public PostFilterPlugin,
                          public BindPlugin {
 public:
  TestProfile(const PluginContext& context, std::vector<std::string>& bound,
              std::map<std::string, Code>& preemptable)
      : nodes_(context.nodes()),
        refused_(context.reasons.Intern("node(s) were refused")),
        bound_(bound),
        preemptable_(preemptable) {}

  std::string_view name() const override { return "TestProfile"; }
  bool Less(const QueuedPodView& a, const QueuedPodView& b) const override {
    return a.sequence < b.sequence;
  }
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override {
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      if (nodes_.IsLive(row) && !Check(query, {row, nullptr}).ok()) keep[row - rows.begin] = 0;
    }
  }
  RowVerdict Check(const PodQuery&, const RowView& row) override {
    return Has(row.row, "refuse") ? RowVerdict::Unschedulable(refused_) : RowVerdict();
  }
  void Score(const PodQuery&, RowRange rows, int64_t* scores) override {
    for (NodeRow row = rows.begin; row < rows.end; ++row) {
      scores[row - rows.begin] = nodes_.IsLive(row) && Has(row, "favourite") ? 100 : 0;
    }
  }
  bool wide() const override { return false; }
  uint64_t WideVersion(const PodQuery&) override { return 0; }
  PostFilterResult PostFilter(Attempt&, PodQuery&, const Diagnosis& diagnosis) override {
    for (NodeRow row{0}; row < diagnosis.rows.size(); ++row) {
      preemptable_[nodes_.name(row)] = diagnosis.rows[row].verdict.code;
    }
    return {Verdict::Unschedulable("")};
  }
  void Bind(Attempt& attempt, VerdictDone done) override {
    bound_.push_back(fmt::format("{} {}", attempt.pod->metadata.name, attempt.node));
    done(Verdict::Success());
  }

 private:
  bool Has(NodeRow row, std::string_view label) const {
    return !kube::ValueOf(nodes_.node(row).metadata.labels, label).empty();
  }

  const NodeTable& nodes_;
  const ReasonId refused_;
  std::vector<std::string>& bound_;
  std::map<std::string, Code>& preemptable_;
};

// Answers each path as it is told; silent where it is told nothing.
class FakeExtender final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    asked.emplace_back(request.target, *kube::ParseJson(request.body));
    writers_.push_back(response);  // open until the end
    const auto answer = answers.find(request.target);
    if (answer == answers.end()) return;
    const auto& [status, body] = answer->second;
    response->Finish({status, {}, body});
  }

  std::map<std::string, std::pair<int, std::string>> answers;
  std::vector<std::pair<std::string, Json>> asked;

 private:
  std::vector<std::shared_ptr<kube::ResponseWriter>> writers_;
};

class AgreeableServer final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest, std::shared_ptr<kube::ResponseWriter> response) override {
    response->Finish({200, {}, "{}"});
  }
};

class ExtenderTest : public testing::Test {
 protected:
  struct Notes final : kube::EventRecorder {
    explicit Notes(std::vector<std::string>& into) : messages(into) {}
    void Record(const Note& note) override {
      if (note.reason == "FailedScheduling") messages.push_back(note.message);
    }
    std::vector<std::string>& messages;
  };

  void Start(std::vector<Extender> extenders) {
    std::vector<std::unique_ptr<ExtenderClient>> clients;
    for (Extender& each : extenders) {
      each.url_prefix = "http://extender/";
      each.http_timeout = 5s;
      clients.push_back(std::make_unique<ExtenderClient>(
          each, std::make_shared<kube::InProcessTransport>(loop_, extender_)));
    }
    Scheduler::Options options{.extenders = std::make_unique<Extenders>(std::move(clients))};
    options.profiles.push_back(
        {"s", std::make_unique<Notes>(failures_), [this](const PluginContext& context) {
           PluginLineup lineup{.name = "s"};
           auto all = std::make_unique<TestProfile>(context, bound_, preemptable_);
           lineup.queue_sort = all.get();
           lineup.filter = {all.get()};
           lineup.score = {{all.get(), 1}};
           lineup.post_filter = {all.get()};
           lineup.bind = {all.get()};
           lineup.plugins.push_back(std::move(all));
           return lineup;
         }});
    auto made = Scheduler::Make(loop_, client_, std::move(options));
    ASSERT_TRUE(made.ok()) << Message(made.status());
    scheduler_ = *std::move(made);
    scheduler_->Start();
  }
  void AddNode(std::string_view name, std::string_view labels = "{}") {
    scheduler_->OnNode(nullptr,
                       NodeOf(fmt::format("{{metadata: {{name: {}, labels: {}}}}}", name, labels)));
  }
  Scheduler::PodPtr AddPod(std::string_view name, std::string_view resources = "{}") {
    const auto pod =
        PodOf(fmt::format("{{metadata: {{name: {}, namespace: default, uid: uid-{}}}, spec: "
                          "{{schedulerName: s, containers: [{{name: c, resources: {}}}]}}}}",
                          name, name, resources));
    scheduler_->OnPod(nullptr, pod);
    return pod;
  }
  // The pod p fails with that message, or is bound to the node a all the same.
  void ExpectFailureUnless(bool ignored, const std::string& message) const {
    if (ignored) {
      EXPECT_THAT(bound_, ElementsAre("p a"));
      EXPECT_THAT(failures_, IsEmpty());
    } else {
      EXPECT_THAT(bound_, IsEmpty());
      EXPECT_THAT(failures_, ElementsAre(message));
    }
  }
  void Settle() { loop_.Advance(100ms); }
  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const auto& [path, body] : extender_.asked) paths.push_back(path);
    return paths;
  }
  std::vector<std::string> ShownNodes(size_t call) const {
    std::vector<std::string> names;
    for (const Json& node : *kube::FindArray(extender_.asked.at(call).second, {"Nodes", "items"})) {
      names.emplace_back(kube::FindString(node, {"metadata", "name"}));
    }
    return names;
  }

  VirtualLoop loop_;
  AgreeableServer server_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {.qps = 0}};
  FakeExtender extender_;
  std::vector<std::string> bound_;
  std::vector<std::string> failures_;
  std::map<std::string, Code> preemptable_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(ExtenderTest, FiltersWhatTheProfileLeaves) {
  Start({{.filter_verb = "filter"}});
  AddNode("a");
  AddNode("b");
  AddNode("c", "{refuse: 'yes'}");
  extender_.answers["/filter"] = {200, R"({"Nodes": {"items": [{"metadata": {"name": "b"}}]}})"};
  for (int i = 0; i < 5; ++i) AddPod(fmt::format("p{}", i));
  Settle();
  EXPECT_THAT(bound_, ElementsAre("p0 b", "p1 b", "p2 b", "p3 b", "p4 b"));
  ASSERT_EQ(extender_.asked.size(), 5U);
  EXPECT_THAT(ShownNodes(0), UnorderedElementsAre("a", "b"));
  const Json& args = extender_.asked[0].second;
  EXPECT_EQ(kube::FindString(args, {"Pod", "metadata", "name"}), "p0");
  EXPECT_TRUE(args.at("NodeNames").is_null());
}

TEST_F(ExtenderTest, SendsNamesOnlyToAnExtenderThatKnowsTheNodes) {
  Start({{.filter_verb = "filter", .node_cache_capable = true}});
  AddNode("a");
  AddNode("b");
  extender_.answers["/filter"] = {200, R"({"nodenames": ["a"]})"};
  AddPod("p");
  Settle();
  EXPECT_THAT(bound_, ElementsAre("p a"));
  const Json& args = extender_.asked.at(0).second;
  EXPECT_TRUE(args.at("Nodes").is_null());
  EXPECT_EQ(args.at("NodeNames").as_array().size(), 2U);
}

TEST_F(ExtenderTest, EachFilterSeesWhatTheOneBeforeLeft) {
  Start({{.filter_verb = "last", .node_cache_capable = true, .ignorable = true},
         {.filter_verb = "first", .node_cache_capable = true}});
  for (const char* name : {"a", "b", "c"}) AddNode(name);
  extender_.answers["/first"] = {200, R"({"NodeNames": ["b", "c"]})"};
  extender_.answers["/last"] = {200, R"({"NodeNames": ["c"]})"};
  AddPod("p");
  Settle();
  EXPECT_THAT(bound_, ElementsAre("p c"));
  EXPECT_THAT(Paths(), ElementsAre("/first", "/last"));
  EXPECT_EQ(extender_.asked[1].second.at("NodeNames").as_array().size(), 2U);
}

TEST_F(ExtenderTest, CountsItsReasonsAndSparesPreemptionTheUnresolvable) {
  Start({{.filter_verb = "filter"}});
  AddNode("a");
  AddNode("b");
  AddNode("c");
  AddNode("d", "{refuse: 'yes'}");
  extender_.answers["/filter"] = {200, R"({"NodeNames": null, "FailedNodes":
      {"a": "too far", "c": "too far"}, "FailedAndUnresolvableNodes":
      {"b": "no licence", "c": "no licence"}})"};
  AddPod("p");
  Settle();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_THAT(failures_, ElementsAre("0/4 nodes are available: 1 node(s) were refused, 1 too far, "
                                     "2 no licence."));
  EXPECT_THAT(preemptable_,
              UnorderedElementsAre(Pair("a", Code::kUnschedulable), Pair("d", Code::kUnschedulable),
                                   Pair("b", Code::kUnschedulableAndUnresolvable),
                                   Pair("c", Code::kUnschedulableAndUnresolvable)));
}

TEST_F(ExtenderTest, APodThatItRefusedIsTriedAgainAfterAnyEvent) {
  Start({{.filter_verb = "filter"}});
  AddNode("a");
  extender_.answers["/filter"] = {200, "{}"};  // not a word why
  AddPod("p");
  loop_.Advance(1min);
  EXPECT_EQ(extender_.asked.size(), 1U);
  EXPECT_THAT(failures_, ElementsAre("0/1 nodes are available:"));
  extender_.answers["/filter"] = {200, R"({"nodes": {"items": [{"metadata": {"name": "b"}}]}})"};
  AddNode("b");
  loop_.Advance(1min);
  EXPECT_THAT(bound_, ElementsAre("p b"));
}

struct Weighed {
  int64_t weight;
  std::string node;
};

TEST_F(ExtenderTest, AddsTenTimesItsWeighedScores) {
  // `a` has 100 points of its own, and the extender gives `b` one: ten, times its weight.
  for (const auto& [weight, node] : std::vector<Weighed>{{9, "a"}, {11, "b"}}) {
    bound_.clear();
    Start({{.prioritize_verb = "prioritize", .weight = weight, .node_cache_capable = true}});
    AddNode("a", "{favourite: 'yes'}");
    AddNode("b");
    extender_.answers["/prioritize"] = {
        200, R"([{"Host": "a", "Score": 0}, {"Host": "b", "Score": 1}])"};
    AddPod("p");
    Settle();
    EXPECT_THAT(bound_, ElementsAre("p " + node)) << weight;
  }
}

TEST_F(ExtenderTest, IsNotAskedForScoresWhereThereIsNoChoice) {
  Start({{.prioritize_verb = "prioritize", .weight = 1}});
  AddNode("a");
  AddPod("p");
  Settle();
  EXPECT_THAT(bound_, ElementsAre("p a"));
  EXPECT_THAT(Paths(), IsEmpty());
}

struct Failing {
  std::string what;
  int status;
  std::string body;
  std::string message;
};

TEST_F(ExtenderTest, ItsErrorFailsTheAttemptUnlessItMayBeIgnored) {
  const std::vector<Failing> cases = {
      {"status", 500, "", "failed filter with extender at URL http://extender/filter, code 500"},
      {"its own error", 200, R"({"error": "out of order"})", "out of order"},
      {"a node it was not shown", 200, R"({"nodes": {"items": [{"metadata": {"name": "z"}}]}})",
       R"(extender "http://extender/" claims a filtered node "z" which is not found in the input )"
       "node list"},
  };
  for (const Failing& each : cases) {
    for (const bool ignorable : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", each.what, ignorable));
      bound_.clear();
      failures_.clear();
      Start({{.filter_verb = "filter", .ignorable = ignorable}});
      AddNode("a");
      extender_.answers["/filter"] = {each.status, each.body};
      AddPod("p");
      Settle();
      ExpectFailureUnless(ignorable, each.message);
    }
  }
}

TEST_F(ExtenderTest, AScoreThatCannotBeHadIsPassedOver) {
  Start({{.prioritize_verb = "prioritize", .weight = 1}});
  AddNode("a", "{favourite: 'yes'}");
  AddNode("b");
  extender_.answers["/prioritize"] = {200, R"([{"Host": "b", "Score": "much"}])"};
  AddPod("p");
  Settle();
  EXPECT_THAT(bound_, ElementsAre("p a"));
}

TEST_F(ExtenderTest, NobodyElseIsTriedUntilItAnswersOrItsTimeIsOver) {
  Start({{.filter_verb = "filter", .managed_resources = {{.name = "example.com/gpu"}}}});
  AddNode("a");
  AddPod("slow", "{limits: {example.com/gpu: '1'}}");
  AddPod("plain");
  loop_.Advance(4s);
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_FALSE(scheduler_->idle());
  loop_.Advance(2s);
  EXPECT_THAT(bound_, ElementsAre("plain a")) << "of no interest to the extender";
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_THAT(failures_[0], testing::StartsWith(R"(Post "http://extender/filter": )"));
}

TEST_F(ExtenderTest, StoppingDoesNotWaitForItAndAPodThatIsGoneIsNotPlaced) {
  Start({{.filter_verb = "filter"}});
  AddNode("a");
  const auto pod = AddPod("p");
  Settle();
  EXPECT_EQ(extender_.asked.size(), 1U);
  bool drained = false;
  scheduler_->Stop();
  scheduler_->WhenDrained([&] { drained = true; });
  EXPECT_TRUE(drained);
  scheduler_->Start();
  scheduler_->OnPod(pod, nullptr);
  loop_.Advance(1min);
  EXPECT_EQ(extender_.asked.size(), 1U);
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(ExtenderTest, BindsInsteadOfThePlugins) {
  Start({{.bind_verb = "bind", .managed_resources = {{.name = "example.com/gpu"}}}});
  AddNode("a");
  extender_.answers["/bind"] = {200, R"({"Error": ""})"};
  AddPod("managed", "{requests: {example.com/gpu: '1'}}");
  AddPod("plain");
  Settle();
  EXPECT_THAT(bound_, ElementsAre("plain a"));
  ASSERT_THAT(Paths(), ElementsAre("/bind"));
  EXPECT_EQ(extender_.asked[0].second, (Json{{"PodName", "managed"},
                                             {"PodNamespace", "default"},
                                             {"PodUID", "uid-managed"},
                                             {"Node", "a"}}));
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(ExtenderTest, ABindingThatItRefusesFailsUnlessItMayBeIgnored) {
  for (const bool ignorable : {false, true}) {
    bound_.clear();
    failures_.clear();
    Start({{.bind_verb = "bind", .ignorable = ignorable}});
    AddNode("a");
    extender_.answers["/bind"] = {200, R"({"error": "taken"})"};
    AddPod("p");
    Settle();
    ExpectFailureUnless(ignorable, "taken");
  }
}

}  // namespace
}  // namespace koord::scheduler::extender_test
