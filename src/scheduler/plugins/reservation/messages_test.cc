#include "scheduler/plugins/reservation/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::scheduler::reservation_messages_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Outcome = model::MatchOutcome;

std::vector<Seeker::Considered> With(std::initializer_list<Outcome> outcomes,
                                     const kube::Taint* taint = nullptr) {
  std::vector<Seeker::Considered> considered;
  for (const Outcome outcome : outcomes) {
    considered.push_back({nullptr, {outcome, outcome == Outcome::kTaint ? taint : nullptr}});
  }
  return considered;
}

TEST(ReservationMessagesTest, Vector9Reasons) {
  const kube::Taint taint{.key = "k", .value = "v", .effect = "NoSchedule"};
  ReservationTally tally;
  tally.Add(With({Outcome::kUnschedulable, Outcome::kAffinityUnmatched, Outcome::kMatched,
                  Outcome::kMatched}),
            {"Reservation(s) Insufficient cpu", "node(s) had volume node affinity conflict"});
  tally.Add(With({Outcome::kTaint}, &taint), {});
  EXPECT_THAT(tally.Lines(true),
              ElementsAre("1 Reservation(s) didn't match affinity rules",
                          "1 Reservation(s) is unschedulable",
                          "1 Reservation(s) had untolerated taint {k: v}",
                          "1 Reservation(s) for node reason that node(s) had volume node affinity "
                          "conflict",
                          "5 Reservation(s) matched owner total"));
}

TEST(ReservationMessagesTest, NamesComeFirst) {
  ReservationTally tally;
  tally.Add(With({Outcome::kNameMatched, Outcome::kNameUnmatched, Outcome::kNotExact}),
            {"Insufficient cpu by node"});
  EXPECT_THAT(tally.Lines(true),
              ElementsAre("1 Reservation(s) exactly matches the requested reservation name",
                          "1 Reservation(s) didn't match the requested reservation name",
                          "1 Reservation(s) is not exact matched",
                          "1 Reservation(s) for node reason that Insufficient cpu by node",
                          "3 Reservation(s) matched owner total"));
}

TEST(ReservationMessagesTest, PodsThatOwnNoneHearOfThemOnlyIfTheyMustUseOne) {
  EXPECT_THAT(ReservationTally().Lines(false), IsEmpty());
  EXPECT_THAT(ReservationTally().Lines(true), ElementsAre("0 Reservation(s) matched owner total"));
}

TEST(ReservationMessagesTest, Vector10Event) {
  EXPECT_EQ(
      ReservationEventText(
          "0/4 nodes are available: 2 Reservation(s) Insufficient memory, 1 Insufficient cpu by "
          "node, 1 node(s) had untolerated taint {a: b}. 2 Reservation(s) for node reason that "
          "node(s) had untolerated taint {a: b}, 1 Reservation(s) exactly matches the requested "
          "reservation name, 5 Reservation(s) matched owner total."),
      "0/5 reservations are available: 1 Reservation(s) exactly matches the requested reservation "
      "name, 2 Reservation(s) Insufficient memory, 2 Reservation(s) for node reason that node(s) "
      "had untolerated taint {a: b}.");
}

TEST(ReservationMessagesTest, OtherMessagesAreNoEvent) {
  EXPECT_EQ(ReservationEventText("0/4 nodes are available: 4 Insufficient cpu."), std::nullopt);
  EXPECT_EQ(ReservationEventText("running PreFilter plugin \"x\": y"), std::nullopt);
  EXPECT_EQ(ReservationEventText("0/x nodes are available: 1 Reservation(s) matched owner total"),
            std::nullopt);
}

}  // namespace
}  // namespace koord::scheduler::reservation_messages_test
