#include "scheduler/plugins/elastic_quota/elastic_quota.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/idle_handle.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::elastic_quota_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Handle final : public IdleHandle {
 public:
  void Activate(const std::vector<kube::ObjectKey>& pods) override {
    for (const auto& pod : pods) woken.push_back(pod.name);
  }
  std::vector<std::string> woken;
};

class ElasticQuotaTest : public ::testing::Test {
 protected:
  void Make(ElasticQuotaArgs args = DefaultElasticQuotaArgs()) {
    bed_.context.handle = &handle_;
    bed_.context.pending = &pending_;
    plugin_ = std::make_unique<ElasticQuotaPlugin>(bed_.context, args);
    plugin_->set_slot(0);
  }
  static ElasticQuotaArgs DefaultElasticQuotaArgs() {
    ElasticQuotaArgs args;
    args.SetDefaults();
    return args;
  }
  void AddNode(std::string_view name, std::string_view allocatable) {
    bed_.AddNode(fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: {{{}}}}}}}", name,
                             allocatable));
  }
  void SetQuota(std::string_view name, std::string_view min, std::string_view max,
                std::string_view labels = "") {
    bed_.objects.elastic_quotas.Set(FromYaml<api::ElasticQuota>(
        fmt::format("{{metadata: {{name: {}, namespace: default, labels: {{{}}}}}, spec: {{min: "
                    "{{{}}}, max: {{{}}}}}}}",
                    name, labels, min, max)));
  }
  static PodListener::PodPtr Pod(std::string_view name, std::string_view requests,
                                 std::string_view quota = "q", std::string_view node = "",
                                 std::string_view more_labels = "", int priority = 0) {
    return PodOf(fmt::format(
        "{{metadata: {{name: {}, labels: {{quota.scheduling.koordinator.sh/name: {}{}}}}}, spec: "
        "{{{}priority: {}, containers: [{{resources: {{requests: {{{}}}}}}}]}}}}",
        name, quota, more_labels, node.empty() ? "" : fmt::format("nodeName: {}, ", node), priority,
        requests));
  }
  // "" if it is admitted.
  std::string Admit(const PodListener::PodPtr& pod) {
    const auto query = bed_.Query(*plugin_, pod);
    const Verdict verdict = plugin_->Admit(*pod, *query);
    return verdict.ok() ? "" : fmt::format("{}: {}", ToString(verdict.code), verdict.Message());
  }
  // It is tried, and fails if its quota says so.
  void Try(const PodListener::PodPtr& pod) {
    Diagnosis diagnosis;
    const auto query = bed_.Query(*plugin_, pod);
    diagnosis.pre_filter = plugin_->Admit(*pod, *query);
    diagnosis.pre_filter.plugin = ElasticQuotaPlugin::kName;
    Attempt attempt{.pod = pod};
    plugin_->AfterPostFilter(attempt, diagnosis, {});
  }
  std::vector<std::string> Woken() {
    bed_.loop.RunReady();
    return std::exchange(handle_.woken, {});
  }

  PluginBed bed_;
  PendingPods pending_;
  Handle handle_;
  std::unique_ptr<ElasticQuotaPlugin> plugin_;
};

// Vector 24 of the specification.
TEST_F(ElasticQuotaTest, SaysWhatThereIsNotEnoughOf) {
  Make();
  AddNode("n", "cpu: 4, memory: 20");
  SetQuota("q", "", "cpu: 10, memory: 20");
  bed_.ledger.SetPod(Pod("running", "cpu: 3", "q", "n"));
  pending_.Set(Pod("others", "cpu: 10, memory: 20"));
  EXPECT_EQ(Admit(Pod("p", "cpu: 2, memory: 1, example.com/gpu: 1")),
            "Unschedulable: Insufficient quotas, quotaName: q, runtime: cpu:4,memory:20, used: "
            "cpu:3, pod's request: cpu:2,memory:1, exceedDimensions: [cpu]");
  AddNode("more", "cpu: 100, memory: 100");
  SetQuota("q", "cpu: 7", "cpu: 100");
  const std::string_view not_preemptible = ", quota.scheduling.koordinator.sh/preemptible: 'false'";
  bed_.ledger.SetPod(Pod("sure", "cpu: 5", "q", "n", not_preemptible));
  pending_.Set(Pod("others", "cpu: 90"));
  EXPECT_EQ(Admit(Pod("p", "cpu: 3", "q", "", not_preemptible)),
            "Unschedulable: Insufficient non-preemptible quotas, quotaName: q, min: cpu:7, "
            "nonPreemptibleUsed: cpu:5, pod's request: cpu:3, exceedDimensions: [cpu]");
  EXPECT_EQ(Admit(Pod("p", "cpu: 2", "q", "", not_preemptible)), "");
}

