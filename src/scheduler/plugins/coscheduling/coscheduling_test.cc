// Gangs with the scheduler around them: what is bound, what is given back, and what users read.
#include "scheduler/plugins/coscheduling/coscheduling.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/plugins/coscheduling/gang_bed_testing.h"

namespace koord::scheduler::coscheduling_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class CoschedulingTest : public testing::Test, protected GangBed {
 protected:
  CoschedulingTest() { Restart(); }
};

TEST_F(CoschedulingTest, NobodyIsBoundBeforeEnoughAreThere) {
  AddNode("n", 8);
  Create("p1", {.gang = "name: g; min-available: '3'"});
  Create("p2", {.gang = "name: g; min-available: '3'"});
  EXPECT_THAT(Bound(), IsEmpty());
  EXPECT_EQ(PoolOf("p2"), QueuePool::kGated);
  EXPECT_EQ(MessageOf("p2"),
            "gangGroup [a/g] basic check: memberGangs [a/g] child pod not collect enough, current "
            "gang: a/g, podName: a/p2");
  Create("p3", {.gang = "name: g; min-available: '3'"});
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2", "p3"));
  for (const char* name : {"p1", "p2", "p3"}) {
    EXPECT_THAT(
        bindings_.annotations[name],
        UnorderedElementsAre(Pair("internal.scheduling.koordinator.sh/bind-gang-group-id", "a/g"),
                             Pair("internal.scheduling.koordinator.sh/bind-gang-member-count", "3"),
                             Pair("scheduling.koordinator.sh/bind-gang-group-id", "a/g"),
                             Pair("scheduling.koordinator.sh/bind-gang-member-count", "3")))
        << name;
  }
  EXPECT_THAT(Failures(), IsEmpty());
}

TEST_F(CoschedulingTest, OnePodStandsForTheGroupInTheQueue) {
  scheduler_->Stop();
  AddNode("n", 8);
  const std::string label = "pod-group.scheduling.sigs.k8s.io: g";
  Create("p1", {.labels = label});
  EXPECT_EQ(MessageOf("p1"), "gang has not init, gangName: a/g, podName: a/p1");
  scheduler_->objects().pod_groups.Set(
      FromYaml<api::PodGroup>("{metadata: {name: g, namespace: a}, spec: {minMember: 3}}"));
  Create("p2", {.labels = label});
  EXPECT_EQ(MessageOf("p2"),
            "gangGroup [a/g] basic check: memberGangs [a/g] child pod not collect enough, current "
            "gang: a/g, podName: a/p2");
  Create("p3", {.labels = label});
  EXPECT_EQ(PoolOf("p3"), QueuePool::kActive);
  Create("p4", {.labels = label});
  EXPECT_EQ(PoolOf("p4"), QueuePool::kGated);
  EXPECT_EQ(MessageOf("p4"), "representative pod a/p3 of gangGroupID a/g already exists");
  scheduler_->Start();
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2", "p3", "p4"));
}

TEST_F(CoschedulingTest, AStrictGangThatDoesNotFitHoldsNothingAndIsToldWhy) {
  AddNode("n", 2);
  for (const char* name : {"p1", "p2", "p3", "p4"}) {
    Create(name, {.gang = "name: g; min-available: '3'"});
  }
  EXPECT_THAT(Bound(), IsEmpty());
  ExpectNothingHeld();
  const std::string why =
      "GangGroup \"a/g\" gets rejected due to member Pod \"a/{}\" is unschedulable with reason "
      "\"0/1 nodes are available: 1 Insufficient cpu.\", alreadyWaitForBound: 2";
  auto failures = Failures();
  ASSERT_THAT(failures, SizeIs(4));
  const auto root = std::ranges::find(failures, "0/1 nodes are available: 1 Insufficient cpu.",
                                      &std::pair<std::string, std::string>::second);
  ASSERT_NE(root, failures.end()) << "the one that fits nowhere says so in its own words";
  const std::string text = fmt::format(fmt::runtime(why), root->first);
  for (const auto& [pod, message] : failures) {
    if (pod == root->first) continue;
    EXPECT_THAT(message, HasSubstr(text)) << pod;
  }
  Create("plain", {.cpus = 2});
  EXPECT_THAT(Bound(), ElementsAre("plain")) << "what the gang has tried is free for others";
}

TEST_F(CoschedulingTest, AGangThatFailedIsPlacedAsSoonAsThereIsRoomAndNotTriedBefore) {
  AddNode("n", 2);
  for (const char* name : {"p1", "p2", "p3"}) Create(name, {.gang = "name: g; min-available: '3'"});
  EXPECT_THAT(Bound(), IsEmpty());
  EXPECT_THAT(Failures(), SizeIs(3));
  loop_.Advance(60s);
  EXPECT_THAT(Bound(), IsEmpty());
  EXPECT_THAT(Failures(), IsEmpty()) << "nothing has happened that could help";
  AddNode("m", 1);
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2", "p3"));
  EXPECT_EQ(scheduler_->queue().rescued(), 0u);
}

