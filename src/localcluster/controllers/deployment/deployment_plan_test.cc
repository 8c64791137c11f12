#include "localcluster/controllers/deployment/deployment_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"
#include "kube/resources.h"
#include "localcluster/controllers/deployment/deployment_status.h"

namespace koord::localcluster::deployment_plan_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

kube::Deployment Web(std::string image = "web:2") {
  kube::Deployment deployment = kube::FromText<kube::Deployment>(R"({
    "metadata": {"name": "web", "namespace": "default", "uid": "u1", "generation": 2,
                 "annotations": {"team": "a", "deployment.kubernetes.io/revision": "1",
                   "kubectl.kubernetes.io/last-applied-configuration": "{}"}},
    "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
             "template": {"metadata": {"labels": {"app": "web"}},
                          "spec": {"containers": [{"name": "c", "image": ""}]}},
             "strategy": {"type": "RollingUpdate",
                          "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
             "progressDeadlineSeconds": 600}})");
  deployment.spec.pod_template.at("spec").at("containers").at(0).as_object()["image"] = image;
  return deployment;
}

ReplicaSetPtr SetOf(const kube::Deployment& deployment, std::string name, std::string image,
                    int32_t replicas, int32_t available, int revision) {
  kube::ReplicaSet set;
  set.metadata = {.name = name, .ns = "default", .uid = "uid-" + name};
  set.metadata.annotations = {{kRevision, std::to_string(revision)},
                              {kDesiredReplicas, std::to_string(WantedBy(deployment))},
                              {kMaxReplicas, std::to_string(WantedBy(deployment) + 1)},
                              {"team", "a"}};
  set.metadata.creation_timestamp = VirtualLoop::kStart + std::chrono::seconds(revision);
  set.spec.replicas = replicas;
  set.spec.pod_template = deployment.spec.pod_template;
  set.spec.pod_template.at("spec").at("containers").at(0).as_object()["image"] = image;
  kube::At(set.spec.pod_template, {"metadata", "labels", "pod-template-hash"}) = name;
  set.status.replicas = replicas;
  set.status.ready_replicas = set.status.available_replicas = available;
  return SharedOf(set);
}

kube::Plan PlanFor(const kube::Deployment& deployment, const ReplicaSetList& sets,
                   bool old_pods_run = false, bool taken = false) {
  kube::Plan plan;
  PlanDeployment({.deployment = deployment,
                  .sets = sets,
                  .old_pods_run = old_pods_run,
                  .is_taken = [taken](const std::string&) { return taken; },
                  .now = kube::kTestNow},
                 plan);
  return plan;
}

const kube::DeploymentCondition* Condition(const kube::Plan& plan, kube::DeploymentStatus& into,
                                           std::string_view type) {
  // The revision is written there as well.
  for (const kube::Write& write : plan.writes) {
    const kube::Json* body = kube::Find(write.body, {"status"});
    if (write.resource != kube::kDeployments || body == nullptr) continue;
    const auto status = kube::Decode<kube::DeploymentStatus>(*body);
    if (status.ok()) into = *status;
  }
  return kube::FindCondition(into.conditions, type);
}

