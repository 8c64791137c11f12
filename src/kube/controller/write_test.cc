#include "kube/controller/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api_error.h"
#include "kube/controller/plan_testing.h"
#include "kube/resources.h"

namespace koord::kube::write_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Write, StatusIsWrittenOnlyWhenItChanges) {
  const ObjectMeta meta{.name = "a", .ns = "default", .uid = "u", .resource_version = "7"};
  const Json one{{"replicas", 1}};
  const Json two{{"replicas", 2}};
  EXPECT_FALSE(StatusPatch(kReplicaSets, meta, one, one));
  EXPECT_EQ(ToString(*StatusPatch(kReplicaSets, meta, one, two)),
            R"(patch replicasets/status default/a {"status":{"replicas":2}})");
  const Json pinned = PinnedStatusPatch(kReplicaSets, meta, one, two)->body;
  EXPECT_EQ(FindString(pinned, {"metadata", "resourceVersion"}), "7");
}

TEST(Write, CreationsNameTheirKind) {
  const Write write = Create(kDeployments, {{"metadata", {{"name", "a"}, {"namespace", "b"}}}});
  EXPECT_EQ(FindString(write.body, {"apiVersion"}), "apps/v1");
  EXPECT_EQ(FindString(write.body, {"kind"}), "Deployment");
  EXPECT_EQ(write.key.ToString(), "b/a");
}

TEST(Write, FinalizersInTheSpecGoThroughTheirOwnEndpoint) {
  const Json ns{{"metadata", {{"name", "team"}}}, {"spec", {{"finalizers", json::array()}}}};
  EXPECT_EQ(ToString(Finalize(kNamespaces, ns)),
            R"(update namespaces/finalize team )"
            R"({"metadata":{"name":"team"},"spec":{"finalizers":[]}})");
}

TEST(Write, CollectionsGoByTheirNamespace) {
  const Write write = DeleteAllIn("team", kPods);
  EXPECT_EQ(ToString(write), "deletecollection pods team/");
  EXPECT_EQ(write.options.propagation_policy, "Background");
}

TEST(Write, RefusalsThatReachThePurposeAreMoot) {
  const ObjectMeta meta{.name = "a", .ns = "default", .uid = "u"};
  const auto error = [](int code, const char* reason) {
    return ToStatus({.code = code, .reason = reason, .message = "no"});
  };
  const Status gone = error(404, "NotFound"), there = error(409, "AlreadyExists"),
               conflict = error(409, "Conflict"),
               replaced = ToStatus(
                   {.code = 409,
                    .reason = "Conflict",
                    .message = "the UID in the precondition (u) does not match the UID in record"});
  const Write create = Create(kPods, {{"metadata", {{"name", "a"}}}});
  const Write unless = CreateUnlessThere(kPods, {{"metadata", {{"name", "a"}}}});
  const Write patch = MergePatch(kPods, meta, {});
  const Write remove = Delete(kPods, meta);
  Write pinned = remove;
  pinned.options.resource_version = "5";
  EXPECT_FALSE(IsMoot(create, there));
  EXPECT_TRUE(IsMoot(unless, there));
  EXPECT_TRUE(IsMoot(patch, gone));
  EXPECT_FALSE(IsMoot(patch, conflict));
  EXPECT_TRUE(IsMoot(remove, gone));
  EXPECT_TRUE(IsMoot(DeleteAllIn("default", kPods), gone)) << "the kind itself may have gone";
  EXPECT_TRUE(IsMoot(Finalize(kNamespaces, {{"metadata", {{"name", "a"}}}}), gone));
  EXPECT_FALSE(IsMoot(Finalize(kNamespaces, {{"metadata", {{"name", "a"}}}}), conflict));
  EXPECT_TRUE(IsMoot(remove, replaced)) << "another object has taken the name";
  EXPECT_FALSE(IsMoot(remove, conflict)) << "it may well work the next time";
  EXPECT_FALSE(IsMoot(pinned, conflict)) << "the object has only changed";
}

}  // namespace
}  // namespace koord::kube::write_test
