#include "component/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::component {
namespace {

using ::testing::HasSubstr;
using Stage = FeatureGates::Stage;

class FeatureGatesTest : public ::testing::Test {
 protected:
  FeatureGatesTest() {
    gates_.Add("SyncBarrier", false);
    gates_.Add("DynamicSchedulerCheck", true, Stage::kBeta);
    gates_.Add("PodDisruptionBudget", true, Stage::kStable, true);
  }
  std::string Error(std::string_view text) { return std::string(Message(gates_.Set(text))); }

  FeatureGates gates_;
};

TEST_F(FeatureGatesTest, Defaults) {
  EXPECT_FALSE(gates_.Enabled("SyncBarrier"));
  EXPECT_TRUE(gates_.Enabled("DynamicSchedulerCheck"));
  EXPECT_FALSE(gates_.Enabled("NeverHeardOf"));
}

TEST_F(FeatureGatesTest, AreSetByName) {
  EXPECT_EQ(Error("SyncBarrier=true, DynamicSchedulerCheck=false,"), "");
  EXPECT_TRUE(gates_.Enabled("SyncBarrier"));
  EXPECT_FALSE(gates_.Enabled("DynamicSchedulerCheck"));
  EXPECT_EQ(Error(""), "") << "as templates of manifests leave it";
}

TEST_F(FeatureGatesTest, AStageAsAWhole) {
  EXPECT_EQ(Error("AllAlpha=true,AllBeta=false"), "");
  EXPECT_TRUE(gates_.Enabled("SyncBarrier"));
  EXPECT_FALSE(gates_.Enabled("DynamicSchedulerCheck"));
  EXPECT_TRUE(gates_.Enabled("PodDisruptionBudget"));
  EXPECT_EQ(Error("SyncBarrier=false"), "");
  EXPECT_FALSE(gates_.Enabled("SyncBarrier")) << "its own name counts more";
}

TEST_F(FeatureGatesTest, MistakesAreNamedAndChangeNothing) {
  EXPECT_EQ(Error("SyncBarrier=true,SyncBarier=true"),
            "unrecognized feature gate: SyncBarier; did you mean SyncBarrier?");
  EXPECT_FALSE(gates_.Enabled("SyncBarrier"));
  EXPECT_EQ(Error("SyncBarrier"), "missing bool value for SyncBarrier");
  EXPECT_EQ(Error("SyncBarrier=maybe"),
            "invalid value of SyncBarrier=maybe: must be true or false");
  EXPECT_EQ(Error("PodDisruptionBudget=false"),
            "cannot set feature gate PodDisruptionBudget to false, feature is locked to true");
  EXPECT_EQ(Error("PodDisruptionBudget=true"), "");
}

TEST_F(FeatureGatesTest, AsAFlagItMayBeRepeated) {
  Flags flags("p", "");
  gates_.AddFlag(flags.AddGroup("Misc"));
  EXPECT_TRUE(
      flags
          .Read({"--feature-gates=SyncBarrier=true", "--feature-gates=DynamicSchedulerCheck=false"})
          .run);
  EXPECT_TRUE(gates_.Enabled("SyncBarrier"));
  EXPECT_FALSE(gates_.Enabled("DynamicSchedulerCheck"));
  EXPECT_THAT(flags.Help(), HasSubstr("DynamicSchedulerCheck=true"));
  EXPECT_THAT(flags.Read({"--feature-gates=X=true"}).err,
              HasSubstr("for \"--feature-gates\" flag: unrecognized feature gate: X"));
}

TEST_F(FeatureGatesTest, AreShownAsMetrics) {
  metrics::Registry registry;
  gates_.AddMetrics(registry);
  EXPECT_THAT(registry.Text(),
              HasSubstr(R"(kubernetes_feature_enabled{name="SyncBarrier",stage="ALPHA"} 0)"));
  EXPECT_THAT(registry.Text(),
              HasSubstr(R"(kubernetes_feature_enabled{name="PodDisruptionBudget",stage=""} 1)"));
}

}  // namespace
}  // namespace koord::component
