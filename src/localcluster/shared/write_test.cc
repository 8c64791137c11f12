#include "localcluster/shared/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api_error.h"
#include "kube/resources.h"
#include "localcluster/shared/test_objects.h"

namespace koord::localcluster::write_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MergeDifference, IsTheSmallestPatch) {
  struct Case {
    std::string_view name, before, after, patch;
  };
  const Case cases[] = {
      {"equal", R"({"a":1,"b":{"c":[1]}})", R"({"b":{"c":[1]},"a":1})", "{}"},
      {"changed", R"({"a":1,"b":2})", R"({"a":1,"b":3})", R"({"b":3})"},
      {"added", R"({})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
      {"removed", R"({"a":1,"b":2})", R"({"a":1})", R"({"b":null})"},
      {"nested", R"({"a":{"b":1,"c":2}})", R"({"a":{"b":1}})", R"({"a":{"c":null}})"},
      {"lists are replaced", R"({"a":[1,2]})", R"({"a":[1]})", R"({"a":[1]})"},
      {"another type", R"({"a":{"b":1}})", R"({"a":"x"})", R"({"a":"x"})"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(kube::Equal(MergeDifference(ParseTestJson(c.before), ParseTestJson(c.after)),
                            ParseTestJson(c.patch)))
        << c.name;
  }
}

TEST(Write, StatusIsWrittenOnlyWhenItChanges) {
  const kube::ObjectMeta meta{.name = "a", .ns = "default", .uid = "u", .resource_version = "7"};
  const kube::Json one{{"replicas", 1}};
  const kube::Json two{{"replicas", 2}};
  EXPECT_FALSE(StatusPatch(kube::kReplicaSets, meta, one, one));
  EXPECT_EQ(ToString(*StatusPatch(kube::kReplicaSets, meta, one, two)),
            R"(patch replicasets/status default/a {"status":{"replicas":2}})");
  const kube::Json pinned = PinnedStatusPatch(kube::kReplicaSets, meta, one, two)->body;
  EXPECT_EQ(kube::FindString(pinned, {"metadata", "resourceVersion"}), "7");
}

TEST(Write, CreationsNameTheirKind) {
  const Write write =
      Create(kube::kDeployments, {{"metadata", {{"name", "a"}, {"namespace", "b"}}}});
  EXPECT_EQ(kube::FindString(write.body, {"apiVersion"}), "apps/v1");
  EXPECT_EQ(kube::FindString(write.body, {"kind"}), "Deployment");
  EXPECT_EQ(write.key.ToString(), "b/a");
}

TEST(Write, RefusalsThatReachThePurposeAreMoot) {
  const kube::ObjectMeta meta{.name = "a", .ns = "default", .uid = "u"};
  const auto error = [](int code, const char* reason) {
    return kube::ToStatus({.code = code, .reason = reason, .message = "no"});
  };
  const Status gone = error(404, "NotFound"), there = error(409, "AlreadyExists"),
               conflict = error(409, "Conflict"),
               replaced = kube::ToStatus(
                   {.code = 409,
                    .reason = "Conflict",
                    .message = "the UID in the precondition (u) does not match the UID in record"});
  const Write create = Create(kube::kPods, {{"metadata", {{"name", "a"}}}});
  const Write unless = CreateUnlessThere(kube::kPods, {{"metadata", {{"name", "a"}}}});
  const Write patch = MergePatch(kube::kPods, meta, {});
  const Write remove = Delete(kube::kPods, meta);
  Write pinned = remove;
  pinned.options.resource_version = "5";
  EXPECT_FALSE(IsMoot(create, there));
  EXPECT_TRUE(IsMoot(unless, there));
  EXPECT_TRUE(IsMoot(patch, gone));
  EXPECT_FALSE(IsMoot(patch, conflict));
  EXPECT_TRUE(IsMoot(remove, gone));
  EXPECT_TRUE(IsMoot(remove, replaced)) << "another object has taken the name";
  EXPECT_FALSE(IsMoot(remove, conflict)) << "it may well work the next time";
  EXPECT_FALSE(IsMoot(pinned, conflict)) << "the object has only changed";
}

}  // namespace
}  // namespace koord::localcluster::write_test
