#include "api/setting_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace koord::api::setting_rules_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Broken(StrategyKind kind, const std::string& yaml, StrategyState state) {
  std::vector<std::string> lines;
  for (const BrokenRule& each : BrokenRulesOf(kind, *kube::ParseYaml(yaml), state)) {
    lines.push_back(each.Path() + ": " + each.Description());
  }
  return lines;
}

std::vector<std::string> Written(StrategyKind kind, const std::string& yaml) {
  return Broken(kind, yaml, StrategyState::kWritten);
}

std::vector<std::string> InForce(StrategyKind kind, const std::string& yaml) {
  return Broken(kind, yaml, StrategyState::kInForce);
}

TEST(SettingRulesTest, SaysWhatWasExpected) {
  EXPECT_THAT(Written(StrategyKind::kThreshold, "{cpuSuppressThresholdPercent: 101}"),
              ElementsAre("cpuSuppressThresholdPercent: must be between 0 and 100, found 101"));
  EXPECT_THAT(Written(StrategyKind::kThreshold, "{cpuEvictTimeWindowSeconds: 0}"),
              ElementsAre("cpuEvictTimeWindowSeconds: must be more than 0, found 0"));
  EXPECT_THAT(Written(StrategyKind::kCpuBurst, "{cfsQuotaBurstPercent: 99}"),
              ElementsAre("cfsQuotaBurstPercent: must be at least 100, found 99"));
  EXPECT_THAT(Written(StrategyKind::kColocation, "{resourceDiffThreshold: 1.5}"),
              ElementsAre("resourceDiffThreshold: must be more than 0 and at most 1, found 1.5"));
  EXPECT_THAT(Written(StrategyKind::kResourceQos, "{beClass: {cpuQOS: {groupIdentity: 3}}}"),
              ElementsAre("beClass.cpuQOS.groupIdentity: must be between -1 and 2, found 3"));
  EXPECT_THAT(Written(StrategyKind::kCpuBurst, "{policy: always}"),
              ElementsAre("policy: \"always\" is not one of none, cpuBurstOnly, "
                          "cfsQuotaBurstOnly, auto"));
}

TEST(SettingRulesTest, SharesOfTheNetworkArePercentagesOrAmounts) {
  const auto of = [](const std::string& value) {
    return InForce(StrategyKind::kResourceQos,
                   "{lsClass: {networkQOS: {ingressLimit: " + value + "}}}");
  };
  EXPECT_THAT(of("101"), ElementsAre("lsClass.networkQOS.ingressLimit: must be between 0 and 100, "
                                     "found 101"));
  EXPECT_THAT(of("-1"), ElementsAre("lsClass.networkQOS.ingressLimit: must be between 0 and 100, "
                                    "found -1"));
  EXPECT_THAT(of("100"), ElementsAre());
  EXPECT_THAT(of("500M"), ElementsAre());
}

TEST(SettingRulesTest, DisksHaveRulesToo) {
  const auto of = [](const std::string& block) {
    return InForce(StrategyKind::kResourceQos,
                   "{beClass: {blkioQOS: {blocks: [{name: a, type: device}, " + block + "]}}}");
  };
  const struct {
    const char* io;
    const char* broken;  // null: nothing
  } kCases[] = {
      {"readIOPS: 0, writeIOPS: 0, readBPS: 0, writeBPS: 0", nullptr},
      {"readIOPS: -1", "readIOPS: must be at least 0, found -1"},
      {"writeIOPS: -1", "writeIOPS: must be at least 0, found -1"},
      {"readBPS: -1", "readBPS: must be at least 0, found -1"},
      {"writeBPS: -1", "writeBPS: must be at least 0, found -1"},
      {"ioWeightPercent: 1", nullptr},
      {"ioWeightPercent: 0", "ioWeightPercent: must be between 1 and 100, found 0"},
      {"ioWeightPercent: 101", "ioWeightPercent: must be between 1 and 100, found 101"},
      {"readLatency: -1", "readLatency: must be at least 0, found -1"},
      {"readLatencyPercent: 101", "readLatencyPercent: must be between 0 and 100, found 101"},
      {"writeLatencyPercent: -1", "writeLatencyPercent: must be between 0 and 100, found -1"},
      {"modelReadBPS: 1, modelWriteRandIOPS: 1", nullptr},
      {"modelReadBPS: 0", "modelReadBPS: must be at least 1, found 0"},
      {"modelWriteRandIOPS: 0", "modelWriteRandIOPS: must be at least 1, found 0"},
  };
  for (const auto& test : kCases) {
    const auto broken = of(std::string("{name: b, type: device, ioCfg: {") + test.io + "}}");
    if (test.broken == nullptr) {
      EXPECT_THAT(broken, IsEmpty()) << test.io;
    } else {
      EXPECT_THAT(broken,
                  ElementsAre(std::string("beClass.blkioQOS.blocks[1].ioCfg.") + test.broken));
    }
  }
  EXPECT_THAT(of("{name: b, type: disk}"),
              ElementsAre("beClass.blkioQOS.blocks[1].type: \"disk\" is not one of device, "
                          "volumegroup, podvolume"));
}

TEST(SettingRulesTest, WritersGiveBothBoundsOfAPair) {
  EXPECT_THAT(Written(StrategyKind::kThreshold, "{cpuEvictThresholdPercent: 80}"),
              ElementsAre("cpuEvictThresholdPercent: needs cpuEvictLowerPercent beside it: give "
                          "both or neither"));
  EXPECT_THAT(
      Written(StrategyKind::kThreshold, "{cpuEvictThresholdPercent: 80, cpuEvictLowerPercent: 80}"),
      ElementsAre("cpuEvictThresholdPercent: must be more than cpuEvictLowerPercent, "
                  "found 80",
                  "cpuEvictLowerPercent: must be less than cpuEvictThresholdPercent, "
                  "found 80"));
  // One of them may be a default then.
  EXPECT_THAT(InForce(StrategyKind::kThreshold, "{cpuEvictThresholdPercent: 80}"), IsEmpty());
}

TEST(SettingRulesTest, WhatIsInForceMayGoBeyondWhatMayBeWritten) {
  constexpr char kBeyond[] = "{midStaticCPUReservedPercent: 120, memoryCalculatePolicy: other}";
  EXPECT_THAT(Written(StrategyKind::kColocation, kBeyond),
              ElementsAre("memoryCalculatePolicy: \"other\" is not one of usage, request, "
                          "maxUsageRequest",
                          "midStaticCPUReservedPercent: must be between 0 and 100, found 120"));
  EXPECT_THAT(InForce(StrategyKind::kColocation, kBeyond), IsEmpty());
  EXPECT_THAT(InForce(StrategyKind::kColocation, "{midStaticCPUReservedPercent: -1}"),
              ElementsAre("midStaticCPUReservedPercent: must be between 0 and 100, found -1"));
}

}  // namespace
}  // namespace koord::api::setting_rules_test
