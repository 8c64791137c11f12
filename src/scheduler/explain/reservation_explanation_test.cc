#include "scheduler/explain/reservation_explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "kube/yaml.h"
#include "scheduler/cluster/reserve_pod.h"
#include "scheduler/config/load_configuration.h"
#include "scheduler/core/reservation_feed.h"
#include "scheduler/explain/explain.h"
#include "scheduler/registry/plugin_registry.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::reservation_explanation_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kConfiguration = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: s
  plugins: {multiPoint: {enabled: [{name: Reservation}]}}
)";

class ExplainReservationTest : public testing::Test {
 protected:
  struct NoNotes final : kube::EventRecorder {
    void Record(const Note&) override {}
  };

  // It never starts: pods and reservations are only asked about.
  ExplainReservationTest() {
    Scheduler::Options options;
    options.profiles.push_back(
        {"s", std::make_unique<NoNotes>(),
         [](const PluginContext& context) -> StatusOr<PluginLineup> {
           ASSIGN_OR_RETURN(LoadedConfiguration loaded, LoadConfiguration(kConfiguration, "test"));
           ASSIGN_OR_RETURN(ExpandedPlugins expanded,
                            ExpandPlugins(loaded.configuration, BuiltInPlugins()));
           return MakeLineup(loaded.configuration.profiles.front(), expanded.profiles.front(), 0,
                             context);
         }});
    auto made = Scheduler::Make(loop_, client_, std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    scheduler_ = *std::move(made);
    feed_ = std::make_unique<ReservationFeed>(*scheduler_);
    scheduler_->OnNode(
        nullptr, NodeOf("{metadata: {name: n1}, status: {allocatable: {cpu: '10', pods: '110'}}}"));
  }

  void AddReservation(std::string_view name, std::string_view spec, std::string_view status) {
    feed_->OnReservation(
        nullptr, FromYaml<api::Reservation>(fmt::format(
                     "{{metadata: {{name: {0}, uid: {0}, creationTimestamp: '{1}'}}, spec: {{ttl: "
                     "1h, template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 4}}}}}}"
                     "]}}}}, {2}}}, status: {3}}}",
                     name, kube::FormatTime(loop_.clock().Now()), spec, status)));
  }
  Scheduler::PodPtr AddPod(std::string_view metadata, std::string_view spec, int cpu) {
    const auto pod = PodOf(fmt::format(
        "{{metadata: {{{}}}, spec: {{schedulerName: s, {} containers: [{{resources: {{requests: "
        "{{cpu: {}}}}}}}]}}}}",
        metadata, spec, cpu));
    scheduler_->OnPod(nullptr, pod);
    return pod;
  }
  std::vector<std::string> Considered(const Scheduler::PodPtr& pod) {
    std::vector<std::string> texts;
    for (const auto& each : Explain(*scheduler_, pod).reservations) {
      texts.push_back(fmt::format("{}: {}", each.name, each.text));
    }
    return texts;
  }

  VirtualLoop loop_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {.qps = 0}};
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<ReservationFeed> feed_;
};

constexpr const char* kOnNode1 = "{phase: Available, nodeName: n1, allocatable: {cpu: 4}}";
constexpr const char* kForWeb = "owners: [{labelSelector: {matchLabels: {app: web}}}]";
constexpr const char* kUsesR =
    "name: p, labels: {app: web}, annotations: {scheduling.koordinator.sh/reservation-allocated: "
    "'{\"name\":\"r\",\"uid\":\"r\"}'}";

TEST_F(ExplainReservationTest, WhoMayUseItWhoDoesAndWhatIsLeft) {
  AddReservation("r", fmt::format("allocateOnce: false, {}", kForWeb), kOnNode1);
  AddPod(kUsesR, "nodeName: n1,", 1);
  const auto r = ExplainReservation(*scheduler_, "r");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->state, "Available");
  EXPECT_EQ(r->summary, "holds 4 cpu on node n1; 3 cpu left");
  EXPECT_THAT(r->may_use, ElementsAre("pods with labels app=web"));
  ASSERT_EQ(r->used_by.size(), 1u);
  EXPECT_EQ(r->used_by.front().pod, "default/p");
  EXPECT_THAT(r->ends, HasSubstr("in 1h0m0s, at "));
  EXPECT_FALSE(ExplainReservation(*scheduler_, "other"));
  EXPECT_THAT(FormatExplanation(*r),
              testing::AllOf(HasSubstr("r  Available\n  holds 4 cpu on node n1; 3 cpu left\n"),
                             HasSubstr("\nMay be used by\n  pods with labels app=web\n"),
                             HasSubstr("\nUsed by\n  default/p: 1 cpu\n")));
}

