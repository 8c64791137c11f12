#include "model/reservation/owner_matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/reservation/reservation_testing.h"

namespace koord::model::owner_matching_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StatusOr<OwnerMatcher> MatcherOf(std::string_view owners) {
  return OwnerMatcher::Of(
      ReservationOf(fmt::format("{{spec: {{owners: {}}}}}", owners)).spec.owners);
}

struct OwnerCase {
  const char* name;
  const char* owners;
  const char* pod;  // metadata
  bool matches;
};
void PrintTo(const OwnerCase& test, std::ostream* out) { *out << test.name; }

class OwnerMatchingTest : public testing::TestWithParam<OwnerCase> {};

TEST_P(OwnerMatchingTest, TellsWhoseItIsAndHowToFindIt) {
  const auto matcher = MatcherOf(GetParam().owners);
  ASSERT_TRUE(matcher.ok()) << Message(matcher.status());
  const kube::Pod pod = PodOf(fmt::format("{{metadata: {}}}", GetParam().pod));
  EXPECT_EQ(matcher->Matches(pod), GetParam().matches);
  if (GetParam().matches) {
    const auto keys = OwnerKeysOf(pod);
    EXPECT_NE(std::ranges::find_first_of(keys, matcher->keys()), keys.end())
        << "an index would not find it";
  }
}

constexpr const char* kTv2 =
    "[{object: {namespace: ns1}, labelSelector: {matchLabels: {app: web}}}, {controller: {kind: "
    "StatefulSet, name: db, controller: true, namespace: ns2}}]";

const OwnerCase kOwnerCases[] = {
    {"TV2: all parts of the first item", kTv2, "{namespace: ns1, labels: {app: web}}", true},
    {"TV2: another namespace", kTv2, "{namespace: ns3, labels: {app: web}}", false},
    {"TV2: other labels", kTv2, "{namespace: ns1, labels: {app: db}}", false},
    {"TV2: the second item", kTv2,
     "{namespace: ns2, ownerReferences: [{kind: Job, name: db, controller: true}, {kind: "
     "StatefulSet, name: db, controller: true}]}",
     true},
    {"TV2: not its controller", kTv2,
     "{namespace: ns2, ownerReferences: [{kind: StatefulSet, name: db}]}", false},
    {"TV2: parts of several references are none", kTv2,
     "{namespace: ns2, ownerReferences: [{kind: Job, name: db, controller: true}, {kind: "
     "StatefulSet, name: x, controller: true}]}",
     false},
    {"TV2: a controller elsewhere", kTv2,
     "{namespace: ns1, ownerReferences: [{kind: StatefulSet, name: db, controller: true}]}", false},
    {"TV2: an empty item is for all", "[{}]", "{name: p, namespace: x}", true},
    {"TV2: no items are for none", "[]", "{name: p, namespace: x}", false},
    {"decision 26: any item", "[{object: {name: a}}, {object: {name: b}}]",
     "{name: b, namespace: x}", true},
    {"decision 26: all fields of an item", "[{object: {name: a, namespace: y}}]",
     "{name: a, namespace: x}", false},
    {"the apiVersion of pods", "[{object: {name: a, apiVersion: v1, kind: Anything}}]",
     "{name: a, namespace: x}", true},
    {"another apiVersion", "[{object: {name: a, apiVersion: apps/v1}}]", "{name: a}", false},
    {"by uid", "[{object: {uid: u, resourceVersion: '7', fieldPath: x}}]", "{name: a, uid: u}",
     true},
    {"another uid", "[{object: {uid: u, name: a}}]", "{name: a, uid: v}", false},
    {"a controller by uid", "[{controller: {uid: rs, apiVersion: apps/v1}}]",
     "{ownerReferences: [{uid: rs, apiVersion: apps/v1, kind: ReplicaSet, name: web}]}", true},
    {"a controller of another version", "[{controller: {uid: rs, apiVersion: apps/v1}}]",
     "{ownerReferences: [{uid: rs, apiVersion: apps/v2, kind: ReplicaSet, name: web}]}", false},
    {"a controller that must not control", "[{controller: {name: web, controller: false}}]",
     "{ownerReferences: [{name: web, controller: true}]}", false},
    {"whoever is controlled in a namespace", "[{controller: {namespace: x}}]",
     "{namespace: x, ownerReferences: [{name: web}]}", true},
    {"nobody controls it", "[{controller: {namespace: x}}]", "{namespace: x}", false},
    {"one of several values",
     "[{labelSelector: {matchExpressions: [{key: app, operator: In, values: [a, b]}]}}]",
     "{labels: {app: b}}", true},
    {"a label that must not be there",
     "[{labelSelector: {matchExpressions: [{key: app, operator: DoesNotExist}]}}]", "{name: x}",
     true},
    {"an empty selector is for all", "[{labelSelector: {}}]", "{name: x}", true},
    {"everything at once",
     "[{object: {namespace: x}, controller: {kind: ReplicaSet}, labelSelector: {matchLabels: {a: "
     "b}}}]",
     "{namespace: x, labels: {a: b}, ownerReferences: [{kind: ReplicaSet}]}", true},
};
INSTANTIATE_TEST_SUITE_P(Owners, OwnerMatchingTest, testing::ValuesIn(kOwnerCases));

TEST(OwnerKeys, AreTheNarrowestOfEachItem) {
  EXPECT_THAT(MatcherOf("[{object: {namespace: x}}]")->keys(), ElementsAre("in x"));
  EXPECT_THAT(
      MatcherOf("[{object: {uid: u, name: n}, labelSelector: {matchLabels: {a: b}}}]")->keys(),
      ElementsAre("uid u"));
  EXPECT_THAT(
      MatcherOf("[{object: {namespace: x}, labelSelector: {matchLabels: {a: b}, "
                "matchExpressions: [{key: c, operator: In, values: [d, e]}]}}, {controller: "
                "{uid: rs}}, {controller: {uid: rs}}]")
          ->keys(),
      ElementsAre("label a=b", "owned by rs"));
  EXPECT_THAT(MatcherOf("[{}]")->keys(), ElementsAre("*"));
  EXPECT_THAT(MatcherOf("[]")->keys(), ElementsAre());
}

TEST(OwnerMatching, SaysWhichSelectorMakesNoSense) {
  const auto matcher = MatcherOf(
      "[{}, {labelSelector: {matchExpressions: [{key: app, operator: Like, values: [a]}]}}]");
  ASSERT_FALSE(matcher.ok());
  EXPECT_THAT(Message(matcher.status()), HasSubstr("owners[1].labelSelector: "));
}

}  // namespace
}  // namespace koord::model::owner_matching_test
