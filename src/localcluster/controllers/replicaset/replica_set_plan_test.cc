#include "localcluster/controllers/replicaset/replica_set_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/resources.h"
#include "localcluster/shared/test_objects.h"

namespace koord::localcluster::replica_set_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

kube::ReplicaSet Set(int replicas) {
  kube::ReplicaSet set = FromText<kube::ReplicaSet>(R"({
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

Plan PlanFor(const kube::ReplicaSet& set, const PodList& pods,
             std::optional<ReplicaFailure> failure = {}) {
  Plan plan;
  Random random(1);
  PlanReplicaSet({.resource = kube::kReplicaSets,
                  .set = set,
                  .pods = pods,
                  .neighbours = [] { return std::map<std::string, int>{}; },
                  .failure = failure,
                  .now = kTestNow},
                 random, plan);
  return plan;
}

TEST(ReplicaSetPlan, MakesWhatIsMissing) {
  const Plan plan = PlanFor(Settled(Set(3), 1), {Shared(ReadyPod("web-a"))});
  ASSERT_THAT(plan.writes, SizeIs(2));
  EXPECT_THAT(Summary(plan), ::testing::Each(StartsWith("create pods default/web-")));
  EXPECT_NE(plan.writes[0].key.name, plan.writes[1].key.name);
  EXPECT_EQ(kube::FindString(plan.writes[0].body, {"metadata", "generateName"}), "web-");
  EXPECT_EQ(Messages(plan)[0], "SuccessfulCreate: Created pod: " + plan.writes[0].key.name);
}

TEST(ReplicaSetPlan, RemovesWhatIsTooMuch) {
  kube::Pod cheap = ReadyPod("web-b");
  cheap.metadata.annotations["controller.kubernetes.io/pod-deletion-cost"] = "-1";
  const Plan plan = PlanFor(Settled(Set(1), 2), {Shared(ReadyPod("web-a")), Shared(cheap)});
  EXPECT_THAT(Summary(plan), ElementsAre("delete pods default/web-b"));
  EXPECT_EQ(plan.writes[0].options.uid, "uid-web-b");
}

TEST(ReplicaSetPlan, PodsThatEndedOrGoDoNotCount) {
  const Plan plan = PlanFor(
      Set(1), {Shared(Ended(ReadyPod("web-a"), "Failed")), Shared(Deleting(ReadyPod("web-b")))});
  EXPECT_THAT(Summary(plan), ElementsAre("patch replicasets/status default/web",
                                         StartsWith("create pods default/web-")));
}

TEST(ReplicaSetPlan, AtMost500AtATime) {
  EXPECT_THAT(PlanFor(Settled(Set(2000), 0), {}).writes, SizeIs(500));
}

TEST(ReplicaSetPlan, ADyingSetIsOnlyWatched) {
  kube::ReplicaSet set = Set(3);
  set.metadata.deletion_timestamp = kTestNow;
  EXPECT_THAT(Summary(PlanFor(set, {})), ElementsAre("patch replicasets/status default/web"));
}

TEST(ReplicaSetPlan, NothingToDoWritesNothing) {
  EXPECT_THAT(PlanFor(Settled(Set(1), 1), {Shared(ReadyPod("web-a"))}).writes, IsEmpty());
}

TEST(ReplicaSetPlan, StatusCountsByStage) {
  kube::ReplicaSet set = Set(3);
  set.spec.min_ready_seconds = 60;
  kube::Pod fresh = ReadyPod("web-b");
  fresh.metadata.labels["app"] = "web";
  fresh.status.conditions[0].last_transition_time = kTestNow - 20s;
  kube::Pod starting = PendingPod("web-c");
  const Plan plan = PlanFor(set, {Shared(ReadyPod("web-a")), Shared(fresh), Shared(starting)});
  EXPECT_TRUE(kube::Equal(BodyOf(plan, "patch replicasets/status default/web"), ParseTestJson(R"(
      {"status":{"replicas":3,"readyReplicas":2,"availableReplicas":1,"fullyLabeledReplicas":1,
                 "observedGeneration":4}})")))
      << kube::Serialize(plan.writes[0].body);
  EXPECT_EQ(plan.again, Duration(40s)) << "when web-b will have been ready for a minute";
}

TEST(ReplicaSetPlan, FailuresShowInTheStatusUntilTheyAreOver) {
  const Plan failing = PlanFor(Settled(Set(1), 0), {}, ReplicaFailure{"FailedCreate", "quota"});
  ASSERT_EQ(Summary(failing)[0], "patch replicasets/status default/web")
      << "before the creation that may fail again";
  EXPECT_EQ(
      kube::Serialize(*kube::Find(failing.writes[0].body, {"status", "conditions"})),
      R"([{"type":"ReplicaFailure","status":"True","lastTransitionTime":"2026-07-01T01:00:00Z",)"
      R"("reason":"FailedCreate","message":"quota"}])");
  kube::ReplicaSet known = Settled(Set(1), 0);
  known.status.conditions.push_back(
      {.type = "ReplicaFailure", .status = "True", .reason = "FailedCreate", .message = "quota"});
  EXPECT_THAT(Summary(PlanFor(known, {}, ReplicaFailure{"FailedCreate", "of another pod"}))[0],
              StartsWith("create pods default/web-"))
      << "or else it would change, and be looked at again, without end";
  kube::ReplicaSet set = Settled(Set(1), 1);
  set.status.conditions.push_back({.type = "ReplicaFailure", .status = "True"});
  EXPECT_EQ(kube::Serialize(BodyOf(PlanFor(set, {Shared(ReadyPod("web-a"))}),
                                   "patch replicasets/status default/web")),
            R"({"status":{"conditions":null}})");
}

}  // namespace
}  // namespace koord::localcluster::replica_set_plan_test
