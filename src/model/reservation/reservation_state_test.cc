#include "model/reservation/reservation_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/reservation/reservation_testing.h"

namespace koord::model::reservation_state_test {
namespace {

using testing::ElementsAre;

struct StateCase {
  const char* name;
  const char* status;
  const char* is;  // active, available, unassigned, ended, expired
};
void PrintTo(const StateCase& test, std::ostream* out) { *out << test.name; }

class ReservationStateTest : public testing::TestWithParam<StateCase> {};

TEST_P(ReservationStateTest, IsToldFromTheStatus) {
  api::Reservation reservation;
  reservation.status = FromYaml<api::Reservation>(GetParam().status).status;
  std::string is;
  if (IsActive(reservation)) is += "active ";
  if (IsAvailable(reservation)) is += "available ";
  if (IsUnassigned(reservation)) is += "unassigned ";
  if (HasEnded(reservation)) is += "ended ";
  if (IsExpired(reservation)) is += "expired ";
  EXPECT_EQ(is, GetParam().is);
}

const StateCase kStateCases[] = {
    {"new", "{}", "unassigned "},
    {"pending", "{status: {phase: Pending}}", "unassigned "},
    {"pending with a node", "{status: {phase: Pending, nodeName: n}}", ""},
    {"available", "{status: {phase: Available, nodeName: n}}", "active available "},
    {"available nowhere", "{status: {phase: Available}}", "unassigned "},
    {"waiting, as it was written once (decision 24)", "{status: {phase: Waiting, nodeName: n}}",
     "active "},
    {"succeeded", "{status: {phase: Succeeded, nodeName: n}}", "ended "},
    {"failed", "{status: {phase: Failed, nodeName: n}}", "ended "},
    {"expired",
     "{status: {phase: Failed, conditions: [{type: Scheduled, status: 'True'}, {type: Ready, "
     "status: 'False', reason: Expired}]}}",
     "ended expired "},
    {"the first condition Ready counts",
     "{status: {phase: Failed, conditions: [{type: Ready, status: 'False', reason: Succeeded}, "
     "{type: Ready, status: 'False', reason: Expired}]}}",
     "ended "},
    {"not expired while not failed",
     "{status: {phase: Available, nodeName: n, conditions: [{type: Ready, status: 'False', reason: "
     "Expired}]}}",
     "active available "},
};
INSTANTIATE_TEST_SUITE_P(States, ReservationStateTest, testing::ValuesIn(kStateCases));

constexpr const char* kTwoCpus =
    "spec: {template: {spec: {overhead: {cpu: 1}, initContainers: [{resources: {requests: {memory: "
    "4Gi}}}], containers: [{resources: {requests: {cpu: 2, memory: 1Gi}}}]}}}";

TEST(ReservationRequests, AreThoseOfTheTemplateUntilItIsAvailable) {
  EXPECT_EQ(RequestsOf(ReservationOf(fmt::format("{{{}}}", kTwoCpus))),
            ListOf("{cpu: 3, memory: 4Gi}"));
  EXPECT_EQ(RequestsOf(ReservationOf(fmt::format(
                "{{{}, status: {{phase: Available, allocatable: {{cpu: 9}}}}}}", kTwoCpus))),
            ListOf("{cpu: 3, memory: 4Gi}"))
      << "without a node it holds nothing";
  EXPECT_EQ(
      RequestsOf(ReservationOf(fmt::format(
          "{{{}, status: {{phase: Available, nodeName: n, allocatable: {{cpu: 9}}}}}}", kTwoCpus))),
      ListOf("{cpu: 9}"));
}

TEST(ReservationRequests, OfTheShortForm) {
  EXPECT_EQ(RequestsOf(ReservationOf("{spec: {resources: {requests: {cpu: 4, memory: 8Gi}}}}")),
            ListOf("{cpu: 4, memory: 8Gi}"));
  EXPECT_EQ(RequestsOf(ReservationOf("{spec: {owners: [{}]}}")), ListOf("{}"));
}

// Decision 7.
TEST(ReservationScheduler, IsNotNamedByAReservationThatNamesNone) {
  EXPECT_EQ(SchedulerNameOf(ReservationOf("{spec: {resources: {requests: {cpu: 4}}}}")), "");
  EXPECT_EQ(SchedulerNameOf(ReservationOf("{spec: {template: {spec: {}}}}")), "");
  EXPECT_EQ(SchedulerNameOf(ReservationOf("{spec: {template: {spec: {schedulerName: mine}}}}")),
            "mine");
}

// TV7.
TEST(ReservationResourceNames, AreThoseOfTheRestrictedOptionsThatItHas) {
  const kube::ResourceList allocatable = ListOf("{memory: 1Gi, cpu: 1}");
  EXPECT_THAT(ResourceNamesOf(allocatable, {}), ElementsAre("cpu", "memory"));
  EXPECT_THAT(ResourceNamesOf(allocatable, {"memory"}), ElementsAre("memory"));
  EXPECT_THAT(ResourceNamesOf(allocatable, {"gpu"}), ElementsAre("cpu", "memory"));
  EXPECT_THAT(ResourceNamesOf(allocatable, {"gpu", "cpu"}), ElementsAre("cpu"));
}

TEST(ReservationResourceNames, Mask) {
  EXPECT_EQ(Masked(ListOf("{memory: 1Gi, cpu: 1}"), {"cpu", "gpu"}), ListOf("{cpu: 1}"));
}

}  // namespace
}  // namespace koord::model::reservation_state_test
