#include "localcluster/controllers/podgc/pod_gc_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"

namespace koord::localcluster::pod_gc_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PodGc, PodsOfALostNodeFailAndGoAtOnce) {
  kube::Plan plan;
  PlanOrphans({SharedOf(kube::ReadyPod("a")), SharedOf(Ended(kube::ReadyPod("b"), "Succeeded"))},
              kube::kTestNow, plan);
  EXPECT_THAT(StepsOf(plan), ElementsAre("patch pods/status default/a", "delete pods default/a",
                                         "delete pods default/b"));
  EXPECT_EQ(kube::FindString(plan.writes[0].body, {"status", "phase"}), "Failed");
  EXPECT_EQ(plan.writes[1].options.grace_period_seconds, 0);
  EXPECT_EQ(plan.writes[1].options.uid, "uid-a");
}

TEST(PodGc, TheOldestEndedPodsBeyondTheLimitGo) {
  PodList ended;
  for (int age : {1, 3, 2}) {
    kube::Pod pod = Ended(kube::ReadyPod("p" + std::to_string(age)), "Succeeded");
    pod.metadata.creation_timestamp = kube::kTestNow - std::chrono::hours(age);
    ended.push_back(SharedOf(pod));
  }
  kube::Plan plan;
  PlanSurplusOfEnded(ended, 3, plan);
  EXPECT_THAT(plan.writes, IsEmpty());
  PlanSurplusOfEnded(ended, 1, plan);
  EXPECT_THAT(StepsOf(plan), ElementsAre("delete pods default/p3", "delete pods default/p2"));
}

}  // namespace
}  // namespace koord::localcluster::pod_gc_plan_test