// Each gives back what the other one would need, and that is no news to anybody.
TEST_F(CoschedulingTest, GangsThatDoNotFitDoNotKeepEachOtherAwake) {
  AddNode("n", 2);
  for (const char* gang : {"g", "h", "i"}) {
    for (int i = 0; i < 3; ++i) {
      Create(fmt::format("{}{}", gang, i),
             {.gang = fmt::format("name: {}; min-available: '3'", gang)});
    }
  }
  EXPECT_THAT(Bound(), IsEmpty());
  EXPECT_TRUE(loop_.idle());
  EXPECT_THAT(Failures(), SizeIs(9)) << "each pod is tried once";
  ExpectNothingHeld();
  loop_.Advance(60s);
  EXPECT_THAT(Failures(), IsEmpty());
}

// Each of two groups has what the other one needs, if they are tried pod by pod.
TEST_F(CoschedulingTest, TwoGroupsOnAFullClusterDoNotWaitForEachOther) {
  AddNode("n", 5);
  const std::string one = "groups: '[\"a/a\",\"a/b\"]'";
  const std::string two = "groups: '[\"a/c\",\"a/d\"]'";
  for (int i = 0; i < 2; ++i) {
    Create(fmt::format("a{}", i), {.gang = "name: a; min-available: '2'; " + one});
    Create(fmt::format("c{}", i), {.gang = "name: c; min-available: '2'; " + two});
    Create(fmt::format("b{}", i), {.gang = "name: b; min-available: '2'; " + one});
    Create(fmt::format("d{}", i), {.gang = "name: d; min-available: '2'; " + two});
  }
  EXPECT_THAT(Bound(), ElementsAre("a0", "a1", "b0", "b1"));
  ExpectNothingHeld();
  Delete("a0");
  Delete("b0");
  EXPECT_THAT(Bound(), IsEmpty()) << "there is room for three";
  ExpectNothingHeld();
  Delete("b1");
  EXPECT_THAT(Bound(), ElementsAre("c0", "c1", "d0", "d1"));
}

TEST_F(CoschedulingTest, OthersAreNotTriedBetweenTheMembers) {
  AddNode("n", 3);
  scheduler_->Stop();
  Create("p1", {.gang = "name: g; min-available: '3'"});
  Create("p2", {.gang = "name: g; min-available: '3'"});
  Create("p3", {.gang = "name: g; min-available: '3'"});
  for (int i = 0; i < 3; ++i) Create(fmt::format("plain{}", i), {});
  scheduler_->Start();
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2", "p3"));
}

TEST_F(CoschedulingTest, OneBadMemberDoesNotKeepANonStrictGang) {
  AddNode("n", 2);
  const std::string gang = "name: g; min-available: '2'; mode: NonStrict";
  scheduler_->Stop();
  Create("large", {.cpus = 50, .gang = gang});
  Create("p1", {.gang = gang});
  Create("p2", {.gang = gang});
  scheduler_->Start();
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2"));
}

TEST_F(CoschedulingTest, WhenTheBadMemberOfAStrictGangIsGoneTheOthersArePlaced) {
  AddNode("n", 2);
  Create("p1", {.gang = "name: g; min-available: '2'"});
  Create("large", {.cpus = 50, .gang = "name: g; min-available: '2'"});
  Create("p2", {.gang = "name: g; min-available: '2'"});
  EXPECT_THAT(Bound(), IsEmpty());
  ExpectNothingHeld();
  Delete("large");
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2"));
}

// Decision: members that cannot be tried here are passed over and named.
TEST_F(CoschedulingTest, MembersThatOthersHoldBackAreNamed) {
  AddNode("n", 8);
  Create("p1", {.gang = "name: g; min-available: '3'"});
  Create("p2", {.gang = "name: g; min-available: '3'", .spec = "schedulingGates: [{name: x}],"});
  Create("p3", {.gang = "name: g; min-available: '3'", .scheduler = "another"});
  EXPECT_THAT(Bound(), IsEmpty());
  ExpectNothingHeld();
  EXPECT_THAT(Failures(),
              ElementsAre(Pair("p1",
                               "0/1 nodes are available: 1 all pending pods is already been "
                               "attempted but a/p2 is held by its schedulingGates, a/p3 is for "
                               "scheduler \"another\".")));
  auto opened = *pods_.at("p2");
  opened.spec.scheduling_gates = {};
  Show(std::make_shared<const kube::Pod>(opened));
  EXPECT_THAT(Bound(), IsEmpty()) << "there are two";
  auto elsewhere = *pods_.at("p3");
  elsewhere.spec.node_name = "n";
  Show(std::make_shared<const kube::Pod>(elsewhere));
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2")) << "a member is bound, whoever has done it";
}

