#include "localcluster/controllers/deployment/replica_math.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kube/objects/objects_testing.h"

namespace koord::localcluster::replica_math_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

kube::Deployment Rolling(int32_t replicas, kube::IntOrString surge, kube::IntOrString unavailable) {
  kube::Deployment deployment;
  deployment.spec.replicas = replicas;
  deployment.spec.strategy.type = "RollingUpdate";
  deployment.spec.strategy.rolling_update =
      kube::RollingUpdate{.max_unavailable = unavailable, .max_surge = surge};
  return deployment;
}

ReplicaSetPtr Set(std::string name, int32_t replicas, int32_t available, int age_hours = 0,
                  std::optional<int32_t> max = {}) {
  kube::ReplicaSet set;
  set.metadata.name = std::move(name);
  set.metadata.creation_timestamp = kube::kTestNow - std::chrono::hours(age_hours);
  if (max) set.metadata.annotations[kMaxReplicas] = std::to_string(*max);
  set.spec.replicas = replicas;
  set.status.replicas = replicas;
  set.status.available_replicas = available;
  return SharedOf(set);
}

std::vector<std::string> Text(const std::vector<Resize>& sizes) {
  std::vector<std::string> text;
  for (const Resize& r : sizes) {
    text.push_back(r.set->metadata.name + "=" + std::to_string(r.replicas));
  }
  return text;
}

TEST(RolloutLimits, PercentagesRoundUpForSurgeAndDownForMissing) {
  struct Case {
    std::string_view name;
    kube::Deployment deployment;
    int32_t surge, unavailable;
  };
  kube::Deployment recreate = Rolling(4, 1, 1);
  recreate.spec.strategy = {.type = "Recreate"};
  kube::Deployment unset = Rolling(10, 1, 1);
  unset.spec.strategy.rolling_update.reset();
  const Case cases[] = {
      {"numbers", Rolling(10, 3, 2), 3, 2},
      {"percentages", Rolling(10, "25%", "25%"), 3, 2},
      {"both zero would stand still", Rolling(10, 0, 0), 0, 1},
      {"small percentages that round to zero", Rolling(1, "0%", "25%"), 0, 1},
      {"never more missing than wanted", Rolling(2, 0, 5), 0, 2},
      {"a quarter by default", unset, 3, 2},
      {"recreate has neither", recreate, 0, 0},
  };
  for (const Case& c : cases) {
    const RolloutLimits limits = LimitsOf(c.deployment);
    EXPECT_EQ(limits.max_surge, c.surge) << c.name;
    EXPECT_EQ(limits.max_unavailable, c.unavailable) << c.name;
  }
}

TEST(NewSetSize, GrowsIntoWhatTheSurgeLeaves) {
  struct Case {
    std::string_view name;
    int32_t wanted, surge, old, current, size;
  };
  const Case cases[] = {
      {"first rollout", 3, 1, 0, 0, 3},   {"only the surge is free", 10, 3, 10, 0, 3},
      {"as old ones go", 10, 3, 8, 3, 5}, {"no room", 10, 3, 10, 3, 3},
      {"nearly there", 10, 3, 2, 9, 10},  {"scaled down", 2, 1, 0, 5, 2},
  };
  for (const Case& c : cases) {
    const ReplicaSetList all = {Set("old", c.old, c.old), Set("new", c.current, 0)};
    EXPECT_EQ(NewSetSize(Rolling(c.wanted, c.surge, 0), all, c.current), c.size) << c.name;
  }
}

TEST(NewSetSize, StaysWithinWhatCountsReplicas) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const kube::Deployment huge = Rolling(kMost, "100%", "0%");
  EXPECT_EQ(MostReplicas(huge), kMost);
  EXPECT_EQ(NewSetSize(huge, {Set("old", kMost, 0), Set("new", 1, 0)}, 1), 1);
  EXPECT_EQ(NewSetSize(huge, {Set("new", 1, 0)}, 1), kMost);
}

TEST(ShrinkOldSets, KeepsEnoughAvailable) {
  struct Case {
    std::string_view name;
    int32_t wanted, unavailable;
    ReplicaSetList old;
    ReplicaSetPtr newest;
    std::vector<std::string> sizes;
  };
  const Case cases[] = {
      {"what may be missing goes at once", 10, 2, {Set("a", 10, 10)}, Set("new", 3, 0), {"a=8"}},
      {"nothing to spare", 10, 2, {Set("a", 8, 8)}, Set("new", 5, 0), {}},
      {"as the new become available", 10, 2, {Set("a", 8, 8)}, Set("new", 5, 5), {"a=3"}},
      {"broken ones go first", 10, 2, {Set("a", 8, 3)}, Set("new", 5, 5), {"a=3"}},
      {"broken ones do not hold up the rollout", 3, 0, {Set("a", 3, 0)}, Set("new", 1, 1), {"a=2"}},
      {"the oldest set first",
       4,
       1,
       {Set("b", 2, 2, 1), Set("a", 2, 2, 2)},
       Set("new", 1, 1),
       {"a=0"}},
      {"the last", 3, 0, {Set("a", 1, 1)}, Set("new", 3, 3), {"a=0"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Text(ShrinkOldSets(Rolling(c.wanted, 1, c.unavailable), c.old, *c.newest)), c.sizes)
        << c.name;
  }
}

TEST(ScaleInProportion, EverySetGetsItsShare) {
  // Two sets of a deployment of 10 that may surge by 3 grow with it to 20.
  const ReplicaSetList sets = {Set("old", 8, 8, 2, 13), Set("new", 5, 2, 1, 13)};
  EXPECT_THAT(Text(ScaleInProportion(Rolling(20, 3, 0), sets)), ElementsAre("old=14", "new=9"));
  // And shrink with it.
  EXPECT_THAT(Text(ScaleInProportion(Rolling(5, 3, 0), sets)), ElementsAre("old=5", "new=3"));
  EXPECT_THAT(Text(ScaleInProportion(Rolling(0, 3, 0), sets)), ElementsAre("old=0", "new=0"));
}

}  // namespace
}  // namespace koord::localcluster::replica_math_test
