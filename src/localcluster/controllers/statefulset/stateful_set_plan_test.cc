#include "localcluster/controllers/statefulset/stateful_set_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"
#include "kube/resources.h"
#include "localcluster/controllers/statefulset/stateful_pod.h"

namespace koord::localcluster::stateful_set_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

kube::StatefulSet Db(int replicas = 3) {
  kube::StatefulSet set = kube::FromText<kube::StatefulSet>(R"({
    "metadata": {"name": "db", "namespace": "default", "uid": "u1", "generation": 1},
    "spec": {"serviceName": "db-svc", "selector": {"matchLabels": {"app": "db"}},
             "template": {"metadata": {"labels": {"app": "db"}},
                          "spec": {"containers": [{"name": "c", "image": "db:1"}]}},
             "updateStrategy": {"type": "RollingUpdate"}}})");
  set.spec.replicas = replicas;
  return set;
}

RevisionPtr RevisionOf(const kube::StatefulSet& set) {
  kube::Plan plan;
  ChooseRevision({.owner = {kube::kStatefulSets, set.metadata},
                  .pod_template = set.spec.pod_template,
                  .revisions = {},
                  .is_taken = [](const std::string&) { return false; }},
                 plan);
  return SharedOf(*kube::Decode<kube::ControllerRevision>(plan.writes.at(0).body));
}

// A set as it is after its first rollout, its revision, and its pods.
struct World {
  explicit World(kube::StatefulSet set) : set(std::move(set)) {
    revisions = {RevisionOf(this->set)};
    this->set.status.current_revision = this->set.status.update_revision =
        revisions[0]->metadata.name;
  }

  kube::Pod Member(int ordinal) const {
    kube::Pod pod = kube::ReadyPod("db-" + std::to_string(ordinal));
    pod.metadata.labels.Mutable()["controller-revision-hash"] = revisions[0]->metadata.name;
    return pod;
  }
  void ChangeImage(const std::string& image) {
    set.spec.pod_template.at("spec").at("containers").at(0).as_object()["image"] = image;
    kube::ControllerRevision revision = *RevisionOf(set);
    revision.revision = 2;
    revisions.push_back(SharedOf(revision));
    set.status.update_revision = revision.metadata.name;
    set.status.current_replicas = set.spec.replicas.value_or(1);
  }
  kube::Pod Updated(int ordinal) const {
    kube::Pod pod = Member(ordinal);
    pod.metadata.labels.Mutable()["controller-revision-hash"] = revisions[1]->metadata.name;
    return pod;
  }
  // Creations and deletions only.
  std::vector<std::string> Acts(const std::vector<kube::Pod>& pods,
                                kube::Plan* into = nullptr) const {
    PodList list;
    for (const kube::Pod& pod : pods) list.push_back(SharedOf(pod));
    kube::Plan plan;
    PlanStatefulSet({.set = set,
                     .pods = list,
                     .revisions = revisions,
                     .revision_is_taken = [](const std::string&) { return false; },
                     .has_claim = [&](const std::string& name) { return claims.contains(name); },
                     .now = kube::kTestNow},
                    plan);
    std::vector<std::string> acts = StepsOf(plan);
    std::erase_if(acts, [](const std::string& act) { return act.starts_with("patch"); });
    if (into != nullptr) *into = std::move(plan);
    return acts;
  }

  kube::StatefulSet set;
  RevisionList revisions;
  std::set<std::string> claims;
};

kube::Pod NotReady(kube::Pod pod) {
  pod.status.conditions[0].status = "False";
  return pod;
}

TEST(StatefulSetPlan, OrderedPodsComeOneAfterTheOther) {
  const World w(Db());
  EXPECT_THAT(w.Acts({}), ElementsAre("create pods default/db-0"));
  EXPECT_THAT(w.Acts({NotReady(w.Member(0))}), IsEmpty());
  EXPECT_THAT(w.Acts({w.Member(0)}), ElementsAre("create pods default/db-1"));
  EXPECT_THAT(w.Acts({w.Member(0), Deleting(w.Member(1)), w.Member(2)}), IsEmpty())
      << "a pod that goes is waited for";
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), w.Member(2)}), IsEmpty());
}

