#include "localcluster/controllers/common/ownership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/objects/objects_testing.h"
#include "kube/resources.h"

namespace koord::localcluster::ownership_test {
namespace {

TEST(Ownership, WhoMayClaimWhat) {
  kube::ObjectMeta owner{.name = "web", .ns = "default", .uid = "u1"};
  kube::ObjectMeta dying = owner;
  dying.deletion_timestamp = kube::kTestNow;
  const auto matcher = MatcherOf(kube::LabelSelector{.match_labels = {{"app", "web"}}});
  kube::ObjectMeta mine{.labels = {{"app", "web"}},
                        .owner_references = {{"apps/v1", "ReplicaSet", "web", "u1", true, true}}};
  kube::ObjectMeta relabelled = mine;
  relabelled.labels = {{"app", "other"}};
  kube::ObjectMeta foreign = mine;
  foreign.owner_references.Mutable()[0].uid = "u2";
  kube::ObjectMeta orphan{.labels = {{"app", "web"}}};
  kube::ObjectMeta going = orphan;
  going.deletion_timestamp = kube::kTestNow;
  kube::ObjectMeta stranger{.labels = {{"app", "db"}}};

  const Owner web{kube::kReplicaSets, owner};
  const Owner dying_web{kube::kReplicaSets, dying};
  EXPECT_EQ(ClaimOn(mine, web, matcher), Claim::kOwned);
  EXPECT_EQ(ClaimOn(relabelled, web, matcher), Claim::kReleasable);
  EXPECT_EQ(ClaimOn(relabelled, dying_web, matcher), Claim::kOwned);
  EXPECT_EQ(ClaimOn(foreign, web, matcher), Claim::kForeign);
  EXPECT_EQ(ClaimOn(orphan, web, matcher), Claim::kAdoptable);
  EXPECT_EQ(ClaimOn(orphan, dying_web, matcher), Claim::kForeign);
  EXPECT_EQ(ClaimOn(going, web, matcher), Claim::kForeign);
  EXPECT_EQ(ClaimOn(stranger, web, matcher), Claim::kForeign);
  EXPECT_EQ(ClaimOn(orphan, web, std::nullopt), Claim::kForeign) << "no selector selects nothing";
}

TEST(Ownership, PodsCarryAllThatTheirTemplateSays) {
  const kube::ObjectMeta owner{.name = "web", .ns = "prod", .uid = "u1"};
  const kube::Json pod = PodFromTemplate(
      kube::ParseTestJson(
          R"({"metadata":{"labels":{"app":"web"},"annotations":{"a":"b"},"name":"ignored"},
                        "spec":{"containers":[{"name":"c","unknownField":{"x":1}}]}})"),
      {kube::kReplicaSets, owner});
  EXPECT_TRUE(kube::Equal(
      pod, kube::ParseTestJson(
               R"({"metadata":{"labels":{"app":"web"},"annotations":{"a":"b"},"namespace":"prod",
                    "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web",
                      "uid":"u1","controller":true,"blockOwnerDeletion":true}]},
                   "spec":{"containers":[{"name":"c","unknownField":{"x":1}}]}})")))
      << kube::Serialize(pod);
}

TEST(Ownership, RandomNamesLookLikeTheServers) {
  Random random(1);
  EXPECT_THAT(RandomName("web-", random),
              ::testing::MatchesRegex("web-[bcdfghjklmnpqrstvwxz2456789]{5}"));
  EXPECT_EQ(RandomName(std::string(80, 'a'), random).size(), 63u);
  EXPECT_NE(RandomName("a", random), RandomName("a", random));
}

}  // namespace
}  // namespace koord::localcluster::ownership_test
