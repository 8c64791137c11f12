#include "scheduler/config/scheduler_gates.h"

#include <gtest/gtest.h>

#include <set>

namespace koord::scheduler::scheduler_gates_test {
namespace {

TEST(SchedulerGatesTest, KoordinatorsDefaults) {
  const FeatureGates gates = SchedulerFeatureGates();
  for (const char* name :
       {"DynamicSchedulerCheck", "GangPendingPodsConditionPatch", "EnableBatchScheduleNodeSnapshot",
        "CSIStorageCapacity", "GenericEphemeralVolume", "PodDisruptionBudget"}) {
    EXPECT_TRUE(gates.Enabled(name)) << name;
  }
  for (const char* name : {"CompatibleCSIStorageCapacity",
                           "DisableCSIStorageCapacityInformer",
                           "CompatiblePodDisruptionBudget",
                           "DisablePodDisruptionBudgetInformer",
                           "DisableDynamicResourceAllocationInformer",
                           "ResizePod",
                           "MultiQuotaTree",
                           "ElasticQuotaIgnorePodOverhead",
                           "ElasticQuotaIgnoreTerminatingPod",
                           "ElasticQuotaImmediateIgnoreTerminatingPod",
                           "ElasticQuotaGuaranteeUsage",
                           "DisableDefaultQuota",
                           "SupportParentQuotaSubmitPod",
                           "LazyReservationRestore",
                           "OmitNodeLabelsForReservation",
                           "SkipReservationFitsNode",
                           "DevicePluginAdaption",
                           "CleanExpiredReservationAllocated",
                           "SkipFilterWithNominatedPods",
                           "CrossSchedulerNomination",
                           "SyncBarrier",
                           "EnableInlineBatchSchedule",
                           "PriorityTransformer",
                           "PreemptionPolicyTransformer",
                           "ReplaceResourcesTransformer"}) {
    EXPECT_FALSE(gates.Enabled(name)) << name;
  }
}

TEST(SchedulerGatesTest, TakesThoseOfKubernetes) {
  FeatureGates gates = SchedulerFeatureGates();
  ASSERT_TRUE(gates
                  .Set("PodLevelResources=false,SchedulerAsyncPreemption=true,"
                       "NodeInclusionPolicyInPodTopologySpread=true,ResizePod=true")
                  .ok());
  EXPECT_FALSE(gates.Enabled("PodLevelResources"));
  EXPECT_TRUE(gates.Enabled("ResizePod"));
  EXPECT_EQ(Message(gates.Set("PriorityTransformers=true")),
            "unrecognized feature gate: PriorityTransformers (did you mean PriorityTransformer?)");
  EXPECT_EQ(Message(gates.Set("NodeInclusionPolicyInPodTopologySpread=false")),
            "cannot set feature gate NodeInclusionPolicyInPodTopologySpread to false, feature is "
            "locked to true");
}

TEST(SchedulerGatesTest, EachIsListedOnce) {
  // 216 gates that kube-scheduler 1.35 has, 31 of Koordinator and the two that stand for a stage.
  EXPECT_EQ(SchedulerFeatureGates().List().size(), 216u + 31u + 2u);
}

TEST(SchedulerGatesTest, ChangesToPodsFollowTheGates) {
  FeatureGates gates = SchedulerFeatureGates();
  model::TransformOptions options = TransformsOf(gates);
  EXPECT_FALSE(options.replace_resources || options.priority || options.preemption_policy);
  ASSERT_TRUE(gates.Set("PriorityTransformer=true").ok());
  options = TransformsOf(gates);
  EXPECT_TRUE(options.priority);
  EXPECT_FALSE(options.replace_resources || options.preemption_policy);
  ASSERT_TRUE(gates.Set("ReplaceResourcesTransformer=true,PreemptionPolicyTransformer=true").ok());
  options = TransformsOf(gates);
  EXPECT_TRUE(options.replace_resources && options.preemption_policy);
}

}  // namespace
}  // namespace koord::scheduler::scheduler_gates_test