TEST_F(ElasticQuotaTest, TheDefaultQuotaIsLimitedOnlyWithoutRuntimes) {
  ElasticQuotaArgs args = DefaultElasticQuotaArgs();
  args.default_quota_group_max = {{"cpu", kube::Quantity(2)}};
  Make(args);
  AddNode("n", "cpu: 100");
  EXPECT_EQ(Admit(Pod("p", "cpu: 3", "nobody")), "");
}

TEST_F(ElasticQuotaTest, TheDefaultQuotaIsLimitedByItsMaxWithoutRuntimes) {
  ElasticQuotaArgs args = DefaultElasticQuotaArgs();
  args.default_quota_group_max = {{"cpu", kube::Quantity(2)}};
  args.enable_runtime_quota = false;
  Make(args);
  AddNode("n", "cpu: 100");
  EXPECT_EQ(Admit(Pod("p", "cpu: 3", "nobody")),
            "Unschedulable: Insufficient quotas, quotaName: koordinator-default-quota, runtime: "
            "cpu:2, used: <empty>, pod's request: cpu:3, exceedDimensions: [cpu]");
}

// ---- For people

class QuotaAnswersTest : public ElasticQuotaTest {
 protected:
  void SetUp() override {
    Make();
    AddNode("n", "cpu: 10");
    SetQuota("q", "cpu: 6", "cpu: 10");
    SetQuota("other", "cpu: 4", "cpu: 10");
    bed_.ledger.SetPod(Pod("small", "cpu: 2", "q", "n"));
    bed_.ledger.SetPod(Pod("borrower", "cpu: 7", "other", "n"));
    pending_.Set(Pod("waiting", "cpu: 5", "q"));
  }
  StatusOr<kube::Json> Ask(std::string_view path, ServicePlugin::Params params = {}) {
    for (const auto& endpoint : plugin_->Endpoints()) {
      if (endpoint.path == path) return endpoint.answer(params);
    }
    return NotFound("no endpoint {}", path);
  }
};

TEST_F(QuotaAnswersTest, APodIsToldWhatItWaitsFor) {
  const auto pod = Pod("waiting", "cpu: 5", "q");
  const auto query = bed_.Query(*plugin_, pod);
  EXPECT_EQ(plugin_->WhatItWaitsFor(*pod, *query),
            "waits for 1 cpu that other has to give back: it is over its runtime by 3 and over its "
            "min by 3");
  EXPECT_EQ(plugin_->WhatItWaitsFor(*Pod("p", "cpu: 1", "q"), *query), "");
}

TEST_F(QuotaAnswersTest, TheTreeAndWhoWaits) {
  const auto all = Ask("explanation");
  ASSERT_TRUE(all.ok());
  const auto explanation = kube::Decode<model::QuotaExplanation>(*all);
  ASSERT_TRUE(explanation.ok());
  ASSERT_EQ(explanation->waiting.size(), 1u);
  EXPECT_EQ(explanation->waiting[0].pod, "default/waiting");
  EXPECT_EQ(explanation->waiting[0].quota, "q");
  const auto one = Ask("explanation/{name}", {{"name", "other"}});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(kube::Decode<model::QuotaExplanation>(*one)->quotas.size(), 1u);
  EXPECT_EQ(Message(Ask("explanation/{name}", {{"name", "nobody"}}).status()),
            "cannot find quota nobody");
}

