#include "model/reservation/reservation_status.h"

#include <gtest/gtest.h>

#include "model/reservation/reservation_testing.h"

namespace koord::model::reservation_status_test {
namespace {

const WallTime kNow = *kube::ParseTime("2026-07-01T10:00:00Z");

struct ChangeCase {
  const char* name;
  const char* before;
  void (*change)(api::ReservationStatus&);
  const char* after;
};
void PrintTo(const ChangeCase& test, std::ostream* out) { *out << test.name; }

void Unschedulable(api::ReservationStatus& status) { SetUnschedulable(status, "no room", kNow); }
void Available(api::ReservationStatus& status) {
  SetAvailable(status, "n1", ListOf("{cpu: 4}"), kNow);
}
void Expired(api::ReservationStatus& status) { SetExpired(status, kNow); }
void Succeeded(api::ReservationStatus& status) { SetSucceeded(status, kNow); }

class ReservationChangeTest : public testing::TestWithParam<ChangeCase> {};

TEST_P(ReservationChangeTest, GivesTheStatusAfter) {
  api::Reservation reservation = ReservationOf(fmt::format("{{status: {}}}", GetParam().before));
  GetParam().change(reservation.status);
  const api::Reservation after = ReservationOf(fmt::format("{{status: {}}}", GetParam().after));
  EXPECT_EQ(kube::ToYaml(kube::Encode(reservation)), kube::ToYaml(kube::Encode(after)));
}

// Written at 9 o'clock, changed at 10.
const ChangeCase kChanges[] = {
    {"the first failure", "{phase: Pending}", Unschedulable,
     "{phase: Pending, conditions: [{type: Scheduled, status: 'False', reason: Unschedulable, "
     "message: no room, lastProbeTime: '2026-07-01T10:00:00Z', lastTransitionTime: "
     "'2026-07-01T10:00:00Z'}]}"},
    {"another failure keeps the time of the transition",
     "{conditions: [{type: Scheduled, status: 'False', reason: X, message: old, lastProbeTime: "
     "'2026-07-01T09:00:00Z', lastTransitionTime: '2026-07-01T09:00:00Z'}]}",
     Unschedulable,
     "{conditions: [{type: Scheduled, status: 'False', reason: Unschedulable, message: no room, "
     "lastProbeTime: '2026-07-01T10:00:00Z', lastTransitionTime: '2026-07-01T09:00:00Z'}]}"},
    {"one that was scheduled is only looked at",
     "{phase: Available, conditions: [{type: Scheduled, status: 'True', reason: Scheduled, "
     "lastProbeTime: '2026-07-01T09:00:00Z'}]}",
     Unschedulable,
     "{phase: Available, conditions: [{type: Scheduled, status: 'True', reason: Scheduled, "
     "lastProbeTime: '2026-07-01T10:00:00Z'}]}"},
    {"available replaces all conditions",
     "{phase: Pending, conditions: [{type: Scheduled, status: 'False', reason: Unschedulable, "
     "message: no room}, {type: Other, status: 'True'}]}",
     Available,
     "{phase: Available, nodeName: n1, allocatable: {cpu: 4}, conditions: [{type: Scheduled, "
     "status: 'True', reason: Scheduled, lastProbeTime: '2026-07-01T10:00:00Z', "
     "lastTransitionTime: '2026-07-01T10:00:00Z'}, {type: Ready, status: 'True', reason: "
     "Available, lastProbeTime: '2026-07-01T10:00:00Z', lastTransitionTime: "
     "'2026-07-01T10:00:00Z'}]}"},
    {"expired before it was ready", "{phase: Pending, nodeName: n1}", Expired,
     "{phase: Failed, nodeName: n1, conditions: [{type: Ready, status: 'False', reason: Expired, "
     "lastProbeTime: '2026-07-01T10:00:00Z', lastTransitionTime: '2026-07-01T10:00:00Z'}]}"},
    {"expired while ready",
     "{phase: Available, conditions: [{type: Ready, status: 'True', reason: Available, message: m, "
     "lastTransitionTime: '2026-07-01T09:00:00Z'}]}",
     Expired,
     "{phase: Failed, conditions: [{type: Ready, status: 'False', reason: Expired, lastProbeTime: "
     "'2026-07-01T10:00:00Z', lastTransitionTime: '2026-07-01T10:00:00Z'}]}"},
    {"expired when it was not ready any more",
     "{phase: Waiting, conditions: [{type: Ready, status: 'False', reason: X, message: m, "
     "lastTransitionTime: '2026-07-01T09:00:00Z'}]}",
     Expired,
     "{phase: Failed, conditions: [{type: Ready, status: 'False', reason: Expired, message: m, "
     "lastProbeTime: '2026-07-01T10:00:00Z', lastTransitionTime: '2026-07-01T09:00:00Z'}]}"},
    {"succeeded", "{phase: Available}", Succeeded,
     "{phase: Succeeded, conditions: [{type: Ready, status: 'False', reason: Succeeded, "
     "lastProbeTime: '2026-07-01T10:00:00Z', lastTransitionTime: '2026-07-01T10:00:00Z'}]}"},
    {"succeeded while ready keeps the time of the transition",
     "{phase: Available, conditions: [{type: Ready, status: 'True', reason: Available, "
     "lastTransitionTime: '2026-07-01T09:00:00Z'}]}",
     Succeeded,
     "{phase: Succeeded, conditions: [{type: Ready, status: 'False', reason: Succeeded, "
     "lastProbeTime: '2026-07-01T10:00:00Z', lastTransitionTime: '2026-07-01T09:00:00Z'}]}"},
};
INSTANTIATE_TEST_SUITE_P(Changes, ReservationChangeTest, testing::ValuesIn(kChanges));

TEST(ReservationAllocatable, IsWhatItAsksForUnlessResized) {
  EXPECT_EQ(*AllocatableToBe(
                ReservationOf("{spec: {resources: {requests: {cpu: 4, koordinator.sh/gpu: 50}}}}")),
            ListOf("{cpu: 4, koordinator.sh/gpu: 50}"));
  EXPECT_EQ(
      *AllocatableToBe(ReservationOf(
          R"({metadata: {annotations: {scheduling.koordinator.sh/reservation-resize-allocatable:
                    '{"resources":{"koordinator.sh/gpu":"100","x":"1"}}'}},
                    spec: {resources: {requests: {cpu: 4, koordinator.sh/gpu: 50}}}})")),
      ListOf("{cpu: 4, koordinator.sh/gpu: 100, x: 1}"));
  EXPECT_FALSE(AllocatableToBe(ReservationOf("{metadata: {annotations: {scheduling.koordinator.sh/"
                                             "reservation-resize-allocatable: '{'}}}"))
                   .ok());
}

