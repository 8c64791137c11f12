#include "scheduler/reservation_controller/reservation_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::reservation_decision_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const WallTime kNow = *kube::ParseTime("2026-07-01T10:00:00Z");
constexpr const char* kStatus = "patch reservations/status r";

kube::Plan Decide(std::string_view reservation, ReservationFacts facts = {},
                  const EndingRules& rules = {}) {
  return DecideReservation(*FromYaml<api::Reservation>(reservation), facts, rules, kNow);
}

// What is written into the status, as YAML; "" if nothing is.
std::string Written(const kube::Plan& plan) {
  if (plan.writes.empty()) return "";
  EXPECT_THAT(kube::StepsOf(plan), ElementsAre(kStatus));
  const kube::Json body = kube::BodyOf(plan, kStatus);
  EXPECT_EQ(kube::FindString(body, {"metadata", "resourceVersion"}), "7");
  EXPECT_EQ(kube::FindString(body, {"metadata", "uid"}), "u");
  return kube::ToYaml(*kube::Find(body, {"status"}));
}

std::string Yaml(std::string_view text) { return kube::ToYaml(*kube::ParseYaml(text)); }

// Created ten minutes ago.
std::string Reservation(std::string_view spec, std::string_view status) {
  return fmt::format(
      "{{metadata: {{name: r, uid: u, resourceVersion: '7', creationTimestamp: "
      "'2026-07-01T09:50:00Z'}}, spec: {{owners: [{{}}], template: {{spec: {{}}}}, {}}}, status: "
      "{}}}",
      spec, status);
}

constexpr const char* kAvailable =
    "{phase: Available, nodeName: n1, allocatable: {cpu: 8, memory: 16Gi}, conditions: [{type: "
    "Ready, status: 'True', reason: Available, lastProbeTime: '2026-07-01T09:50:00Z', "
    "lastTransitionTime: '2026-07-01T09:50:00Z'}]}";

constexpr const char* kExpired =
    "{phase: Failed, conditions: [{type: Ready, status: 'False', reason: Expired, lastProbeTime: "
    "'2026-07-01T10:00:00Z', lastTransitionTime: '2026-07-01T10:00:00Z'}]}";

std::vector<std::shared_ptr<const kube::Pod>> Tv11Owners() {
  return {PodOf("{metadata: {name: q, namespace: ns, uid: b}, spec: {containers: [{resources: "
                "{requests: {cpu: 2, memory: 1Gi, ephemeral-storage: 5Gi}}}]}}"),
          PodOf("{metadata: {name: p, namespace: ns, uid: a}, spec: {containers: [{resources: "
                "{requests: {cpu: 1}}}]}}")};
}

// TV11.
TEST(ReservationDecision, SaysWhoUsesHowMuch) {
  const kube::Plan plan =
      Decide(Reservation("ttl: 1h, allocateOnce: false", kAvailable), {.owners = Tv11Owners()});
  EXPECT_EQ(Written(plan),
            Yaml("{currentOwners: [{namespace: ns, name: p, uid: a}, {namespace: ns, name: q, uid: "
                 "b}], allocated: {cpu: '3', memory: 1Gi}}"));
  EXPECT_EQ(plan.again, 15s);
}

TEST(ReservationDecision, OfOneThatIsUsedOnceIsThatItHasSucceeded) {
  const kube::Plan plan = Decide(Reservation("ttl: 1h", kAvailable), {.owners = Tv11Owners()});
  EXPECT_EQ(Written(plan),
            Yaml("{phase: Succeeded, conditions: [{type: Ready, status: 'False', reason: "
                 "Succeeded, lastProbeTime: '2026-07-01T10:00:00Z', lastTransitionTime: "
                 "'2026-07-01T09:50:00Z'}], currentOwners: [{namespace: ns, name: p, uid: a}, "
                 "{namespace: ns, name: q, uid: b}], allocated: {cpu: '3', memory: 1Gi}}"));
  EXPECT_EQ(plan.again, std::nullopt);
}

TEST(ReservationDecision, IsNotWrittenTwice) {
  EXPECT_EQ(Written(Decide(Reservation("ttl: 1h, allocateOnce: false",
                                       "{phase: Available, nodeName: n1, allocatable: {cpu: 8, "
                                       "memory: 16Gi}, currentOwners: [{namespace: ns, name: p, "
                                       "uid: a}, {namespace: ns, name: q, uid: b}], allocated: "
                                       "{cpu: 3000m, memory: 1024Mi}}"),
                           {.owners = Tv11Owners()})),
            "");
}

TEST(ReservationDecision, ForgetsOwnersThatAreGone) {
  EXPECT_EQ(Written(Decide(Reservation("ttl: 1h, allocateOnce: false",
                                       "{phase: Available, nodeName: n1, allocatable: {cpu: 8}, "
                                       "currentOwners: [{namespace: ns, name: p, uid: a}], "
                                       "allocated: {cpu: 1}}"))),
            Yaml("{currentOwners: null, allocated: null}"));
}

