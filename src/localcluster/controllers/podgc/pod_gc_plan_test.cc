#include "localcluster/controllers/podgc/pod_gc_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "localcluster/shared/test_objects.h"

namespace koord::localcluster::pod_gc_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PodGc, PodsOfALostNodeFailAndGoAtOnce) {
  Plan plan;
  PlanOrphans({Shared(ReadyPod("a")), Shared(Ended(ReadyPod("b"), "Succeeded"))}, kTestNow, plan);
  EXPECT_THAT(Summary(plan), ElementsAre("patch pods/status default/a", "delete pods default/a",
                                         "delete pods default/b"));
  EXPECT_EQ(kube::FindString(plan.writes[0].body, {"status", "phase"}), "Failed");
  EXPECT_EQ(plan.writes[1].options.grace_period_seconds, 0);
  EXPECT_EQ(plan.writes[1].options.uid, "uid-a");
}

TEST(PodGc, TheOldestEndedPodsBeyondTheLimitGo) {
  PodList ended;
  for (int age : {1, 3, 2}) {
    kube::Pod pod = Ended(ReadyPod("p" + std::to_string(age)), "Succeeded");
    pod.metadata.creation_timestamp = kTestNow - std::chrono::hours(age);
    ended.push_back(Shared(pod));
  }
  Plan plan;
  PlanSurplusOfEnded(ended, 3, plan);
  EXPECT_THAT(plan.writes, IsEmpty());
  PlanSurplusOfEnded(ended, 1, plan);
  EXPECT_THAT(Summary(plan), ElementsAre("delete pods default/p3", "delete pods default/p2"));
}

}  // namespace
}  // namespace koord::localcluster::pod_gc_plan_test
