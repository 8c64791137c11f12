#include "localcluster/controllers/common/revisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"
#include "kube/resources.h"
#include "localcluster/controllers/common/template_hash.h"

namespace koord::localcluster::revisions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const kube::ObjectMeta kOwner{.name = "web", .ns = "default", .uid = "u1"};
const kube::Json kOne = kube::ParseTestJson(R"({"spec":{"containers":[{"image":"a:1"}]}})");
const kube::Json kTwo = kube::ParseTestJson(R"({"spec":{"containers":[{"image":"a:2"}]}})");

RevisionChoice Choose(const kube::Json& pod_template, const RevisionList& revisions,
                      kube::Plan& plan, bool taken = false) {
  return ChooseRevision({.owner = {kube::kStatefulSets, kOwner},
                         .pod_template = pod_template,
                         .revisions = revisions,
                         .is_taken = [taken](const std::string&) { return taken; }},
                        plan);
}

// What the API would show of the plan's first creation.
RevisionPtr Made(const kube::Plan& plan) {
  auto revision = kube::Decode<kube::ControllerRevision>(plan.writes.at(0).body);
  EXPECT_TRUE(revision.ok());
  return SharedOf(*revision);
}

TEST(Revisions, ATemplateGetsOneRevision) {
  kube::Plan first;
  const RevisionChoice choice = Choose(kOne, {}, first);
  ASSERT_THAT(StepsOf(first), ElementsAre("create controllerrevisions default/" + choice.name));
  EXPECT_EQ(choice.name, "web-" + choice.hash);
  const RevisionPtr made = Made(first);
  EXPECT_EQ(made->revision, 1);
  EXPECT_EQ(kube::FindString(made->data, {"spec", "template", "$patch"}), "replace")
      << "kubectl applies it as a strategic merge patch";

  kube::Plan again;
  EXPECT_EQ(Choose(kOne, {made}, again).name, choice.name);
  EXPECT_THAT(again.writes, IsEmpty());
}

TEST(Revisions, GoingBackGivesTheOldOneTheHighestNumber) {
  kube::Plan first, second, back;
  Choose(kOne, {}, first);
  const RevisionPtr one = Made(first);
  Choose(kTwo, {one}, second);
  const RevisionPtr two = Made(second);
  EXPECT_EQ(two->revision, 2);
  EXPECT_EQ(Choose(kOne, {one, two}, back).name, one->metadata.name);
  ASSERT_THAT(back.writes, SizeIs(1));
  EXPECT_EQ(ToString(back.writes[0]),
            "patch controllerrevisions default/" + one->metadata.name + " {\"revision\":3}");
}

TEST(Revisions, ATakenNameIsACollision) {
  kube::Plan plan;
  EXPECT_FALSE(Choose(kOne, {}, plan, true).usable);
  EXPECT_THAT(plan.writes, IsEmpty());
  EXPECT_NE(HashName(kOne, std::nullopt), HashName(kOne, 1)) << "the next try gets another name";
}

TEST(Revisions, HashesDoNotDependOnTheOrderOfMembers) {
  EXPECT_EQ(HashName(kube::ParseTestJson(R"({"a":1,"b":{"c":2,"d":3}})"), std::nullopt),
            HashName(kube::ParseTestJson(R"({"b":{"d":3,"c":2},"a":1})"), std::nullopt));
  EXPECT_NE(HashName(kube::ParseTestJson(R"({"a":[1,2]})"), std::nullopt),
            HashName(kube::ParseTestJson(R"({"a":[2,1]})"), std::nullopt));
}

TEST(Revisions, OnlyOldUnusedOnesBeyondTheLimitGo) {
  RevisionList revisions;
  for (int i = 1; i <= 4; ++i) {
    kube::ControllerRevision revision;
    revision.metadata = {.name = "web-" + std::to_string(i), .ns = "default"};
    revision.revision = i;
    revisions.push_back(SharedOf(revision));
  }
  kube::Plan plan;
  TidyRevisions(revisions, {"web-4", "web-1"}, 1, plan);
  EXPECT_THAT(StepsOf(plan), ElementsAre("delete controllerrevisions default/web-2"));
}

}  // namespace
}  // namespace koord::localcluster::revisions_test
