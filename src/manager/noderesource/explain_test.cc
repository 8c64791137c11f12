#include "manager/noderesource/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/noderesource/common/facts_testing.h"

namespace koord::manager::explain_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

StatusOr<ResourceExplanation> Explain(const std::string& colocation, std::string_view resource) {
  kube::Node node = NodeOf("100", "120G");
  node.metadata.labels = {{"node.koordinator.sh/memory-reclaim-ratio", "0.5"}};
  node.status.allocatable.emplace("kubernetes.io/batch-cpu", kube::Quantity(48000));
  api::NodeMetric metric = MetricOf("7", "12G");
  AddUsage(metric, "p", "11", "11G");
  const SloConfig config = ParseConfig({{"colocation-config", colocation}}, {}).config;
  return ExplainResource({.node = node,
                          .pods = {PodOf("p", {.priority = 9500, .cpu = "20", .memory = "20G"})},
                          .metric = &metric,
                          .now = kNow},
                         config, {}, resource);
}

TEST(Explain, PutsTheNumbersIntoTheFormula) {
  const auto cpu =
      *Explain(R"({"enable":true,"cpuReclaimThresholdPercent":65})", "kubernetes.io/batch-cpu");
  EXPECT_EQ(cpu.formula, "batch-cpu = capacity - margin - max(systemUsed, reserved) - hpUsed");
  std::vector<std::string> terms;
  for (const ExplainedTerm& term : cpu.terms) terms.push_back(term.name + "=" + term.value);
  EXPECT_THAT(terms, testing::ElementsAre("capacity=100", "margin=35", "systemUsed=7", "reserved=0",
                                          "hpUsed=11", "lent=47"));
  EXPECT_EQ(cpu.calculation, "100 - 35 - max(7, 0) - 11");
  EXPECT_EQ(cpu.result, "47k");
  EXPECT_EQ(cpu.published, "48k");
  EXPECT_THAT(cpu.settings,
              Contains(ExplainedSetting{"cpuReclaimThresholdPercent", "65", "colocation-config"}));
  EXPECT_THAT(cpu.settings, Contains(ExplainedSetting{"degradeTimeMinutes", "15", "default"}));
}

TEST(Explain, ThePolicyDecidesWhichPodsTermCounts) {
  const auto memory = *Explain(
      R"({"enable":true,"memoryCalculatePolicy":"request","batchMemoryThresholdPercent":10})",
      "kubernetes.io/batch-memory");
  EXPECT_EQ(memory.formula, "batch-memory = min(capacity - margin - reserved - hpRequest, cap)");
  EXPECT_EQ(memory.result, "12G");
  EXPECT_THAT(memory.settings,
              Contains(ExplainedSetting{"memoryReclaimThresholdPercent", "50",
                                        "label node.koordinator.sh/memory-reclaim-ratio"}));
}

TEST(Explain, SaysWhyNothingIsLent) {
  EXPECT_EQ(Explain("{}", "kubernetes.io/mid-cpu")->nothing_because,
            "co-location is off for this node");
  EXPECT_THAT(FormatExplanation(*Explain("{}", "kubernetes.io/mid-cpu")),
              HasSubstr("Nothing is lent: co-location is off for this node.\n"));
}

TEST(Explain, ShowsTheSettingBehindATerm) {
  const std::string text = FormatExplanation(
      *Explain(R"({"enable":true,"cpuReclaimThresholdPercent":150})", "kubernetes.io/batch-cpu"));
  EXPECT_THAT(text, HasSubstr("  batch-cpu = capacity - margin - max(systemUsed, reserved) - "
                              "hpUsed\n            = 100 - (-50) - max(7, 0) - 11\n"));
  EXPECT_THAT(text, HasSubstr("  resourceDiffThreshold = 0.1  (default)\n"));
  EXPECT_THAT(text, HasSubstr("  margin       -50  what is never lent  <- "
                              "cpuReclaimThresholdPercent = 150 (colocation-config)\n"));
}

TEST(Explain, MidResources) {
  EXPECT_EQ(Explain(R"({"enable":true})", "kubernetes.io/mid-cpu")->formula,
            "mid-cpu = min(min(reclaimable, unused) + share, cap)");
  const auto fixed =
      *Explain(R"({"enable":true,"midReclaimMode":"static","midStaticCPUReservedPercent":10})",
               "kubernetes.io/mid-cpu");
  EXPECT_EQ(fixed.formula, "mid-cpu = min(static, cap)");
  EXPECT_EQ(fixed.result, "10k");
}

TEST(Explain, OtherResourcesAreRefused) {
  EXPECT_THAT(std::string(Message(Explain("{}", "cpu").status())),
              HasSubstr("must be one of kubernetes.io/batch-cpu"));
}

}  // namespace
}  // namespace koord::manager::explain_test
