#include "scheduler/quota_controller/quota_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/quota_controller/overuse.h"
#include "scheduler/quota_controller/overuse_controller.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::quota_controller_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Recorder final : public kube::EventRecorder {
 public:
  void Record(const Note& note) override {
    EXPECT_NE(note.action, "") << "the API server would refuse it";
    notes.push_back(fmt::format("{} {}: {}", note.regarding.name, note.reason, note.message));
  }
  std::vector<std::string> notes;
};

class QuotaControllerTest : public ::testing::Test {
 protected:
  QuotaControllerTest() {
    bed_.context.client = &client_;
    bed_.context.recorder = &recorder_;
    bed_.context.pending = &pending_;
    bed_.context.leader_parts = &parts_;
    args_.SetDefaults();
    bed_.AddNode("{metadata: {name: n}, status: {allocatable: {cpu: 100}}}");
    bed_.books.quotas.Open(
        {.index_built_in = true},
        {.quotas = bed_.objects.elastic_quotas, .loop = bed_.loop, .pending = &pending_});
    for (const char* name :
         {"koordinator-root-quota", "koordinator-system-quota", "koordinator-default-quota"}) {
      SetQuota(name, "");
    }
  }
  void SetQuota(std::string_view name, std::string_view spec, std::string_view more = "",
                std::string_view version = "1") {
    bed_.objects.elastic_quotas.Set(FromYaml<api::ElasticQuota>(
        fmt::format("{{metadata: {{name: {}, namespace: ns, uid: u-{}, resourceVersion: '{}'}}, "
                    "spec: {{{}}}{}}}",
                    name, name, version, spec, more)));
  }
  void SetPod(std::string_view name, std::string_view quota, int cpu, int priority = 0,
              std::string_view labels = "") {
    bed_.ledger.SetPod(PodOf(fmt::format(
        "{{metadata: {{name: {}, labels: {{quota.scheduling.koordinator.sh/name: {}{}}}}}, spec: "
        "{{nodeName: n, priority: {}, containers: [{{resources: {{requests: {{cpu: {}}}}}}}]}}}}",
        name, quota, labels, priority, cpu)));
  }
  // What is sent of quotas other than the built-in ones until the time is over, and answered.
  std::vector<std::string> Written(Duration within) {
    std::vector<std::string> written;
    for (Duration passed{}; passed <= within; passed += 100ms) {
      bed_.loop.Advance(100ms);
      while (server_.waiting() != 0) {
        auto exchange = server_.Take();
        std::string text = fmt::format("{} {} {}", exchange.request.method, exchange.request.target,
                                       exchange.request.body);
        if (text.find("koordinator-") == std::string::npos) written.push_back(std::move(text));
        exchange.Answer({{"metadata", {{"resourceVersion", "9"}}}});
        bed_.loop.RunReady();
      }
    }
    return written;
  }

  PluginBed bed_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      bed_.loop, std::make_shared<kube::InProcessTransport>(bed_.loop, server_), {.qps = 0}};
  Recorder recorder_;
  PendingPods pending_;
  LeaderParts parts_;
  ElasticQuotaArgs args_;
};

