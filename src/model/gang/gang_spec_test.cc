#include "model/gang/gang_spec.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/keys.h"

namespace koord::model::gang_spec_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Pairs = std::map<std::string, std::string, std::less<>>;

std::string Gang(std::string_view key) {
  return fmt::format("gang.scheduling.koordinator.sh/{}", key);
}

kube::Pod Pod(const Pairs& annotations, const Pairs& labels = {}) {
  kube::Pod pod;
  pod.metadata.ns = "ns";
  pod.metadata.name = "p";
  pod.metadata.annotations = annotations;
  pod.metadata.labels = labels;
  return pod;
}

GangSpec Said(const Pairs& annotations, const Pairs& labels = {}, GangDefaults defaults = {}) {
  const auto spec = GangSpecOf(Pod(annotations, labels), defaults);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.ok() ? *spec : GangSpec();
}

TEST(GangSpecTest, ThePodsGangIsNamedByLabelsBeforeTheAnnotation) {
  EXPECT_EQ(GangIdOf(Pod({})), "");
  EXPECT_EQ(GangIdOf(Pod({{Gang("name"), "a"}})), "ns/a");
  const Pairs lightweight{{"pod-group.scheduling.sigs.k8s.io/name", "b"}};
  EXPECT_EQ(GangIdOf(Pod({{Gang("name"), "a"}}, lightweight)), "ns/b");
  EXPECT_FALSE(IsOfPodGroup(Pod({}, lightweight)));
  const Pairs both{{"pod-group.scheduling.sigs.k8s.io", "c"},
                   {"pod-group.scheduling.sigs.k8s.io/name", "b"}};
  EXPECT_EQ(GangIdOf(Pod({{Gang("name"), "a"}}, both)), "ns/c");
  EXPECT_TRUE(IsOfPodGroup(Pod({}, both)));
}

// What a pod says that is not legal counts as not said.
TEST(GangSpecTest, IllegalValuesOfAPodFallBackToDefaultsAndAreNamed) {
  EXPECT_EQ(Message(GangSpecOf(Pod({{Gang("name"), "g"}}), {}).status()), "missing min available");
  EXPECT_THAT(
      Message(GangSpecOf(Pod({{Gang("name"), "g"}, {Gang("min-available"), "abc"}}), {}).status()),
      HasSubstr("min-available: \"abc\""));

  const GangSpec spec = Said({{Gang("name"), "g"},
                              {Gang("min-available"), "3"},
                              {Gang("total-number"), "2"},
                              {Gang("mode"), "soft"},
                              {Gang("match-policy"), "x"},
                              {Gang("waiting-time"), "-5s"},
                              {Gang("groups"), "a,b"}});
  EXPECT_EQ(spec.min, 3);
  EXPECT_EQ(spec.total, 3);
  EXPECT_EQ(spec.mode, GangMode::kStrict);
  EXPECT_EQ(spec.policy, GangMatchPolicy::kOnceSatisfied);
  EXPECT_EQ(spec.wait, 600s);
  EXPECT_THAT(spec.group, ElementsAre("ns/g"));
  EXPECT_FALSE(spec.from_pod_group);
  EXPECT_THAT(spec.problems, ElementsAre(HasSubstr("/total-number"), HasSubstr("/mode"),
                                         HasSubstr("/match-policy"), HasSubstr("/waiting-time"),
                                         HasSubstr("/groups")));
}

TEST(GangSpecTest, WhatAPodSaysIsTaken) {
  const GangSpec spec = Said({{Gang("name"), "g"},
                              {Gang("min-available"), "9"},
                              {Gang("total-number"), "5"},
                              {Gang("mode"), "NonStrict"},
                              {Gang("match-policy"), "only-waiting"},
                              {Gang("waiting-time"), "90s"},
                              {Gang("groups"), "[\"other/h\", \"ns/g\", \"ns/g\"]"}},
                             {{"pod-group.scheduling.sigs.k8s.io/min-available", "4"}});
  EXPECT_EQ(spec.min, 4) << "the label goes before the annotation";
  EXPECT_EQ(spec.total, 5);
  EXPECT_EQ(spec.mode, GangMode::kNonStrict);
  EXPECT_EQ(spec.policy, GangMatchPolicy::kOnlyWaiting);
  EXPECT_EQ(spec.wait, 90s);
  EXPECT_THAT(spec.group, ElementsAre("ns/g", "other/h"));
  EXPECT_EQ(GangGroupIdOf(spec.group), "ns/g,other/h");
  EXPECT_THAT(spec.problems, IsEmpty());
}

TEST(GangSpecTest, DefaultsAreTheProfiles) {
  const GangSpec spec = Said({{Gang("name"), "g"}, {Gang("min-available"), "1"}}, {},
                             {.wait = 7s, .policy = GangMatchPolicy::kWaitingAndRunning});
  EXPECT_EQ(spec.wait, 7s);
  EXPECT_EQ(spec.policy, GangMatchPolicy::kWaitingAndRunning);
}

TEST(GangSpecTest, TheOlderSpellingOfThePolicyIsRead) {
  EXPECT_EQ(Said({{Gang("name"), "g"},
                  {Gang("min-available"), "1"},
                  {"pod-group.scheduling.sigs.k8s.io/match-policy", "only-waiting"}})
                .policy,
            GangMatchPolicy::kOnlyWaiting);
}

// Nobody becomes part of gangs that he does not belong to.
TEST(GangSpecTest, AGroupWithoutTheGangItselfCountsAsIllegal) {
  const GangSpec spec =
      Said({{Gang("name"), "g"}, {Gang("min-available"), "1"}, {Gang("groups"), "[\"other/h\"]"}});
  EXPECT_THAT(spec.group, ElementsAre("ns/g"));
  EXPECT_THAT(spec.problems, ElementsAre(HasSubstr("/groups")));
}

TEST(GangSpecTest, APodGroupSaysItInItsSpecAndTheSameAnnotations) {
  api::PodGroup group;
  group.metadata.ns = "ns";
  group.metadata.name = "g";
  group.metadata.annotations = {{Gang("waiting-time"), "1s"},
                                {Gang("mode"), "NonStrict"},
                                {Gang("match-policy"), "waiting-and-running"},
                                {Gang("groups"), "[\"ns/g\",\"ns/h\"]"}};
  group.spec.min_member = 3;
  GangSpec spec = GangSpecOf(group, {});
  EXPECT_TRUE(spec.from_pod_group);
  EXPECT_EQ(spec.min, 3);
  EXPECT_EQ(spec.total, 3);
  EXPECT_EQ(spec.wait, 600s) << "the annotation is for pods";
  EXPECT_EQ(spec.mode, GangMode::kNonStrict);
  EXPECT_EQ(spec.policy, GangMatchPolicy::kWaitingAndRunning);
  EXPECT_THAT(spec.group, ElementsAre("ns/g", "ns/h"));
  group.spec.schedule_timeout_seconds = 20;
  EXPECT_EQ(GangSpecOf(group, {}).wait, 20s);
  group.spec.schedule_timeout_seconds = 0;
  spec = GangSpecOf(group, {});
  EXPECT_EQ(spec.wait, 600s);
  EXPECT_THAT(spec.problems, ElementsAre(HasSubstr("spec.scheduleTimeoutSeconds")));
}

}  // namespace
}  // namespace koord::model::gang_spec_test
