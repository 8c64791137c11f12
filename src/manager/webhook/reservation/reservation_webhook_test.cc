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

}  // namespace
}  // namespace koord::manager::webhook::reservation_webhook_test