TEST_F(QuotaControllerTest, WritesWhatHasChangedUponTheVersionThatWasSeen) {
  QuotaController::AddTo(bed_.context, args_);
  SetQuota("q", "max: {cpu: 8}");
  parts_.Start();
  EXPECT_THAT(Written(3s), IsEmpty()) << "nothing is used";
  SetPod("p", "q", 3);
  const auto written = Written(1500ms);
  ASSERT_EQ(written.size(), 1u);
  EXPECT_THAT(written[0], HasSubstr("PATCH /apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/ns/"
                                    "elasticquotas/q "));
  EXPECT_THAT(written[0], HasSubstr(R"("resourceVersion":"1")"));
  EXPECT_THAT(written[0], HasSubstr(R"("status":{"used":{"cpu":"3"}})"));
  EXPECT_THAT(written[0],
              HasSubstr(R"("quota.scheduling.koordinator.sh/runtime":"{\"cpu\":\"3\"}")"));
  // Shown as it was written, zeros aside.
  SetQuota("q", "max: {cpu: 8}", ", status: {used: {cpu: 3, memory: 0}}", "9");
}

TEST_F(QuotaControllerTest, WritesNothingWhenItDoesNotLead) {
  QuotaController::AddTo(bed_.context, args_);
  SetQuota("q", "max: {cpu: 8}");
  SetPod("p", "q", 3);
  EXPECT_THAT(Written(3s), IsEmpty());
  parts_.Start();
  EXPECT_EQ(Written(500ms).size(), 1u);
  parts_.Stop();
  SetPod("p2", "q", 1);
  EXPECT_THAT(Written(3s), IsEmpty());
}

// Somebody was admitted whose pod is not there yet.
TEST_F(QuotaControllerTest, WhatWasAdmittedIsNotErasedAtOnce) {
  QuotaController::AddTo(bed_.context, args_);
  const auto object = [](std::string_view version, std::string_view request) {
    return fmt::format(
        "{{metadata: {{name: q, namespace: ns, uid: u, resourceVersion: '{}', annotations: "
        "{{quota.scheduling.koordinator.sh/child-request: '{{\"cpu\":\"{}\"}}'}}}}, spec: {{max: "
        "{{cpu: 8}}}}}}",
        version, request);
  };
  bed_.objects.elastic_quotas.Set(FromYaml<api::ElasticQuota>(object("1", "2")));
  parts_.Start();
  EXPECT_THAT(Written(20s), IsEmpty());
  EXPECT_THAT(Written(15s), Contains(HasSubstr("child-request")));
}

TEST_F(QuotaControllerTest, CreatesBuiltInQuotasThatAreMissing) {
  bed_.objects.elastic_quotas.Remove({"ns", "koordinator-root-quota"});
  bed_.objects.elastic_quotas.Remove({"ns", "koordinator-default-quota"});
  QuotaController::AddTo(bed_.context, args_);
  parts_.Start();
  bed_.loop.RunReady();
  ASSERT_EQ(server_.waiting(), 2u);
  EXPECT_THAT(server_.Take().request.body, HasSubstr("koordinator-root-quota"));
  const std::string body = server_.Take().request.body;
  EXPECT_THAT(body, HasSubstr("koordinator-default-quota"));
  EXPECT_THAT(body, HasSubstr(R"("namespace":"koordinator-system")"));
  EXPECT_THAT(body, HasSubstr("1844674407370955161"));
}

TEST_F(QuotaControllerTest, SaysOnceWhatIsWrongWithAQuota) {
  QuotaController::AddTo(bed_.context, args_);
  SetQuota("q", "min: {cpu: 9}, max: {cpu: 8}");
  parts_.Start();
  Written(5s);
  EXPECT_THAT(recorder_.notes,
              ElementsAre("q InvalidElasticQuota: resourceKey cpu of quota q min 9 > max 8"));
}

// Vector 25 of the specification, with the total as the runtime.
class OverUseTest : public QuotaControllerTest {
 protected:
  void SetUp() override {
    SetQuota("q", "max: {cpu: 1000}");
    SetPod("A", "q", 15, 10);
    SetPod("B", "q", 10, 8);
    SetPod("C", "q", 20, 6);
    SetPod("D", "q", 5, 4, ", quota.scheduling.koordinator.sh/preemptible: 'false'");
  }
  void SetTotal(int cpu) {
    bed_.AddNode(
        fmt::format("{{metadata: {{name: n}}, status: {{allocatable: {{cpu: {}}}}}}}", cpu));
  }
  std::vector<std::string> Victims() {
    std::vector<std::string> names;
    const QuotaBook& book = bed_.books.quotas;
    for (const PodInfo* pod : OverUseVictims(book, *book.tree().Find("q"))) {
      names.push_back(pod->pod->metadata.name);
    }
    return names;
  }
};

TEST_F(OverUseTest, TheLeastImportantGoAndNoneThatCouldStay) {
  SetTotal(50);
  EXPECT_THAT(Victims(), IsEmpty());
  SetTotal(45);
  EXPECT_THAT(Victims(), ElementsAre("C"));
  SetTotal(40);
  EXPECT_THAT(Victims(), ElementsAre("C"));
  SetTotal(25);
  EXPECT_THAT(Victims(), ElementsAre("B", "C"));
  // Not enough though all go that may.
  SetTotal(2);
  EXPECT_THAT(Victims(), ElementsAre("C", "B", "A"));
}

TEST_F(OverUseTest, EvictsOnlyAfterTheDelay) {
  args_.delay_evict_time = 30s;
  OverUseController::AddTo(bed_.context, args_);
  parts_.Start();
  SetTotal(40);
  EXPECT_THAT(Written(20s), IsEmpty());
  SetTotal(60);
  EXPECT_THAT(Written(5s), IsEmpty());
  SetTotal(40);  // over again: the time begins anew
  EXPECT_THAT(Written(29s), IsEmpty());
  const auto written = Written(3s);
  ASSERT_EQ(written.size(), 1u);
  EXPECT_THAT(written[0], HasSubstr("POST /api/v1/namespaces/default/pods/C/eviction"));
}

}  // namespace
}  // namespace koord::scheduler::quota_controller_test