// Decision 8.
TEST(ReservationDecision, NobodySucceedsWithoutAnOwnerOrAMark) {
  using Consumer = ReservationFacts::Consumer;
  for (const Consumer consumer : {Consumer::kNone, Consumer::kWaits, Consumer::kIsOwner}) {
    EXPECT_EQ(Written(Decide(Reservation("ttl: 1h", kAvailable), {.consumer = consumer})), "");
  }
  const std::string once =
      Written(Decide(Reservation("ttl: 1h", kAvailable), {.consumer = Consumer::kGone}));
  EXPECT_THAT(once, testing::HasSubstr("phase: Succeeded"));
  EXPECT_EQ(Written(Decide(Reservation("ttl: 1h, allocateOnce: false", kAvailable),
                           {.consumer = Consumer::kGone})),
            "");
}

// TV12.
// Whoever marked it may not have been able to take the mark back: then nobody could ever use it.
TEST(ReservationDecision, TheMarkOfAPodThatRunsElsewhereIsTakenOff) {
  const kube::Plan plan = Decide(Reservation("ttl: 1h", kAvailable),
                                 {.consumer = ReservationFacts::Consumer::kElsewhere});
  constexpr const char* kMetadata = "patch reservations r";
  ASSERT_THAT(kube::StepsOf(plan), ElementsAre(kMetadata));
  EXPECT_EQ(kube::ToYaml(kube::BodyOf(plan, kMetadata)),
            Yaml("{metadata: {annotations: {scheduling.koordinator.sh/reservation-current-owner: "
                 "null}, resourceVersion: '7', uid: u}}"));
}

TEST(ReservationDecision, ExpiresWhateverItsPhase) {
  EXPECT_EQ(Written(Decide(Reservation("ttl: 5m", kAvailable))), Yaml(kExpired));
  EXPECT_EQ(Written(Decide(Reservation("ttl: 5m", "{phase: Pending, nodeName: n1}"))),
            Yaml(kExpired));
  EXPECT_EQ(Written(Decide(Reservation("ttl: '0s', expires: '2026-07-01T09:00:00Z'", kAvailable))),
            "");
}

// TV12.
TEST(ReservationDecision, ExpiresWithItsNode) {
  EXPECT_EQ(Written(Decide(Reservation("ttl: '0s'", kAvailable), {.has_its_node = false})),
            Yaml(kExpired));
}

TEST(ReservationDecision, OneThatWasNeverScheduledExpiresOnlyIfAsked) {
  const std::string waiting = Reservation("ttl: 5m", "{phase: Pending}");
  const kube::Plan left = Decide(waiting, {.has_its_node = false});
  EXPECT_EQ(Written(left), "");
  EXPECT_EQ(left.again, std::nullopt);
  EXPECT_EQ(Written(Decide(waiting, {.has_its_node = false}, {.expire_unscheduled = true})),
            Yaml(kExpired));
  EXPECT_EQ(Decide(Reservation("ttl: 1h", "{}"), {}, {.expire_unscheduled = true}).again, 15s);
}

TEST(ReservationDecision, AnEndIsForEver) {
  for (const char* phase : {"Failed", "Succeeded"}) {
    const kube::Plan plan =
        Decide(Reservation("ttl: 5m", fmt::format("{{phase: {}, nodeName: n1}}", phase)),
               {.has_its_node = false, .owners = Tv11Owners()});
    EXPECT_THAT(plan.writes, IsEmpty());
    EXPECT_EQ(plan.again, std::nullopt);
  }
}

// Decision 31.
TEST(ReservationDecision, SaysWhyNobodyCanUseIt) {
  const auto said = [](std::string_view spec, std::string_view conditions) {
    return Written(
        Decide(fmt::format("{{metadata: {{name: r, uid: u, resourceVersion: '7'}}, spec: "
                           "{}, status: {{conditions: {}}}}}",
                           spec, conditions)));
  };
  const std::string missing_owner = Yaml(
      "{conditions: [{type: Scheduled, status: 'False', reason: Unschedulable, message: the "
      "reservation misses the owner spec, lastProbeTime: '2026-07-01T10:00:00Z', "
      "lastTransitionTime: '2026-07-01T10:00:00Z'}]}");
  EXPECT_EQ(said("{template: {spec: {}}, ttl: 1h}", "[]"), missing_owner);
  EXPECT_EQ(said("{template: {spec: {}}, ttl: 1h}",
                 "[{type: Scheduled, status: 'False', reason: Unschedulable, message: the "
                 "reservation misses the owner spec}]"),
            "")
      << "once";
  EXPECT_THAT(said("{owners: [{}], ttl: 1h}", "[]"),
              testing::HasSubstr("the reservation misses the template spec"));
  EXPECT_THAT(said("{owners: [{}], template: {spec: {}}}", "[]"),
              testing::HasSubstr("the reservation misses the expiration spec"));
  EXPECT_EQ(said("{resources: {requests: {cpu: 1}}, ttl: 1h}", "[]"), "")
      << "the short form needs no owners (decision 7)";
}

}  // namespace
}  // namespace koord::scheduler::reservation_decision_test
