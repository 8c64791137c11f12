#include "manager/webhook/reservation/reservation_webhook.h"

#include <gtest/gtest.h>

#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::reservation_webhook_test {
namespace {

Request ReservationRequest(std::string_view object) {
  Request request = PodRequest(Operation::kCreate, object);
  request.group = "scheduling.koordinator.sh";
  request.resource = "reservations";
  request.ns = "";
  return request;
}

TEST(ReservationWebhookTest, AppliesProfilesWithoutTheirNamespaces) {
  FakeView view;
  Random random(1);
  view.profile_set.Set(Read<api::ClusterColocationProfile>(
      "{metadata: {name: p}, spec: {namespaceSelector: {matchLabels: {no: such}}, qosClass: LSR, "
      "schedulerName: koord-scheduler}}"));
  const Response response = MutateReservation(
      ReservationRequest("{metadata: {name: r}, spec: {template: {}}}"), view, random);
  EXPECT_EQ(kube::Serialize(response.patch),
            R"([{"op":"add","path":"/metadata/labels","value":{"koordinator.sh/qosClass":"LSR"}},)"
            R"({"op":"add","path":"/spec/template/spec","value":)"
            R"({"schedulerName":"koord-scheduler"}}])");
}

TEST(ReservationWebhookTest, AskForNoPriorityClassWithoutATemplate) {
  FakeView view;
  Random random(1);
  view.profile_set.Set(
      Read<api::ClusterColocationProfile>("{metadata: {name: p}, spec: {priorityClassName: x}}"));
  EXPECT_TRUE(MutateReservation(ReservationRequest("{spec: {}}"), view, random).allowed);
  const Response response =
      MutateReservation(ReservationRequest("{spec: {template: {}}}"), view, random);
  EXPECT_EQ(response.code, 500);
  EXPECT_EQ(response.message, "priorityclasses.scheduling.k8s.io \"x\" not found");
}

class ValidateReservationTest : public testing::Test {
 protected:
  Response Create(std::string_view object, std::string_view user = "jane") {
    Request request = ReservationRequest(object);
    request.user.name = user;
    return ValidateReservation(request, trust_, &metrics_);
  }
  Response Update(std::string_view old, std::string_view object, std::string_view user = "jane") {
    Request request = ReservationRequest(object);
    request.operation = Operation::kUpdate;
    request.old_object = Yaml(old);
    request.user.name = user;
    return ValidateReservation(request, trust_, &metrics_);
  }

  metrics::Registry registry_;
  WebhookMetrics metrics_{registry_};
  TrustOptions trust_;
};

constexpr char kScheduler[] = "system:serviceaccount:koordinator-system:koord-scheduler";
constexpr char kPinned[] =
    "{metadata: {annotations: {scheduling.koordinator.sh/resource-status: '{}'}}}";

TEST_F(ValidateReservationTest, OnlyTheSchedulerSaysWhatAReservationHolds) {
  EXPECT_EQ(Create(kPinned).message,
            "annotations.scheduling.koordinator.sh/resource-status: Forbidden: only the scheduler "
            "may set it, not user \"jane\"");
  EXPECT_EQ(metrics_.untrusted_keys.With({"scheduling.koordinator.sh/resource-status", "refused"})
                .value(),
            1);
  for (const char* key : {"device-allocated", "reservation-resize-allocatable", "gpu-minors",
                          "reservation-current-owner"}) {
    const std::string object =
        fmt::format("{{metadata: {{annotations: {{scheduling.koordinator.sh/{}: '{{}}'}}}}}}", key);
    EXPECT_FALSE(Create(object).allowed) << key;
    EXPECT_TRUE(Create(object, kScheduler).allowed) << key;
  }
  EXPECT_FALSE(Update("{}", kPinned).allowed);
  EXPECT_FALSE(Update(kPinned, "{}").allowed) << "what it holds is not forgotten either";
  EXPECT_TRUE(Update("{}", kPinned, kScheduler).allowed);
  EXPECT_TRUE(Update(kPinned, kPinned).allowed) << "others may change the rest";
}

TEST_F(ValidateReservationTest, ATemplateIsNoWayAround) {
  constexpr char kTemplate[] =
      "{spec: {template: {metadata: {annotations: "
      "{scheduling.koordinator.sh/device-allocated: '{}', mine: x}}}}}";
  EXPECT_EQ(Create(kTemplate).message,
            "spec.template.metadata.annotations.scheduling.koordinator.sh/device-allocated: "
            "Forbidden: the scheduler sets it, and on the reservation itself, not user \"jane\"");
  EXPECT_FALSE(Create(kTemplate, kScheduler).allowed);
  EXPECT_TRUE(Update(kTemplate, kTemplate).allowed) << "from before there was this check";
}

TEST_F(ValidateReservationTest, PointsOutWhatEverybodyMayUse) {
  const auto warnings = [&](std::string_view owners, std::string_view user) {
    return Create(fmt::format("{{spec: {{owners: {}}}}}", owners), user).warnings;
  };
  const std::vector<std::string> everybody{"spec.owners: every pod of every namespace may use it"};
  EXPECT_EQ(warnings("[{}]", "jane"), everybody);
  EXPECT_EQ(warnings("[{object: {name: p}}, {labelSelector: {}}]", "jane"), everybody);
  EXPECT_TRUE(warnings("[{labelSelector: {matchLabels: {app: web}}}]", "jane").empty());
  EXPECT_TRUE(
      warnings("[{labelSelector: {matchExpressions: [{key: a, operator: Exists}]}}]", "jane")
          .empty());
  EXPECT_TRUE(warnings("[{controller: {name: web}}]", "jane").empty());
  EXPECT_TRUE(warnings("[]", "jane").empty()) << "only pods that name it";
  EXPECT_TRUE(warnings("[{}]", "system:admin").empty());
}

TEST_F(ValidateReservationTest, OneFlagTrustsEverybody) {
  trust_.trust_everyone = true;
  EXPECT_TRUE(Create(kPinned).allowed);
  EXPECT_TRUE(Create("{spec: {owners: [{}]}}").warnings.empty());
}

TEST_F(ValidateReservationTest, WhatIsAboutSomethingElseIsLetPass) {
  Request request = ReservationRequest(kPinned);
  request.subresource = "status";
  EXPECT_TRUE(ValidateReservation(request, trust_, &metrics_).allowed);
  request.subresource = "";
  request.operation = Operation::kDelete;
  EXPECT_TRUE(ValidateReservation(request, trust_, &metrics_).allowed);
  request.operation = Operation::kCreate;
  request.object = nullptr;
  EXPECT_EQ(ValidateReservation(request, trust_, &metrics_).code, 400);
}

}  // namespace
}  // namespace koord::manager::webhook::reservation_webhook_test