TEST_F(QuotaAnswersTest, EverythingOfAQuota) {
  const auto answer = Ask("quotas/{name}", {{"name", "q"}, {"includePods", "true"}});
  ASSERT_TRUE(answer.ok());
  const std::string text = kube::Serialize(*answer);
  for (const char* part :
       {R"("name":"q")", R"("parentName":"koordinator-root-quota")", R"("allowLentResource":true)",
        R"("max":{"cpu":"10"})", R"("min":{"cpu":"6"})", R"("used":{"cpu":"2"})",
        R"("request":{"cpu":"7"})", R"("runtime":{"cpu":"6"})",
        R"("default/small":{"isAssigned":true,"resource":{"cpu":"2"}})",
        R"("default/waiting":{"isAssigned":false,"resource":{"cpu":"5"}})"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
  EXPECT_EQ(Message(Ask("quotas/{name}", {{"name", "x"}}).status()), "cannot find quota x");
  const auto all = Ask("quotas");
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->as_object().contains("other"));
  EXPECT_TRUE(all->as_object().contains("koordinator-default-quota"));
  EXPECT_FALSE(all->as_object().contains("koordinator-root-quota"));
}

// What was once refused is tried again exactly when there is room, the most important first.
class WaitersTest : public ElasticQuotaTest {
 protected:
  void SetUp() override {
    Make();
    AddNode("n", "cpu: 10");
    SetQuota("q", "cpu: 6", "cpu: 10");
    SetQuota("other", "cpu: 4", "cpu: 10");
    bed_.ledger.SetPod(Pod("big", "cpu: 6", "q", "n"));
    bed_.ledger.SetPod(Pod("borrower", "cpu: 4", "other", "n"));
  }
  void Wait(const PodListener::PodPtr& pod) {
    pending_.Set(pod);
    ASSERT_NE(Admit(pod), "");
    Try(pod);
  }
};

TEST_F(WaitersTest, NobodyIsWokenWhileThereIsNoRoom) {
  Wait(Pod("p", "cpu: 2"));
  EXPECT_THAT(Woken(), IsEmpty());
  AddNode("n", "cpu: 10, memory: 5");  // nothing of what it waits for
  EXPECT_THAT(Woken(), IsEmpty());
}

TEST_F(WaitersTest, APodOfTheQuotaGoes) {
  Wait(Pod("p", "cpu: 2"));
  bed_.ledger.RemovePod("big");
  EXPECT_THAT(Woken(), ElementsAre("p"));
}

TEST_F(WaitersTest, APodWithoutNodeOfAnotherQuotaGoes) {
  bed_.ledger.RemovePod("borrower");
  pending_.Set(Pod("hungry", "cpu: 4", "other"));
  Wait(Pod("p", "cpu: 1"));
  EXPECT_THAT(Woken(), IsEmpty());
  pending_.Remove("hungry");
  EXPECT_THAT(Woken(), ElementsAre("p"));
}

TEST_F(WaitersTest, ANodeComes) {
  Wait(Pod("p", "cpu: 2"));
  AddNode("m", "cpu: 10");
  EXPECT_THAT(Woken(), ElementsAre("p"));
}

TEST_F(WaitersTest, ItsQuotaGrows) {
  Wait(Pod("p", "cpu: 2"));
  SetQuota("other", "cpu: 0", "cpu: 2");
  EXPECT_THAT(Woken(), ElementsAre("p"));
}

TEST_F(WaitersTest, ItsQuotaGoes) {
  Wait(Pod("p", "cpu: 2"));
  bed_.objects.elastic_quotas.Remove({"default", "q"});
  EXPECT_THAT(Woken(), ElementsAre("p"));
}

TEST_F(WaitersTest, NoMoreThanThereIsRoomForTheMostImportantFirst) {
  Wait(Pod("a", "cpu: 3"));
  Wait(Pod("b", "cpu: 3", "q", "", "", 10));
  Wait(Pod("c", "cpu: 3"));
  Wait(Pod("d", "cpu: 5", "q", "", "", 5));
  bed_.ledger.RemovePod("big");
  EXPECT_THAT(Woken(), ElementsAre("b", "a"));
  // They fail for other reasons: the others have their turn.
  bed_.loop.Advance(1s);
  EXPECT_THAT(Woken(), ElementsAre("d"));
  bed_.loop.Advance(1s);
  EXPECT_THAT(Woken(), ElementsAre("c"));
}

TEST_F(WaitersTest, PodsThatAreGoneAreForgotten) {
  Wait(Pod("p", "cpu: 2"));
  EXPECT_EQ(plugin_->remembered(), 1u);
  pending_.Remove("p");
  EXPECT_EQ(plugin_->remembered(), 0u);
  bed_.ledger.RemovePod("big");
  EXPECT_THAT(Woken(), IsEmpty());
}

TEST_F(WaitersTest, APodThatMovesToAQuotaWithRoomIsWoken) {
  Wait(Pod("p", "cpu: 2"));
  EXPECT_THAT(Woken(), IsEmpty());
  pending_.Set(Pod("p", "cpu: 2", "nobody"));
  EXPECT_THAT(Woken(), ElementsAre("p"));
}

}  // namespace
}  // namespace koord::scheduler::elastic_quota_test
