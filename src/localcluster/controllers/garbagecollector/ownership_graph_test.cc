#include "localcluster/controllers/garbagecollector/ownership_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"
#include "kube/resources.h"

namespace koord::localcluster::ownership_graph_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

kube::OwnerReference RefTo(const std::string& uid, bool blocks = true) {
  return {.api_version = "apps/v1",
          .kind = "ReplicaSet",
          .name = "name-of-" + uid,
          .uid = uid,
          .block_owner_deletion = blocks};
}

class OwnershipGraphTest : public ::testing::Test {
 protected:
  kube::ObjectMeta Meta(const std::string& uid, std::vector<kube::OwnerReference> owners = {}) {
    return {.name = uid,
            .ns = "default",
            .uid = uid,
            .resource_version = "1",
            .owner_references = std::move(owners)};
  }
  void Put(kube::ObjectMeta meta) {
    graph_.Put(kube::kPods, std::make_shared<const kube::ObjectMeta>(std::move(meta)));
  }
  void PutDeleting(kube::ObjectMeta meta, std::string_view finalizer) {
    meta.deletion_timestamp = kube::kTestNow;
    meta.finalizers = {"other", std::string(finalizer)};
    Put(std::move(meta));
  }
  std::string Propagation(const OwnershipGraph::Verdict& verdict) {
    if (verdict.plan.writes.size() != 1) return "none";
    return verdict.plan.writes[0].options.propagation_policy;
  }

  OwnershipGraph graph_;
};

TEST_F(OwnershipGraphTest, WhatIsOwnedStays) {
  Put(Meta("owner"));
  Put(Meta("child", {RefTo("owner")}));
  EXPECT_FALSE(graph_.IsSuspect("child"));
  EXPECT_THAT(graph_.Judge("child").plan.writes, IsEmpty());
  EXPECT_THAT(graph_.DependentsOf("owner"), ElementsAre("child"));
}

TEST_F(OwnershipGraphTest, WhatLosesItsLastOwnerGoes) {
  Put(Meta("owner"));
  Put(Meta("child", {RefTo("owner")}));
  graph_.Remove("owner");
  EXPECT_TRUE(graph_.IsSuspect("child"));
  const auto verdict = graph_.Judge("child");
  ASSERT_THAT(StepsOf(verdict.plan), ElementsAre("delete pods default/child"));
  EXPECT_EQ(Propagation(verdict), "Background");
  EXPECT_EQ(verdict.plan.writes[0].options.uid, "child");
  EXPECT_EQ(verdict.plan.writes[0].options.resource_version, "1")
      << "a child that has just been adopted must not be deleted";
}

TEST_F(OwnershipGraphTest, AnOwnerNobodyHasSeenIsAskedFor) {
  Put(Meta("child", {RefTo("elsewhere")}));
  auto verdict = graph_.Judge("child");
  EXPECT_THAT(verdict.plan.writes, IsEmpty());
  ASSERT_THAT(verdict.unknown_owners, SizeIs(1));
  EXPECT_EQ(verdict.unknown_owners[0].uid, "elsewhere");
  graph_.MarkAbsent("elsewhere");
  EXPECT_THAT(StepsOf(graph_.Judge("child").plan), ElementsAre("delete pods default/child"));
}

TEST_F(OwnershipGraphTest, ReferencesToTheDeadAreDroppedIfOthersLive) {
  Put(Meta("alive"));
  Put(Meta("dead"));
  Put(Meta("child", {RefTo("alive"), RefTo("dead")}));
  graph_.Remove("dead");
  const auto verdict = graph_.Judge("child");
  const kube::Json patch = BodyOf(verdict.plan, "patch pods default/child");
  ASSERT_EQ(kube::FindArray(patch, {"metadata", "ownerReferences"})->size(), 1u);
  EXPECT_EQ(
      kube::FindString(kube::FindArray(patch, {"metadata", "ownerReferences"})->at(0), {"uid"}),
      "alive");
  EXPECT_EQ(kube::FindString(patch, {"metadata", "resourceVersion"}), "1");
}

TEST_F(OwnershipGraphTest, ForegroundDeletionTakesTheDependentsFirst) {
  PutDeleting(Meta("owner"), kForegroundDeletion);
  Put(Meta("leaf", {RefTo("owner")}));
  Put(Meta("branch", {RefTo("owner")}));
  Put(Meta("below", {RefTo("branch")}));
  const auto waiting = graph_.Judge("owner");
  EXPECT_THAT(waiting.plan.writes, IsEmpty());
  EXPECT_THAT(waiting.look_at, ElementsAre("branch", "leaf"));
  EXPECT_EQ(Propagation(graph_.Judge("leaf")), "Background");
  EXPECT_EQ(Propagation(graph_.Judge("branch")), "Foreground") << "it has dependents itself";

  graph_.Remove("leaf");
  graph_.Remove("branch");
  const auto done = graph_.Judge("owner");
  EXPECT_EQ(kube::Serialize(*kube::Find(BodyOf(done.plan, "patch pods default/owner"),
                                        {"metadata", "finalizers"})),
            R"(["other"])");
}

TEST_F(OwnershipGraphTest, DependentsThatDoNotBlockAreNotWaitedFor) {
  PutDeleting(Meta("owner"), kForegroundDeletion);
  Put(Meta("child", {RefTo("owner", false)}));
  EXPECT_THAT(StepsOf(graph_.Judge("owner").plan), ElementsAre("patch pods default/owner"));
}

TEST_F(OwnershipGraphTest, OrphaningCutsTheReferencesFirst) {
  PutDeleting(Meta("owner"), kOrphan);
  Put(Meta("child", {RefTo("owner")}));
  const auto cutting = graph_.Judge("owner");
  EXPECT_EQ(kube::Serialize(*kube::Find(BodyOf(cutting.plan, "patch pods default/child"),
                                        {"metadata", "ownerReferences"})),
            "[]");
  Put(Meta("child"));
  EXPECT_EQ(
      kube::Serialize(*kube::Find(BodyOf(graph_.Judge("owner").plan, "patch pods default/owner"),
                                  {"metadata", "finalizers"})),
      R"(["other"])");
}

TEST_F(OwnershipGraphTest, WhatIsAlreadyGoingIsLeftAlone) {
  kube::ObjectMeta child = Meta("child", {RefTo("owner")});
  child.deletion_timestamp = kube::kTestNow;
  Put(child);
  graph_.MarkAbsent("owner");
  EXPECT_THAT(graph_.Judge("child").plan.writes, IsEmpty());
  EXPECT_THAT(graph_.Judge("nobody").plan.writes, IsEmpty());
}

}  // namespace
}  // namespace koord::localcluster::ownership_graph_test