TEST_F(ExplainReservationTest, WhyTheLastCandidateDidNot) {
  AddReservation("r", fmt::format("allocatePolicy: Restricted, {}", kForWeb), kOnNode1);
  AddPod(
      "name: big, labels: {app: web}, annotations: "
      "{scheduling.koordinator.sh/reservation-affinity: '{}'}",
      "", 5);
  AddPod("name: small, labels: {app: web}", "", 1);
  AddPod("name: other, labels: {app: db}", "", 1);
  std::vector<std::string> texts;
  for (const auto& each : ExplainReservation(*scheduler_, "r")->candidates) {
    texts.push_back(fmt::format("{}: {}", each.pod, each.text));
  }
  EXPECT_THAT(texts,
              ElementsAre("default/small: can be used",
                          "default/big: does not help on its node: Reservation(s) Insufficient "
                          "cpu"));
}

TEST_F(ExplainReservationTest, OneThatWaitsForANode) {
  AddReservation("r", fmt::format("{}, ttl: 0s", kForWeb), "{phase: Pending}");
  AddPod("name: hog", "nodeName: n1,", 9);
  const auto r = ExplainReservation(*scheduler_, "r");
  EXPECT_EQ(r->state, "Pending");
  ASSERT_TRUE(r->placement);
  EXPECT_EQ(r->placement->feasible, 0);
  EXPECT_THAT(FormatExplanation(*r), HasSubstr("Insufficient cpu"));
}

TEST_F(ExplainReservationTest, OneThatNobodyCanUse) {
  AddReservation("r", "owners: []", "{}");
  EXPECT_EQ(ExplainReservation(*scheduler_, "r")->summary,
            "cannot be used by anybody: the reservation misses the owner spec");
}

TEST_F(ExplainReservationTest, PodsSayWhichTheyConsidered) {
  AddReservation("a", fmt::format("allocateOnce: false, {}", kForWeb), kOnNode1);
  AddReservation("b", fmt::format("unschedulable: true, {}", kForWeb),
                 "{phase: Available, nodeName: n1, allocatable: {cpu: 1}}");
  AddReservation("c", kForWeb, "{phase: Pending}");
  AddReservation("d", "owners: [{object: {name: x}}]", kOnNode1);
  EXPECT_THAT(Considered(AddPod("name: p, labels: {app: web}", "", 1)),
              ElementsAre("a: can be used", "b: is unschedulable or being deleted",
                          "c: waits for a node itself"));
  EXPECT_THAT(Considered(AddPod("name: q", "", 1)), IsEmpty());
  EXPECT_THAT(Considered(AddPod("name: named, annotations: "
                                "{scheduling.koordinator.sh/reservation-affinity: "
                                "'{\"name\":\"d\"}'}",
                                "", 1)),
              ElementsAre("d: is not for this pod: no item of its owners matches"));
}

TEST_F(ExplainReservationTest, PodsSayWhichTheyUse) {
  AddReservation("r", kForWeb, kOnNode1);
  const auto user = AddPod(kUsesR, "nodeName: n1,", 1);
  EXPECT_THAT(Considered(user), ElementsAre("r: is used by this pod"));
  EXPECT_THAT(Considered(AddPod("name: late, labels: {app: web}", "", 1)),
              ElementsAre("r: can be used once, and is used by default/p"));
}

TEST(OwnerTextTest, SaysWhoIsMeant) {
  const auto text = [](std::string_view owner) {
    return OwnerText(*FromYaml<api::ReservationOwner>(owner));
  };
  EXPECT_EQ(text("{}"), "every pod");
  EXPECT_EQ(text("{labelSelector: {}}"), "every pod");
  EXPECT_EQ(text("{object: {name: p, namespace: ns}}"), "pods named p, in namespace ns");
  EXPECT_EQ(text("{controller: {kind: ReplicaSet, name: web, namespace: ns}, labelSelector: "
                 "{matchLabels: {a: b}}}"),
            "pods of ReplicaSet web in namespace ns, with labels a=b");
}

}  // namespace
}  // namespace koord::scheduler::reservation_explanation_test
