#include "model/reservation/reservation_matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/reservation/reservation_testing.h"

namespace koord::model::reservation_matching_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ToString(MatchOutcome outcome) {
  switch (outcome) {
    case MatchOutcome::kNotOwner:
      return "not owner";
    case MatchOutcome::kIgnored:
      return "ignored";
    case MatchOutcome::kNameUnmatched:
      return "name unmatched";
    case MatchOutcome::kUnschedulable:
      return "unschedulable";
    case MatchOutcome::kTaint:
      return "taint";
    case MatchOutcome::kAffinityUnmatched:
      return "affinity unmatched";
    case MatchOutcome::kNotExact:
      return "not exact";
    case MatchOutcome::kNameMatched:
      return "name matched";
    case MatchOutcome::kMatched:
      return "matched";
  }
  return "";
}

constexpr const char* kAffinity = "scheduling.koordinator.sh/reservation-affinity";
constexpr const char* kExact = "scheduling.koordinator.sh/exact-match-reservation";

struct MatchCase {
  const char* name;
  std::string pod;
  std::string reservation;
  std::string outcome;
  bool omit_node_labels = false;
};
void PrintTo(const MatchCase& test, std::ostream* out) { *out << test.name; }

std::string Asking(std::string_view affinity, std::string_view more = "") {
  return fmt::format("metadata: {{annotations: {{{}: '{}'{}}}}}", kAffinity, affinity, more);
}
// For everybody, with more to say.
std::string Offering(std::string_view metadata, std::string_view spec) {
  return fmt::format("metadata: {{name: r, uid: u{}}}, spec: {{owners: [{{}}]{}}}", metadata, spec);
}
const std::string kPlain = Offering("", "");

class ReservationMatchingTest : public testing::TestWithParam<MatchCase> {};

TEST_P(ReservationMatchingTest, IsDecidedInOrder) {
  const kube::Pod pod = PodOf("{" + GetParam().pod + "}");
  const auto seeker = ReservationSeeker::Of(pod);
  ASSERT_TRUE(seeker.ok()) << Message(seeker.status());
  const auto offer = ReservationOffer::Of(ReservationOf("{" + GetParam().reservation + "}"));
  ASSERT_TRUE(offer.ok()) << Message(offer.status());
  const kube::Labels node_labels{{"zone", "a"}, {"both", "node"}};
  const ReservationMatch match =
      Match(pod, *seeker, *offer, node_labels, {GetParam().omit_node_labels});
  std::string outcome = ToString(match.outcome);
  if (match.taint != nullptr) outcome += " " + TaintText(*match.taint);
  EXPECT_EQ(outcome, GetParam().outcome);
  const auto keys = OfferKeysOf(pod, *seeker);
  if (match.outcome != MatchOutcome::kNotOwner && match.outcome != MatchOutcome::kIgnored) {
    EXPECT_NE(std::ranges::find_first_of(keys, offer->keys()), keys.end())
        << "an index would not find it";
  }
}

const std::string kTainted =
    Offering("",
             ", taints: [{key: soft, effect: PreferNoSchedule}, {key: k, value: v, effect: "
             "NoSchedule}, {key: l, effect: NoExecute}]");
const std::string kLabelled = Offering(", labels: {app: web, both: own}", "");
const std::string kUnschedulable = Offering("", ", unschedulable: true");
const std::string kNamed = Asking(R"({"name":"r"})");

