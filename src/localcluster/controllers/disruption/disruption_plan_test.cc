#include "localcluster/controllers/disruption/disruption_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"

namespace koord::localcluster::disruption_plan_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Budget = kube::PodDisruptionBudget;

Budget MinAvailable(kube::IntOrString value) {
  Budget budget;
  budget.metadata = {.name = "b", .ns = "default", .resource_version = "9", .generation = 3};
  budget.spec.min_available = value;
  return budget;
}

Budget MaxUnavailable(kube::IntOrString value) {
  Budget budget = MinAvailable(0);
  budget.spec.min_available.reset();
  budget.spec.max_unavailable = value;
  return budget;
}

PodList Pods(int ready, int unready = 0) {
  PodList pods;
  for (int i = 0; i < ready; ++i) pods.push_back(SharedOf(kube::ReadyPod("r" + std::to_string(i))));
  for (int i = 0; i < unready; ++i) {
    kube::Pod pod = kube::ReadyPod("u" + std::to_string(i));
    pod.status.conditions[0].status = "False";
    pods.push_back(SharedOf(pod));
  }
  return pods;
}

// All pods belong to one workload of that many replicas.
kube::PodDisruptionBudgetStatus StatusOf(const Budget& budget, const PodList& pods,
                                         StatusOr<std::optional<PodScale>> scale,
                                         kube::Plan* into = nullptr) {
  kube::Plan plan;
  PlanDisruption({.budget = budget,
                  .pods = pods,
                  .scale_of = [&](const kube::Pod&) { return scale; },
                  .now = kube::kTestNow},
                 plan);
  kube::Json status = kube::Encode(budget.status);
  if (!plan.writes.empty()) {
    for (const auto& [key, value] : plan.writes[0].body.at("status").as_object()) {
      if (value.is_null()) {
        status.as_object().erase(key);
      } else {
        status.as_object()[key] = value;
      }
    }
  }
  if (into != nullptr) *into = std::move(plan);
  return *kube::Decode<kube::PodDisruptionBudgetStatus>(status);
}

TEST(Disruption, HowManyMayGo) {
  struct Case {
    std::string_view name;
    Budget budget;
    PodList pods;
    int32_t scale, expected, healthy, desired, allowed;
  };
  const Case cases[] = {
      {"a number counts the pods there are", MinAvailable(2), Pods(3), 10, 3, 3, 2, 1},
      {"all are needed", MinAvailable(3), Pods(3), 3, 3, 3, 3, 0},
      {"fewer than needed", MinAvailable(3), Pods(2, 1), 3, 3, 2, 3, 0},
      {"a percentage is of the scale, rounded up", MinAvailable("50%"), Pods(3), 5, 5, 3, 3, 0},
      {"a percentage that leaves room", MinAvailable("50%"), Pods(5), 5, 5, 5, 3, 2},
      {"what may be missing", MaxUnavailable(1), Pods(3), 3, 3, 3, 2, 1},
      {"what is missing already counts", MaxUnavailable(1), Pods(2, 1), 3, 3, 2, 2, 0},
      {"missing by percentage, rounded up", MaxUnavailable("30%"), Pods(5), 5, 5, 5, 3, 2},
      {"more than there are", MaxUnavailable(10), Pods(3), 3, 3, 3, 0, 3},
      {"no pods at all", MaxUnavailable(1), {}, 0, 0, 0, 0, 0},
      {"none expected", MinAvailable(0), {}, 0, 0, 0, 0, 0},
  };
  for (const Case& c : cases) {
    const auto status = StatusOf(c.budget, c.pods, PodScale{"w", c.scale});
    EXPECT_EQ(status.expected_pods, c.expected) << c.name;
    EXPECT_EQ(status.current_healthy, c.healthy) << c.name;
    EXPECT_EQ(status.desired_healthy, c.desired) << c.name;
    EXPECT_EQ(status.disruptions_allowed, c.allowed) << c.name;
    EXPECT_EQ(status.observed_generation, 3) << c.name;
    const auto* condition = kube::FindCondition(status.conditions, "DisruptionAllowed");
    ASSERT_NE(condition, nullptr);
    EXPECT_EQ(condition->status + " " + condition->reason,
              c.allowed > 0 ? "True SufficientPods" : "False InsufficientPods")
        << c.name;
  }
}

TEST(Disruption, PodsThatGoAreNotHealthy) {
  PodList pods = Pods(2);
  pods.push_back(SharedOf(Deleting(kube::ReadyPod("going"))));
  EXPECT_EQ(StatusOf(MinAvailable(1), pods, PodScale{"w", 3}).current_healthy, 2);
}

TEST(Disruption, PromisedPodsAreNotHealthyForTwoMinutes) {
  Budget budget = MinAvailable(1);
  budget.status.disrupted_pods = {{"r0", kube::kTestNow - 119s}, {"gone", kube::kTestNow}};
  kube::Plan plan;
  auto status = StatusOf(budget, Pods(2), PodScale{"w", 2}, &plan);
  EXPECT_EQ(status.current_healthy, 1);
  EXPECT_EQ(status.disruptions_allowed, 0);
  EXPECT_EQ(status.disrupted_pods.size(), 1u) << "a pod that is gone has kept the promise";
  EXPECT_EQ(plan.again, Duration(1s));

  budget.status.disrupted_pods = {{"r0", kube::kTestNow - 120s}};
  status = StatusOf(budget, Pods(2), PodScale{"w", 2}, &plan);
  EXPECT_EQ(status.current_healthy, 2);
  EXPECT_TRUE(status.disrupted_pods.empty());
  EXPECT_EQ(Messages(plan),
            std::vector<std::string>{
                "NotDeleted: Pod was expected by PDB default/b to be deleted but it wasn't"});
}

TEST(Disruption, WhatCannotBeScaledAllowsNothing) {
  Budget budget = MaxUnavailable(1);
  budget.status.disruptions_allowed = 2;
  const auto status =
      StatusOf(budget, Pods(3), FailedPrecondition("DaemonSet x does not implement the scale"));
  EXPECT_EQ(status.disruptions_allowed, 0);
  const auto* condition = kube::FindCondition(status.conditions, "DisruptionAllowed");
  EXPECT_EQ(condition->reason, "SyncFailed");
  EXPECT_THAT(condition->message, HasSubstr("DaemonSet x"));
}

TEST(Disruption, StatusIsWrittenOnlyOverTheVersionItRestsOn) {
  kube::Plan plan;
  Budget budget = MinAvailable(1);
  budget.status = StatusOf(budget, Pods(2), PodScale{"w", 2}, &plan);
  ASSERT_EQ(plan.writes.size(), 1u);
  EXPECT_EQ(kube::FindString(plan.writes[0].body, {"metadata", "resourceVersion"}), "9");
  StatusOf(budget, Pods(2), PodScale{"w", 2}, &plan);
  EXPECT_THAT(plan.writes, IsEmpty());
}

}  // namespace
}  // namespace koord::localcluster::disruption_plan_test
