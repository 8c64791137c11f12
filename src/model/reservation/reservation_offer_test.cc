#include "model/reservation/reservation_offer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/reservation/reservation_testing.h"

namespace koord::model::reservation_offer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReservationOffer, OfAReservation) {
  const auto offer = ReservationOffer::Of(ReservationOf(
      R"({metadata: {name: r, uid: u, labels: {scheduling.koordinator.sh/reservation-order: '-3'},
                     annotations: {scheduling.koordinator.sh/reservation-restricted-options:
                                     '{"resources":["memory"]}',
                                   node.koordinator.sh/reservation:
                                     '{"resources":{"cpu":"3","memory":"1Gi"}}'}},
          spec: {owners: [{object: {name: p}}], allocateOnce: false, allocatePolicy: Restricted},
          status: {phase: Available, nodeName: n, allocatable: {cpu: 8, memory: 4Gi}}})"));
  ASSERT_TRUE(offer.ok()) << Message(offer.status());
  EXPECT_EQ(offer->order, -3);
  EXPECT_FALSE(offer->allocate_once);
  EXPECT_EQ(offer->policy, AllocatePolicy::kRestricted);
  EXPECT_EQ(offer->allocatable, ListOf("{cpu: 8, memory: 4Gi}"));
  EXPECT_THAT(offer->resource_names, ElementsAre("memory"));
  EXPECT_EQ(offer->kept_back, ListOf("{memory: 1Gi}"));
  EXPECT_THAT(offer->keys(), ElementsAre("name p"));
}

// TV6: what is available.
TEST(ReservationOffer, LeavesWhatIsNeitherUsedNorKeptBack) {
  ReservationOffer offer;
  offer.allocatable = ListOf("{cpu: 8, memory: 1Gi}");
  offer.kept_back = ListOf("{cpu: 3}");
  EXPECT_EQ(LeftOf(offer, ListOf("{cpu: 2}")), ListOf("{cpu: 3, memory: 1Gi}"));
  EXPECT_EQ(LeftOf(offer, ListOf("{cpu: 7, gpu: 1}")), ListOf("{cpu: 0, memory: 1Gi}"));
}

TEST(ReservationOffer, OptionsAreForTheRestricted) {
  const auto offer = ReservationOffer::Of(ReservationOf(
      R"({metadata: {name: r, annotations: {scheduling.koordinator.sh/reservation-restricted-options:
                     '{"resources":["memory"]}'}},
          spec: {allocatePolicy: Aligned, resources: {requests: {cpu: 1, memory: 1}}}})"));
  EXPECT_THAT(offer->resource_names, ElementsAre("cpu", "memory"));
  EXPECT_TRUE(offer->allocate_once);
  EXPECT_THAT(offer->keys(), ElementsAre("asks for r"));
}

TEST(ReservationOffer, OfAPodThatActsAsOne) {
  const kube::Pod pod = PodOf(
      R"({metadata: {name: p, uid: u, labels: {scheduling.koordinator.sh/operating-mode: Reservation},
                     annotations: {scheduling.koordinator.sh/reservation-owners:
                                     '[{"labelSelector":{"matchLabels":{"app":"web"}}}]',
                                   scheduling.koordinator.sh/reservation-current-owner:
                                     '{"name":"w","uid":"w-1"}',
                                   scheduling.koordinator.sh/reservation-restricted-options:
                                     '{"resources":["cpu"]}'}},
          spec: {nodeName: n, containers: [{resources: {requests: {cpu: 2, memory: 1Gi}}}]},
          status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}})");
  EXPECT_TRUE(IsOffering(pod));
  const auto offer = ReservationOffer::Of(pod);
  ASSERT_TRUE(offer.ok()) << Message(offer.status());
  EXPECT_EQ(offer->name, "p");
  EXPECT_EQ(offer->policy, AllocatePolicy::kAligned);
  EXPECT_TRUE(offer->allocate_once);
  EXPECT_EQ(offer->allocatable, ListOf("{cpu: 2, memory: 1Gi}"));
  EXPECT_THAT(offer->resource_names, ElementsAre("cpu")) << "also while aligned";
  EXPECT_EQ(offer->consumer_uid, "w-1");
  EXPECT_THAT(offer->keys(), ElementsAre("label app=web"));
}

TEST(ReservationOffer, APodOffersOnlyWhileItIsReady) {
  constexpr const char* kPod =
      "{{metadata: {{labels: {{scheduling.koordinator.sh/operating-mode: {}}}}}, spec: {{nodeName: "
      "'{}'}}, status: {{phase: {}, conditions: [{{type: Ready, status: '{}'}}]}}}}";
  EXPECT_TRUE(
      IsOffering(PodOf(fmt::format(fmt::runtime(kPod), "Reservation", "n", "Running", "True"))));
  EXPECT_FALSE(
      IsOffering(PodOf(fmt::format(fmt::runtime(kPod), "Runnable", "n", "Running", "True"))));
  EXPECT_FALSE(
      IsOffering(PodOf(fmt::format(fmt::runtime(kPod), "Reservation", "", "Running", "True"))));
  EXPECT_FALSE(
      IsOffering(PodOf(fmt::format(fmt::runtime(kPod), "Reservation", "n", "Pending", "True"))));
  EXPECT_FALSE(
      IsOffering(PodOf(fmt::format(fmt::runtime(kPod), "Reservation", "n", "Running", "False"))));
}

TEST(ReservationOffer, IsForNobodyIfItCannotBeRead) {
  constexpr const char* kReservation =
      "{{metadata: {{annotations: {{{}: '{{'}}}}, spec: {{owners: [{{}}]}}}}";
  for (const char* key : {"scheduling.koordinator.sh/reservation-restricted-options",
                          "node.koordinator.sh/reservation"}) {
    const auto offer =
        ReservationOffer::Of(ReservationOf(fmt::format(fmt::runtime(kReservation), key)));
    ASSERT_FALSE(offer.ok());
    EXPECT_THAT(Message(offer.status()), HasSubstr(key));
  }
}

}  // namespace
}  // namespace koord::model::reservation_offer_test