// Decision: who was let go is let go, also if it must be bound once more.
TEST_F(CoschedulingTest, AMemberWhoseBindingFailsIsBoundAlone) {
  for (const char* policy : {"only-waiting", "waiting-and-running", "once-satisfied"}) {
    AddNode(fmt::format("n-{}", policy), 3);
    bindings_.fail = {fmt::format("{}-2", policy)};
    std::vector<std::string> names;
    for (int i = 1; i <= 3; ++i) {
      names.push_back(fmt::format("{}-{}", policy, i));
      Create(names.back(),
             {.gang = fmt::format("name: {0}; min-available: '3'; match-policy: {0}", policy)});
    }
    EXPECT_THAT(Bound(), ElementsAreArray(names)) << policy;
    EXPECT_THAT(Failures(),
                ElementsAre(Pair(names[1], "running Bind plugin \"Frame\": the server is down")))
        << policy;
    ExpectNothingHeld();
  }
}

TEST_F(CoschedulingTest, MembersThatComeLaterGoAloneOnceTheGangIsBound) {
  AddNode("n", 3);
  Create("p1", {.gang = "name: g; min-available: '2'"});
  Create("p2", {.gang = "name: g; min-available: '2'"});
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2"));
  Create("p3", {.gang = "name: g; min-available: '2'"});
  EXPECT_THAT(Bound(), ElementsAre("p3"));
  Create("p4", {.gang = "name: g; min-available: '2'"});
  EXPECT_THAT(Bound(), IsEmpty());
  EXPECT_THAT(Failures(), ElementsAre(Pair("p4", "0/1 nodes are available: 1 Insufficient cpu.")))
      << "what it is told is about itself alone";
}

TEST_F(CoschedulingTest, AMemberThatIsDeletedWhileOthersWaitDoesNotLeaveThemBehind) {
  AddNode("n", 2);
  for (int i = 0; i < 3; ++i) {
    Create(fmt::format("p{}", i), {.gang = "name: g; min-available: '3'"});
  }
  EXPECT_THAT(Bound(), IsEmpty());
  Delete("p1");
  EXPECT_THAT(Bound(), IsEmpty());
  ExpectNothingHeld();
  AddNode("m", 1);
  Create("p3", {.gang = "name: g; min-available: '3'"});
  EXPECT_THAT(Bound(), ElementsAre("p0", "p2", "p3"));
}

TEST_F(CoschedulingTest, ALowerMinimumBringsAPodGroupBack) {
  AddNode("n", 2);
  const auto set_min = [&](int min) {
    scheduler_->objects().pod_groups.Set(FromYaml<api::PodGroup>(
        fmt::format("{{metadata: {{name: g, namespace: a}}, spec: {{minMember: {}}}}}", min)));
  };
  set_min(3);
  for (const char* name : {"p1", "p2"}) {
    Create(name, {.labels = "pod-group.scheduling.sigs.k8s.io: g"});
  }
  EXPECT_THAT(Bound(), IsEmpty());
  set_min(2);
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2"));
}

TEST_F(CoschedulingTest, WithoutNodesAGangComesBackWhenThereIsOne) {
  for (const char* name : {"p1", "p2"}) Create(name, {.gang = "name: g; min-available: '2'"});
  EXPECT_THAT(Bound(), IsEmpty());
  AddNode("n", 2);
  loop_.Advance(30s);
  EXPECT_THAT(Bound(), ElementsAre("p1", "p2"));
}

TEST_F(CoschedulingTest, ALargeGangIsPlacedAtOnce) {
  for (int i = 0; i < 17; ++i) AddNode(fmt::format("n{}", i), 16);
  for (int i = 0; i < 255; ++i) {
    Create(fmt::format("p{}", i), {.gang = "name: g; min-available: '255'"});
  }
  EXPECT_THAT(Bound(), SizeIs(255));
  EXPECT_THAT(Failures(), IsEmpty());
}

TEST(CoschedulingOrderTest, PriorityThenTheAgeOfTheGangThenNames) {
  PluginBed bed;
  PendingPods pending;
  bed.context.pending = &pending;
  Coscheduling plugin(bed.context, {});
  const auto pod = [&](std::string_view name, int second, std::string_view gang) {
    auto made = PodOf(fmt::format(
        "{{metadata: {{name: {}, namespace: ns-{}, creationTimestamp: '2024-01-01T00:00:{:02}Z', "
        "annotations: {{{}}}}}}}",
        name, name, second,
        gang.empty() ? ""
                     : fmt::format("gang.scheduling.koordinator.sh/name: {}, "
                                   "gang.scheduling.koordinator.sh/min-available: '1'",
                                   gang)));
    pending.Set(made);
    return made;
  };
  const auto first = pod("first", 1, "g");
  const auto plain = pod("plain", 2, "");
  const auto same_age = pod("a", 2, "");
  const auto less = [&](const auto& a, int priority_a, const auto& b, int priority_b) {
    return plugin.Less({*a, priority_a, {}, 1}, {*b, priority_b, {}, 2});
  };
  EXPECT_TRUE(less(plain, 1, first, 0));
  EXPECT_TRUE(less(first, 0, plain, 0));
  EXPECT_FALSE(less(plain, 0, first, 0));
  EXPECT_TRUE(less(same_age, 0, plain, 0)) << "ns-a comes before ns-plain";
  EXPECT_FALSE(less(plain, 0, same_age, 0));
  EXPECT_TRUE(less(plain, 0, plain, 0)) << "who came first";
}

}  // namespace
}  // namespace koord::scheduler::coscheduling_test
