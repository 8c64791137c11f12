#include "base/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::feature_gates_test {
namespace {

constexpr FeatureGate kTable[] = {
    {"ResizePod", FeatureStage::kAlpha, false},   {"CarefulAlpha", FeatureStage::kAlpha, true},
    {"QuickStart", FeatureStage::kBeta, true},    {"Settled", FeatureStage::kStable, true, true},
    {"OldWay", FeatureStage::kDeprecated, false},
};

FeatureGates Make() { return FeatureGates({kTable}); }

TEST(FeatureGatesTest, DefaultsHoldUntilSet) {
  FeatureGates gates = Make();
  EXPECT_FALSE(gates.Enabled("ResizePod"));
  EXPECT_TRUE(gates.Enabled("QuickStart"));
  ASSERT_TRUE(gates.Set("ResizePod=true,QuickStart=false").ok());
  EXPECT_TRUE(gates.Enabled("ResizePod"));
  EXPECT_FALSE(gates.Enabled("QuickStart"));
  EXPECT_TRUE(gates.warnings().empty());
}

TEST(FeatureGatesTest, AcceptsTheSpellingsOfKubernetes) {
  for (const char* text : {"ResizePod=true", "ResizePod=T", " ResizePod = 1 ", "kube:ResizePod=t",
                           "ResizePod=false,ResizePod=true", ",ResizePod=True,"}) {
    FeatureGates gates = Make();
    ASSERT_TRUE(gates.Set(text).ok()) << text;
    EXPECT_TRUE(gates.Enabled("ResizePod")) << text;
  }
  EXPECT_TRUE(Make().Set("").ok());
}

TEST(FeatureGatesTest, AWholeStageYieldsToWhatIsSetByName) {
  for (const char* text : {"AllAlpha=true,ResizePod=false", "ResizePod=false,AllAlpha=true"}) {
    FeatureGates gates = Make();
    ASSERT_TRUE(gates.Set(text).ok());
    EXPECT_FALSE(gates.Enabled("ResizePod")) << text;
    EXPECT_TRUE(gates.Enabled("CarefulAlpha")) << text;
    EXPECT_TRUE(gates.Enabled("QuickStart")) << text;
  }
  FeatureGates gates = Make();
  ASSERT_TRUE(gates.Set("AllBeta=false").ok());
  EXPECT_FALSE(gates.Enabled("QuickStart"));
  EXPECT_TRUE(gates.Enabled("Settled"));
}

TEST(FeatureGatesTest, WarnsAboutGatesThatGoAway) {
  FeatureGates gates = Make();
  ASSERT_TRUE(gates.Set("Settled=true,OldWay=true").ok());
  EXPECT_THAT(
      gates.warnings(),
      testing::ElementsAre(
          "Setting GA feature gate Settled=true. It will be removed in a future release.",
          "Setting deprecated feature gate OldWay=true. It will be removed in a future release."));
}

TEST(FeatureGatesTest, SaysWhichGatesNothingReads) {
  constexpr FeatureGate kIdle[] = {{"OfAnother", FeatureStage::kAlpha, false},
                                   {"OfYetAnother", FeatureStage::kAlpha, false},
                                   {"LongDone", FeatureStage::kBeta, true}};
  FeatureGates gates({kTable}, {kIdle});
  EXPECT_THAT(gates.WithoutEffect(), testing::IsEmpty()) << "nobody has asked";
  ASSERT_TRUE(gates.Set("ResizePod=true,LongDone=true").ok());
  EXPECT_THAT(gates.WithoutEffect(), testing::IsEmpty()) << "it is as it was asked to be";
  ASSERT_TRUE(gates.Set("OfAnother=true,LongDone=false").ok());
  EXPECT_THAT(gates.WithoutEffect(),
              testing::ElementsAre("feature gate LongDone=false has no effect in this version",
                                   "feature gate OfAnother=true has no effect in this version"));
  ASSERT_TRUE(gates.Set("LongDone=true,OfAnother=false,AllAlpha=true").ok());
  EXPECT_THAT(gates.WithoutEffect(),
              testing::ElementsAre("gates that AllAlpha or AllBeta has changed, and that have no "
                                   "effect in this version: 1"));
}

TEST(FeatureGatesTest, NamesAllMistakesAtOnceAndSetsNothing) {
  FeatureGates gates = Make();
  const Status status =
      gates.Set("ResizePod=true,ResizePods=true,QuickStart=maybe,Settled=false,X");
  EXPECT_EQ(Message(status),
            "unrecognized feature gate: ResizePods (did you mean ResizePod?); "
            "feature gate QuickStart: expected true or false, found \"maybe\"; "
            "cannot set feature gate Settled to false, feature is locked to true; "
            "unrecognized feature gate: X");
  EXPECT_FALSE(gates.Enabled("ResizePod"));
  EXPECT_EQ(Message(gates.Set("ResizePod")),
            "feature gate ResizePod: expected ResizePod=true or ResizePod=false");
}

TEST(FeatureGatesTest, ListsByNameWithPresentValues) {
  FeatureGates gates = Make();
  ASSERT_TRUE(gates.Set("OldWay=true").ok());
  std::vector<std::string> lines;
  for (const FeatureGate& gate : gates.List()) {
    lines.push_back(fmt::format("{} {} {}", gate.name, ToString(gate.stage), gate.enabled));
  }
  EXPECT_THAT(lines, testing::ElementsAre("AllAlpha ALPHA false", "AllBeta BETA false",
                                          "CarefulAlpha ALPHA true", "OldWay DEPRECATED true",
                                          "QuickStart BETA true", "ResizePod ALPHA false",
                                          "Settled  true"));
}

}  // namespace
}  // namespace koord::feature_gates_test