TEST(StatefulSetPlan, PodsThatWaitGetTheClaimsThatAreMissing) {
  World w(Db(1));
  for (const char* name : {"data", "log"}) {
    w.set.spec.volume_claim_templates.push_back({{"metadata", {{"name", name}}}});
  }
  w.claims = {"data-db-0"};
  kube::Pod waiting = w.Member(0);
  waiting.status.phase = "Pending";
  EXPECT_THAT(w.Acts({NotReady(waiting)}),
              ElementsAre("create persistentvolumeclaims default/log-db-0"));
  EXPECT_THAT(w.Acts({w.Member(0)}), IsEmpty()) << "a pod that runs has no use for a new one";
  w.claims.insert("log-db-0");
  EXPECT_THAT(w.Acts({NotReady(waiting)}), IsEmpty());
}

TEST(StatefulSetPlan, EndedPodsAreReplaced) {
  const World w(Db(1));
  EXPECT_THAT(w.Acts({Ended(w.Member(0), "Failed")}), ElementsAre("delete pods default/db-0"));
}

TEST(StatefulSetPlan, OrderedPodsGoInReverse) {
  const World w(Db(1));
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), w.Member(2)}),
              ElementsAre("delete pods default/db-2"));
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), Deleting(w.Member(2))}), IsEmpty());
  EXPECT_THAT(w.Acts({NotReady(w.Member(0)), w.Member(1)}), IsEmpty())
      << "nothing goes while a pod that stays is not well";
}

TEST(StatefulSetPlan, ParallelPodsDoNotWait) {
  World w(Db());
  w.set.spec.pod_management_policy = "Parallel";
  EXPECT_THAT(w.Acts({}), ElementsAre("create pods default/db-0", "create pods default/db-1",
                                      "create pods default/db-2"));
  w.set.spec.replicas = 1;
  EXPECT_THAT(w.Acts({NotReady(w.Member(0)), w.Member(1), w.Member(2)}),
              ElementsAre("delete pods default/db-2", "delete pods default/db-1"));
}

TEST(StatefulSetPlan, HugeSetsGrowInSteps) {
  kube::StatefulSet set = Db(std::numeric_limits<int32_t>::max());
  set.spec.pod_management_policy = "Parallel";
  set.spec.ordinals.emplace().start = 7;
  const std::vector<std::string> acts = World(set).Acts({});
  ASSERT_EQ(acts.size(), 500u);
  EXPECT_EQ(acts.front(), "create pods default/db-7");
}

TEST(StatefulSetPlan, NumbersMayStartElsewhere) {
  World w(Db(2));
  w.set.spec.ordinals = kube::StatefulSetOrdinals{.start = 5};
  w.set.spec.pod_management_policy = "Parallel";
  EXPECT_THAT(w.Acts({}), ElementsAre("create pods default/db-5", "create pods default/db-6"));
}

TEST(StatefulSetPlan, UpdatesGoFromTheHighestNumberDown) {
  World w(Db());
  w.ChangeImage("db:2");
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), w.Member(2)}),
              ElementsAre("delete pods default/db-2"));
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), NotReady(w.Updated(2))}), IsEmpty());
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), w.Updated(2)}),
              ElementsAre("delete pods default/db-1"));
}

TEST(StatefulSetPlan, ThePartitionKeepsLowerNumbersBack) {
  World w(Db());
  w.ChangeImage("db:2");
  w.set.spec.update_strategy.rolling_update = kube::StatefulSetRollingUpdate{.partition = 2};
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), w.Member(2)}),
              ElementsAre("delete pods default/db-2"));
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), w.Updated(2)}), IsEmpty());

  // A lost pod below the partition comes back as it was.
  kube::Plan plan;
  w.Acts({w.Member(0), w.Updated(2)}, &plan);
  const kube::Json pod = BodyOf(plan, "create pods default/db-1");
  EXPECT_EQ(kube::FindString(pod, {"metadata", "labels", "controller-revision-hash"}),
            w.revisions[0]->metadata.name);
  EXPECT_EQ(kube::FindString(pod.at("spec").at("containers").at(0), {"image"}), "db:1");
  EXPECT_EQ(kube::Find(pod, {"$patch"}), nullptr);
}