struct TimeCase {
  const char* name;
  const char* reservation;
  bool due;
  std::optional<Duration> next_look;
};
void PrintTo(const TimeCase& test, std::ostream* out) { *out << test.name; }

class ReservationTimeTest : public testing::TestWithParam<TimeCase> {};

TEST_P(ReservationTimeTest, EndsAndIsLookedAt) {
  const api::Reservation reservation = ReservationOf(GetParam().reservation);
  EXPECT_EQ(IsDue(reservation, kNow), GetParam().due);
  EXPECT_EQ(NextLook(reservation, kNow), GetParam().next_look);
}

const TimeCase kTimes[] = {
    {"TV12: ttl is over",
     "{metadata: {creationTimestamp: '2026-07-01T09:55:00Z'}, spec: {ttl: 1m}}", true, 3s},
    {"TV12: ttl 0 is for ever",
     "{metadata: {creationTimestamp: '2026-07-01T09:55:00Z'}, spec: {ttl: '0s', expires: "
     "'2026-07-01T09:59:00Z'}}",
     false, std::nullopt},
    {"TV12: expires in 40 s", "{spec: {expires: '2026-07-01T10:00:40Z'}}", false, 15s},
    {"TV12: expires in 1 s", "{spec: {expires: '2026-07-01T10:00:01Z'}}", false, 3s},
    {"TV12: ttl 10 m just created",
     "{metadata: {creationTimestamp: '2026-07-01T10:00:00Z'}, spec: {ttl: 10m}}", false, 15s},
    {"in between", "{spec: {expires: '2026-07-01T10:00:07Z'}}", false, 7s},
    {"not before the moment has passed", "{spec: {expires: '2026-07-01T10:00:00Z'}}", false, 3s},
    {"whichever comes first",
     "{metadata: {creationTimestamp: '2026-07-01T09:55:00Z'}, spec: {ttl: 1m, expires: "
     "'2026-07-02T10:00:00Z'}}",
     true, 3s},
    {"neither", "{}", false, std::nullopt},
    {"longer than anybody can count",
     "{metadata: {creationTimestamp: '2026-07-01T09:55:00Z'}, spec: {ttl: 2562047h}}", false, 15s},
    {"ended", "{spec: {expires: '2026-07-01T10:00:40Z'}, status: {phase: Succeeded}}", false,
     std::nullopt},
};
INSTANTIATE_TEST_SUITE_P(Times, ReservationTimeTest, testing::ValuesIn(kTimes));