TEST(DeploymentPlan, ANewTemplateGetsASetOfItsOwn) {
  const kube::Deployment web = Web();
  const kube::Plan plan = PlanFor(web, {SetOf(web, "web-old", "web:1", 3, 3, 1)});
  ASSERT_THAT(StepsOf(plan), Contains(StartsWith("create replicasets default/web-")));
  const kube::Json set = plan.writes[0].body;
  const std::string name(kube::FindString(set, {"metadata", "name"}));
  const std::string_view hash = kube::FindString(set, {"metadata", "labels", "pod-template-hash"});
  EXPECT_EQ(name, "web-" + std::string(hash));
  EXPECT_EQ(kube::FindString(set, {"spec", "selector", "matchLabels", "pod-template-hash"}), hash);
  EXPECT_EQ(kube::FindString(set, {"spec", "template", "metadata", "labels", "pod-template-hash"}),
            hash);
  EXPECT_EQ(kube::FindInt(set, {"spec", "replicas"}), 1) << "the surge";
  EXPECT_TRUE(kube::Equal(*kube::Find(set, {"metadata", "annotations"}), kube::ParseTestJson(R"({
      "team":"a","deployment.kubernetes.io/revision":"2",
      "deployment.kubernetes.io/desired-replicas":"3","deployment.kubernetes.io/max-replicas":"4"
      })")));
  EXPECT_EQ(kube::Serialize(BodyOf(plan, "patch deployments/status default/web")),
            R"({"metadata":{"annotations":{"deployment.kubernetes.io/revision":"2"}}})");
  EXPECT_THAT(Messages(plan),
              ElementsAre("ScalingReplicaSet: Scaled up replica set " + name + " from 0 to 1"));
  kube::DeploymentStatus status;
  const auto* progressing = Condition(plan, status, "Progressing");
  ASSERT_NE(progressing, nullptr);
  EXPECT_EQ(progressing->reason, "NewReplicaSetCreated");
  EXPECT_EQ(status.observed_generation, 2);
}

TEST(DeploymentPlan, TheOldSetShrinksAsTheNewBecomesAvailable) {
  kube::Deployment web = Web();
  web.metadata.annotations[kRevision] = "2";
  const auto old = SetOf(web, "web-old", "web:1", 3, 3, 1);
  EXPECT_THAT(Messages(PlanFor(web, {SetOf(web, "web-new", "web:2", 1, 0, 2), old})), IsEmpty());
  EXPECT_THAT(Messages(PlanFor(web, {SetOf(web, "web-new", "web:2", 1, 1, 2), old})),
              ElementsAre("ScalingReplicaSet: Scaled down replica set web-old from 3 to 2"));
  EXPECT_THAT(Messages(PlanFor(web, {SetOf(web, "web-new", "web:2", 1, 1, 2),
                                     SetOf(web, "web-old", "web:1", 2, 2, 1)})),
              ElementsAre("ScalingReplicaSet: Scaled up replica set web-new from 1 to 2"));
}

TEST(DeploymentPlan, GoingBackRevivesTheOldSetUnderANewNumber) {
  kube::Deployment web = Web("web:1");
  web.metadata.annotations[kRevision] = "2";
  const kube::Plan plan = PlanFor(
      web, {SetOf(web, "web-one", "web:1", 0, 0, 1), SetOf(web, "web-two", "web:2", 3, 3, 2)});
  const kube::Json patch = BodyOf(plan, "patch replicasets default/web-one");
  EXPECT_EQ(kube::FindString(patch, {"metadata", "annotations", kRevision}), "3");
  EXPECT_EQ(kube::FindString(patch, {"metadata", "annotations", kRevisionHistory}), "1");
  EXPECT_THAT(Messages(plan),
              ElementsAre("ScalingReplicaSet: Scaled up replica set web-one from 0 to 1"));
  EXPECT_EQ(kube::FindString(BodyOf(plan, "patch deployments/status default/web"),
                             {"metadata", "annotations", kRevision}),
            "3");
}

TEST(DeploymentPlan, ScalingTouchesOnlyTheActiveSet) {
  kube::Deployment web = Web();
  const auto before = SetOf(web, "web-new", "web:2", 3, 3, 1);
  web.spec.replicas = 5;
  const kube::Plan plan = PlanFor(web, {before});
  EXPECT_TRUE(
      kube::Equal(BodyOf(plan, "patch replicasets default/web-new"), kube::ParseTestJson(R"({
      "metadata":{"uid":"uid-web-new","annotations":{
        "deployment.kubernetes.io/desired-replicas":"5",
        "deployment.kubernetes.io/max-replicas":"6"}},
      "spec":{"replicas":5}})")));
}

TEST(DeploymentPlan, APausedDeploymentScalesButDoesNotRoll) {
  kube::Deployment web = Web();
  web.spec.paused = true;
  const auto old = SetOf(web, "web-old", "web:1", 3, 3, 1);
  kube::Plan plan = PlanFor(web, {old});
  EXPECT_THAT(StepsOf(plan), ElementsAre("patch deployments/status default/web"));
  kube::DeploymentStatus status;
  EXPECT_EQ(Condition(plan, status, "Progressing")->reason, "DeploymentPaused");
  web.spec.replicas = 4;
  EXPECT_THAT(Messages(PlanFor(web, {old})),
              ElementsAre("ScalingReplicaSet: Scaled up replica set web-old from 3 to 4"));
}

TEST(DeploymentPlan, RecreateWaitsForTheLastOldPod) {
  kube::Deployment web = Web();
  web.spec.strategy = {.type = "Recreate"};
  const auto old = SetOf(web, "web-old", "web:1", 3, 3, 1);
  EXPECT_THAT(Messages(PlanFor(web, {old}, true)),
              ElementsAre("ScalingReplicaSet: Scaled down replica set web-old from 3 to 0"));
  const auto gone = SetOf(web, "web-old", "web:1", 0, 0, 1);
  EXPECT_THAT(StepsOf(PlanFor(web, {gone}, true)), Not(Contains(HasSubstr("create"))));
  const kube::Plan plan = PlanFor(web, {gone}, false);
  ASSERT_THAT(StepsOf(plan), Contains(StartsWith("create replicasets")));
  EXPECT_EQ(kube::FindInt(plan.writes[0].body, {"spec", "replicas"}), 3) << "all at once";
}

TEST(DeploymentPlan, ATakenNameCountsACollision) {
  const kube::Plan plan = PlanFor(Web(), {}, false, true);
  ASSERT_THAT(StepsOf(plan), ElementsAre("patch deployments/status default/web"));
  EXPECT_EQ(kube::FindInt(plan.writes[0].body, {"status", "collisionCount"}), 1);
}

TEST(DeploymentPlan, HistoryIsKeptUpToTheLimitOnceComplete) {
  kube::Deployment web = Web("web:9");
  web.spec.revision_history_limit = 1;
  web.metadata.annotations[kRevision] = "3";
  const auto newest = SetOf(web, "web-c", "web:9", 3, 3, 3);
  const ReplicaSetList sets = {SetOf(web, "web-a", "web:1", 0, 0, 1),
                               SetOf(web, "web-b", "web:2", 0, 0, 2), newest};
  EXPECT_THAT(StepsOf(PlanFor(web, sets)), Contains("delete replicasets default/web-a"));
  EXPECT_THAT(StepsOf(PlanFor(web, sets)), Not(Contains("delete replicasets default/web-b")));
  const ReplicaSetList rolling = {sets[0], sets[1], SetOf(web, "web-c", "web:9", 3, 2, 3)};
  EXPECT_THAT(StepsOf(PlanFor(web, rolling)), Not(Contains(StartsWith("delete"))));
}

TEST(DeploymentStatus, SaysHowTheRolloutGetsOn) {
  kube::Deployment web = Web();
  const auto status_of = [&](int32_t available, Duration after = {}) {
    const ReplicaSetList sets = {SetOf(web, "web-new", "web:2", 3, available, 1)};
    return StatusOf(
        {.deployment = web, .sets = sets, .newest = sets[0].get(), .now = kube::kTestNow + after});
  };
  const auto reason = [](const kube::DeploymentStatus& status, std::string_view type) {
    const auto* condition = kube::FindCondition(status.conditions, type);
    return condition == nullptr ? "" : condition->status + " " + condition->reason;
  };
  web.status = status_of(0);
  EXPECT_EQ(reason(web.status, "Available"), "False MinimumReplicasUnavailable");
  EXPECT_EQ(reason(web.status, "Progressing"), "True ReplicaSetUpdated");
  EXPECT_EQ(web.status.unavailable_replicas, 3);
  EXPECT_EQ(ProgressDeadline(web, web.status), kube::kTestNow + 600s);

  EXPECT_EQ(reason(status_of(0, 599s), "Progressing"), "True ReplicaSetUpdated");
  EXPECT_EQ(reason(status_of(0, 600s), "Progressing"), "False ProgressDeadlineExceeded");
  web.status = status_of(1, 300s);
  EXPECT_EQ(reason(status_of(1, 899s), "Progressing"), "True ReplicaSetUpdated")
      << "progress moves the deadline";
  web.status = status_of(3, 400s);
  EXPECT_EQ(reason(web.status, "Available"), "True MinimumReplicasAvailable");
  EXPECT_EQ(reason(web.status, "Progressing"), "True NewReplicaSetAvailable");
  EXPECT_EQ(ProgressDeadline(web, web.status), std::nullopt);
  EXPECT_EQ(status_of(3, 900s), web.status) << "nothing changes, nothing is written";
  EXPECT_EQ(reason(status_of(2, 2000s), "Progressing"), "True NewReplicaSetAvailable")
      << "a pod that is lost later is no rollout";
}

}  // namespace
}  // namespace koord::localcluster::deployment_plan_test