TEST(StatefulSetPlan, MaxUnavailableSpeedsUpdatesUp) {
  World w(Db(4));
  w.ChangeImage("db:2");
  w.set.spec.pod_management_policy = "Parallel";
  w.set.spec.update_strategy.rolling_update =
      kube::StatefulSetRollingUpdate{.max_unavailable = kube::IntOrString("50%")};
  EXPECT_THAT(w.Acts({w.Member(0), w.Member(1), w.Member(2), w.Member(3)}),
              ElementsAre("delete pods default/db-3", "delete pods default/db-2"));
}

TEST(StatefulSetPlan, OnDeleteLeavesPodsAlone) {
  World w(Db(1));
  w.ChangeImage("db:2");
  w.set.spec.update_strategy.type = "OnDelete";
  EXPECT_THAT(w.Acts({w.Member(0)}), IsEmpty());
  kube::Plan plan;
  w.Acts({}, &plan);
  EXPECT_EQ(kube::FindString(BodyOf(plan, "create pods default/db-0"),
                             {"metadata", "labels", "controller-revision-hash"}),
            w.revisions[1]->metadata.name);
}

TEST(StatefulSetPlan, AFinishedUpdateBecomesCurrent) {
  World w(Db(2));
  w.ChangeImage("db:2");
  kube::Plan plan;
  w.Acts({w.Member(0), w.Updated(1)}, &plan);
  kube::Json status = BodyOf(plan, "patch statefulsets/status default/db").at("status");
  EXPECT_EQ(kube::FindInt(status, {"updatedReplicas"}), 1);
  EXPECT_EQ(kube::FindInt(status, {"currentReplicas"}, -1), 1);
  EXPECT_EQ(kube::Find(status, {"currentRevision"}), nullptr) << "unchanged";
  w.Acts({w.Updated(0), w.Updated(1)}, &plan);
  status = BodyOf(plan, "patch statefulsets/status default/db").at("status");
  EXPECT_EQ(kube::FindString(status, {"currentRevision"}), w.revisions[1]->metadata.name);
}

TEST(StatefulPod, HasANameAnAddressAndItsOwnVolumes) {
  kube::StatefulSet set = Db();
  set.spec.volume_claim_templates = {kube::ParseTestJson(
      R"({"metadata":{"name":"data"},"spec":{"resources":{"requests":{"storage":"1Gi"}}}})")};
  set.spec.pod_template.at("spec").as_object()["volumes"] =
      kube::ParseTestJson(R"([{"name":"data","emptyDir":{}},{"name":"tmp","emptyDir":{}}])");
  const kube::Json pod = StatefulPod(set, set.spec.pod_template, "db-abc", 2);
  EXPECT_EQ(kube::FindString(pod, {"metadata", "name"}), "db-2");
  EXPECT_EQ(kube::FindString(pod, {"metadata", "labels", "statefulset.kubernetes.io/pod-name"}),
            "db-2");
  EXPECT_EQ(kube::FindString(pod, {"metadata", "labels", "apps.kubernetes.io/pod-index"}), "2");
  EXPECT_EQ(kube::FindString(pod, {"spec", "hostname"}), "db-2");
  EXPECT_EQ(kube::FindString(pod, {"spec", "subdomain"}), "db-svc");
  EXPECT_TRUE(kube::Equal(pod.at("spec").at("volumes"), kube::ParseTestJson(R"([
      {"name":"data","persistentVolumeClaim":{"claimName":"data-db-2"}},
      {"name":"tmp","emptyDir":{}}])")));
  const std::vector<kube::Json> claims = ClaimsOf(set, 2);
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(kube::FindString(claims[0], {"metadata", "name"}), "data-db-2");
  EXPECT_EQ(kube::FindString(claims[0], {"metadata", "labels", "app"}), "db");
}

TEST(StatefulPod, OrdinalsComeFromNames) {
  EXPECT_EQ(OrdinalOf("db", "db-0"), 0);
  EXPECT_EQ(OrdinalOf("db", "db-12"), 12);
  for (const char* name : {"db", "db-", "db-x", "db-1x", "other-1", "dba-1", "db--1"}) {
    EXPECT_EQ(OrdinalOf("db", name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace koord::localcluster::stateful_set_plan_test