struct CollectCase {
  const char* name;
  const char* status;
  bool has_its_node;
  bool collectable;
};
void PrintTo(const CollectCase& test, std::ostream* out) { *out << test.name; }

class ReservationCollectTest : public testing::TestWithParam<CollectCase> {};

TEST_P(ReservationCollectTest, OnlyTheEndedAfterAWhile) {
  const auto reservation = ReservationOf(fmt::format("{{status: {}}}", GetParam().status));
  EXPECT_EQ(IsCollectable(reservation, GetParam().has_its_node, 1h, kNow), GetParam().collectable);
}

const CollectCase kCollected[] = {
    {"expired long ago",
     "{phase: Failed, conditions: [{type: Ready, status: 'False', reason: Expired, lastProbeTime: "
     "'2026-07-01T09:59:00Z', lastTransitionTime: '2026-07-01T08:59:59Z'}]}",
     true, true},
    {"expired just now",
     "{phase: Failed, conditions: [{type: Ready, status: 'False', reason: Expired, lastProbeTime: "
     "'2026-07-01T08:00:00Z', lastTransitionTime: '2026-07-01T09:00:00Z'}]}",
     true, false},
    {"expired just now, and the node is gone",
     "{phase: Failed, conditions: [{type: Ready, status: 'False', reason: Expired, "
     "lastTransitionTime: '2026-07-01T09:59:00Z'}]}",
     false, true},
    {"succeeded long ago",
     "{phase: Succeeded, conditions: [{type: Ready, status: 'False', reason: Succeeded, "
     "lastProbeTime: '2026-07-01T08:59:59Z', lastTransitionTime: '2026-07-01T09:59:00Z'}]}",
     true, true},
    {"succeeded just now",
     "{phase: Succeeded, conditions: [{type: Ready, status: 'False', reason: Succeeded, "
     "lastProbeTime: '2026-07-01T09:59:00Z', lastTransitionTime: '2026-07-01T07:00:00Z'}]}",
     true, false},
    {"failed for another reason", "{phase: Failed}", false, false},
    {"available on a node that is gone", "{phase: Available, nodeName: n}", false, false},
};
INSTANTIATE_TEST_SUITE_P(Collected, ReservationCollectTest, testing::ValuesIn(kCollected));

// Decision 8.
TEST(ReservationConsumer, IsWrittenOnThoseThatAreUsedOnce) {
  constexpr const char* kOwner =
      R"({metadata: {annotations: {scheduling.koordinator.sh/reservation-current-owner:
          '{"namespace":"ns","name":"p","uid":"u"}'}}, spec: {allocateOnce: %s}})";
  std::string once(kOwner), often(kOwner);
  once.replace(once.find("%s"), 2, "true");
  often.replace(often.find("%s"), 2, "false");
  EXPECT_EQ(ConsumerOf(ReservationOf(once))->uid, "u");
  EXPECT_FALSE(ConsumerOf(ReservationOf(often)));
  EXPECT_FALSE(ConsumerOf(ReservationOf("{}")));
}

}  // namespace
}  // namespace koord::model::reservation_status_test
