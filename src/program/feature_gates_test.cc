#include "program/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::program::feature_gates_test {
namespace {

using ::testing::HasSubstr;

constexpr FeatureGate kTable[] = {
    {"SyncBarrier", FeatureStage::kAlpha, false},
    {"DynamicSchedulerCheck", FeatureStage::kBeta, true},
    {"PodDisruptionBudget", FeatureStage::kStable, true, true},
};

TEST(FeatureGatesFlagTest, MayBeRepeated) {
  FeatureGates gates({kTable});
  Flags flags("p", "");
  AddFeatureGatesFlag(flags.AddGroup("Misc"), gates);
  EXPECT_TRUE(
      flags
          .Read({"--feature-gates=SyncBarrier=true", "--feature-gates=DynamicSchedulerCheck=false"})
          .run);
  EXPECT_TRUE(gates.Enabled("SyncBarrier"));
  EXPECT_FALSE(gates.Enabled("DynamicSchedulerCheck"));
  EXPECT_THAT(flags.Help(), HasSubstr("DynamicSchedulerCheck=true"));
  EXPECT_THAT(flags.Read({"--feature-gates=X=true"}).err,
              HasSubstr("for \"--feature-gates\" flag: unrecognized feature gate: X"));
}

TEST(FeatureGatesMetricsTest, ShowWhatIsOn) {
  metrics::Registry registry;
  AddFeatureGatesMetrics(registry, FeatureGates({kTable}));
  EXPECT_THAT(registry.Text(),
              HasSubstr(R"(kubernetes_feature_enabled{name="SyncBarrier",stage="ALPHA"} 0)"));
  EXPECT_THAT(registry.Text(),
              HasSubstr(R"(kubernetes_feature_enabled{name="PodDisruptionBudget",stage=""} 1)"));
}

}  // namespace
}  // namespace koord::program::feature_gates_test
