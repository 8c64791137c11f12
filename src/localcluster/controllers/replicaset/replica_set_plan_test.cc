#include "localcluster/controllers/replicaset/replica_set_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"
#include "kube/resources.h"

namespace koord::localcluster::replica_set_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

kube::ReplicaSet Set(int replicas) {
  kube::ReplicaSet set = kube::FromText<kube::ReplicaSet>(R"({
    "metadata": {"name": "web", "namespace": "default", "uid": "u1", "generation": 4},
    "spec": {"selector": {"matchLabels": {"app": "web"}},
             "template": {"metadata": {"labels": {"app": "web"}},
                          "spec": {"containers": [{"name": "c"}]}}}})");
  set.spec.replicas = replicas;
  return set;
}

// As if the status had been written before.
kube::ReplicaSet Settled(kube::ReplicaSet set, int32_t pods) {
  set.status = {.replicas = pods,
                .ready_replicas = pods,
                .available_replicas = pods,
                .observed_generation = set.metadata.generation};
  return set;
}

kube::Plan PlanFor(const kube::ReplicaSet& set, const PodList& pods,
                   std::optional<ReplicaFailure> failure = {}) {
  kube::Plan plan;
  Random random(1);
  PlanReplicaSet({.resource = kube::kReplicaSets,
                  .set = set,
                  .pods = pods,
                  .neighbours = [] { return std::map<std::string, int>{}; },
                  .failure = failure,
                  .now = kube::kTestNow},
                 random, plan);
  return plan;
}

TEST(ReplicaSetPlan, MakesWhatIsMissing) {
  const kube::Plan plan = PlanFor(Settled(Set(3), 1), {SharedOf(kube::ReadyPod("web-a"))});
  ASSERT_THAT(plan.writes, SizeIs(2));
  EXPECT_THAT(StepsOf(plan), ::testing::Each(StartsWith("create pods default/web-")));
  EXPECT_NE(plan.writes[0].key.name, plan.writes[1].key.name);
  EXPECT_EQ(kube::FindString(plan.writes[0].body, {"metadata", "generateName"}), "web-");
  EXPECT_EQ(Messages(plan)[0], "SuccessfulCreate: Created pod: " + plan.writes[0].key.name);
}

TEST(ReplicaSetPlan, RemovesWhatIsTooMuch) {
  kube::Pod cheap = kube::ReadyPod("web-b");
  cheap.metadata.annotations["controller.kubernetes.io/pod-deletion-cost"] = "-1";
  const kube::Plan plan =
      PlanFor(Settled(Set(1), 2), {SharedOf(kube::ReadyPod("web-a")), SharedOf(cheap)});
  EXPECT_THAT(StepsOf(plan), ElementsAre("delete pods default/web-b"));
  EXPECT_EQ(plan.writes[0].options.uid, "uid-web-b");
}

TEST(ReplicaSetPlan, PodsThatEndedOrGoDoNotCount) {
  const kube::Plan plan = PlanFor(Set(1), {SharedOf(Ended(kube::ReadyPod("web-a"), "Failed")),
                                           SharedOf(Deleting(kube::ReadyPod("web-b")))});
  EXPECT_THAT(StepsOf(plan), ElementsAre("patch replicasets/status default/web",
                                         StartsWith("create pods default/web-")));
}

TEST(ReplicaSetPlan, AtMost500AtATime) {
  EXPECT_THAT(PlanFor(Settled(Set(2000), 0), {}).writes, SizeIs(500));
}

TEST(ReplicaSetPlan, ADyingSetIsOnlyWatched) {
  kube::ReplicaSet set = Set(3);
  set.metadata.deletion_timestamp = kube::kTestNow;
  EXPECT_THAT(StepsOf(PlanFor(set, {})), ElementsAre("patch replicasets/status default/web"));
}

TEST(ReplicaSetPlan, NothingToDoWritesNothing) {
  EXPECT_THAT(PlanFor(Settled(Set(1), 1), {SharedOf(kube::ReadyPod("web-a"))}).writes, IsEmpty());
}

TEST(ReplicaSetPlan, StatusCountsByStage) {
  kube::ReplicaSet set = Set(3);
  set.spec.min_ready_seconds = 60;
  kube::Pod fresh = kube::ReadyPod("web-b");
  fresh.metadata.labels.Mutable()["app"] = "web";
  fresh.status.conditions[0].last_transition_time = kube::kTestNow - 20s;
  kube::Pod starting = kube::PendingPod("web-c");
  const kube::Plan plan =
      PlanFor(set, {SharedOf(kube::ReadyPod("web-a")), SharedOf(fresh), SharedOf(starting)});
  EXPECT_TRUE(
      kube::Equal(BodyOf(plan, "patch replicasets/status default/web"), kube::ParseTestJson(R"(
      {"status":{"replicas":3,"readyReplicas":2,"availableReplicas":1,"fullyLabeledReplicas":1,
                 "observedGeneration":4}})")))
      << kube::Serialize(plan.writes[0].body);
  EXPECT_EQ(plan.again, Duration(40s)) << "when web-b will have been ready for a minute";
}

TEST(ReplicaSetPlan, FailuresShowInTheStatusUntilTheyAreOver) {
  const kube::Plan failing =
      PlanFor(Settled(Set(1), 0), {}, ReplicaFailure{"FailedCreate", "quota"});
  ASSERT_EQ(StepsOf(failing)[0], "patch replicasets/status default/web")
      << "before the creation that may fail again";
  EXPECT_EQ(
      kube::Serialize(*kube::Find(failing.writes[0].body, {"status", "conditions"})),
      R"([{"type":"ReplicaFailure","status":"True","lastTransitionTime":"2026-07-01T01:00:00Z",)"
      R"("reason":"FailedCreate","message":"quota"}])");
  kube::ReplicaSet known = Settled(Set(1), 0);
  known.status.conditions.push_back(
      {.type = "ReplicaFailure", .status = "True", .reason = "FailedCreate", .message = "quota"});
  EXPECT_THAT(StepsOf(PlanFor(known, {}, ReplicaFailure{"FailedCreate", "of another pod"}))[0],
              StartsWith("create pods default/web-"))
      << "or else it would change, and be looked at again, without end";
  kube::ReplicaSet set = Settled(Set(1), 1);
  set.status.conditions.push_back({.type = "ReplicaFailure", .status = "True"});
  EXPECT_EQ(kube::Serialize(BodyOf(PlanFor(set, {SharedOf(kube::ReadyPod("web-a"))}),
                                   "patch replicasets/status default/web")),
            R"({"status":{"conditions":null}})");
}

}  // namespace
}  // namespace koord::localcluster::replica_set_plan_test