const MatchCase kMatchCases[] = {
    {"owners match and nothing is asked", "metadata: {name: p}", kPlain, "matched"},
    {"not for this pod", "metadata: {name: p}",
     "metadata: {name: r}, spec: {owners: [{object: {name: q}}]}", "not owner"},
    {"ignored before all else",
     "metadata: {name: p, labels: {scheduling.koordinator.sh/reservation-ignored: 'true'}}",
     "metadata: {name: r}, spec: {unschedulable: true, owners: [{object: {name: q}}]}", "ignored"},
    {"owners count also for who names it", kNamed,
     "metadata: {name: r}, spec: {owners: [{object: {name: q}}]}", "not owner"},

    // Decision 7.
    {"without owners: for whoever names it", kNamed,
     "metadata: {name: r}, spec: {resources: {requests: {cpu: 1}}}", "name matched"},
    {"without owners: by the label",
     "metadata: {labels: {scheduling.koordinator.sh/reservation: r}}",
     "metadata: {name: r}, spec: {resources: {requests: {cpu: 1}}}", "name matched"},
    {"without owners: not for who names another", Asking(R"({"name":"s"})"),
     "metadata: {name: r}, spec: {resources: {requests: {cpu: 1}}}", "not owner"},
    {"without owners: not for who asks for any", Asking("{}"),
     "metadata: {name: r}, spec: {resources: {requests: {cpu: 1}}}", "not owner"},
    {"without owners: not for anybody", "metadata: {name: p}",
     "metadata: {name: r}, spec: {resources: {requests: {cpu: 1}}}", "not owner"},

    {"by name", kNamed, kPlain, "name matched"},
    {"another name", Asking(R"({"name":"s"})"), kPlain, "name unmatched"},
    {"a name passes over all that follows",
     Asking(R"({"name":"r","reservationSelector":{"no":"such"}})"),
     Offering("", ", unschedulable: true, taints: [{key: k, effect: NoSchedule}]"), "name matched"},
    {"a name, but not exact",
     Asking(R"({"name":"r"})", fmt::format(R"(, {}: '{{"resourceNames":["cpu"]}}')", kExact)) +
         ", spec: {containers: [{resources: {requests: {cpu: 2}}}]}",
     Offering("", ", template: {spec: {containers: [{resources: {requests: {cpu: 4}}}]}}"),
     "not exact"},

    {"unschedulable", "metadata: {name: p}", kUnschedulable, "unschedulable"},
    {"unschedulable while being deleted", "metadata: {name: p}",
     Offering(", deletionTimestamp: '2026-01-01T00:00:00Z'", ""), "unschedulable"},
    {"unschedulable, tolerated",
     Asking(R"({"tolerations":[{"key":"node.kubernetes.io/unschedulable","operator":"Exists"}]})"),
     kUnschedulable, "matched"},
    {"unschedulable, something else is tolerated",
     Asking(R"({"tolerations":[{"key":"k","operator":"Exists"}]})"), kUnschedulable,
     "unschedulable"},

    {"taints do not keep off who does not ask", "metadata: {name: p}", kTainted, "matched"},
    {"the first taint that is not tolerated", Asking(""), kTainted, "taint {k: v}"},
    {"the second one", Asking(R"({"tolerations":[{"key":"k","value":"v"}]})"), kTainted,
     "taint {l: }"},
    {"all tolerated", Asking(R"({"tolerations":[{"operator":"Exists"}]})"), kTainted, "matched"},

    {"an empty affinity is for any", Asking(""), kPlain, "matched"},
    {"its own labels", Asking(R"({"reservationSelector":{"app":"web"}})"), kLabelled, "matched"},
    {"other labels", Asking(R"({"reservationSelector":{"app":"db"}})"), kLabelled,
     "affinity unmatched"},
    {"labels of its node", Asking(R"({"reservationSelector":{"app":"web","zone":"a"}})"), kLabelled,
     "matched"},
    {"labels of its node do not count", Asking(R"({"reservationSelector":{"zone":"a"}})"),
     kLabelled, "affinity unmatched", true},
    {"its own labels come first", Asking(R"({"reservationSelector":{"both":"node"}})"), kLabelled,
     "affinity unmatched"},
    {"terms over both",
     Asking(R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[
               {"matchExpressions":[{"key":"zone","operator":"In","values":["b"]}]},
               {"matchExpressions":[{"key":"zone","operator":"In","values":["a"]},
                                    {"key":"both","operator":"In","values":["own"]}],
                "matchFields":[{"key":"metadata.name","operator":"In","values":["r"]}]}]}})"),
     kLabelled, "matched"},
    {"terms without the node",
     Asking(R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[
               {"matchExpressions":[{"key":"zone","operator":"Exists"}]}]}})"),
     kLabelled, "affinity unmatched", true},
    {"a term about its name",
     Asking(R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[
               {"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["r"]}]}]}})"),
     kPlain, "affinity unmatched"},
    {"no terms", Asking(R"({"requiredDuringSchedulingIgnoredDuringExecution":{}})"), kPlain,
     "affinity unmatched"},
    {"a term without requirements",
     Asking(
         R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{}]}})"),
     kPlain, "affinity unmatched"},
};
INSTANTIATE_TEST_SUITE_P(Matches, ReservationMatchingTest, testing::ValuesIn(kMatchCases));

// TV3.
TEST(ReservationExactMatch, ComparesWithWhatIsReserved) {
  const auto offer = ReservationOffer::Of(
      ReservationOf("{metadata: {name: r}, spec: {owners: [{}], resources: {requests: {cpu: 4, "
                    "memory: 8Gi}}}}"));
  const auto outcome = [&](std::string_view names, std::string_view requests) {
    const kube::Pod pod = PodOf(fmt::format(
        "{{metadata: {{annotations: {{{}: '{{\"resourceNames\":{}}}'}}}}, spec: {{containers: "
        "[{{resources: {{requests: {}}}}}]}}}}",
        kExact, names, requests));
    return ToString(Match(pod, *ReservationSeeker::Of(pod), *offer, {}, {}).outcome);
  };
  EXPECT_EQ(outcome(R"(["cpu","memory"])", "{cpu: 4, memory: 8Gi}"), "matched");
  EXPECT_EQ(outcome(R"(["cpu","memory"])", "{cpu: 4, memory: 4Gi}"), "not exact");
  EXPECT_EQ(outcome(R"(["cpu","memory"])", "{cpu: 4}"), "not exact");
  EXPECT_EQ(outcome(R"(["nvidia.com/gpu","cpu"])", "{cpu: 1}"), "matched");
  EXPECT_EQ(outcome("[]", "{cpu: 1}"), "matched");
}

TEST(ReservationSeeker, SaysWhatItCannotRead) {
  for (const char* key : {kAffinity, kExact}) {
    const auto seeker = ReservationSeeker::Of(
        PodOf(fmt::format("{{metadata: {{annotations: {{{}: '{{name'}}}}}}", key)));
    ASSERT_FALSE(seeker.ok());
    EXPECT_THAT(Message(seeker.status()), HasSubstr(key));
  }
}

TEST(ReservationSeeker, TheAnnotationComesBeforeTheLabel) {
  const auto seeker = ReservationSeeker::Of(
      PodOf("{metadata: {labels: {scheduling.koordinator.sh/reservation: l}, annotations: "
            "{scheduling.koordinator.sh/reservation-affinity: '{\"name\":\"a\"}'}}}"));
  EXPECT_EQ(seeker->wanted_name(), "a");
}

}  // namespace
}  // namespace koord::model::reservation_matching_test
