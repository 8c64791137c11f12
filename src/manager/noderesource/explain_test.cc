#include "manager/noderesource/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "manager/noderesource/common/facts_testing.h"

namespace koord::manager::explain_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class ExplainTest : public testing::Test {
 protected:
  ExplainTest() {
    node_.metadata.labels = {{"node.koordinator.sh/memory-reclaim-ratio", "0.5"}};
    node_.status.allocatable.Mutable().emplace("kubernetes.io/batch-cpu", kube::Quantity(48000));
    AddUsage(metric_, "p", "11", "11G");
  }

  StatusOr<ResourceExplanation> Explain(const std::string& colocation, std::string_view resource,
                                        const std::string& normalization = "{}") {
    const SloConfig config =
        ParseConfig(
            {{"colocation-config", colocation}, {"cpu-normalization-config", normalization}}, {})
            .config;
    return ExplainResource({.node = node_,
                            .pods = {PodOf("p", {.priority = 9500, .cpu = "20", .memory = "20G"})},
                            .metric = &metric_,
                            .topology = topology_ ? &*topology_ : nullptr,
                            .now = kNow},
                           config, {}, resource);
  }

  kube::Node node_ = NodeOf("100", "120G");
  api::NodeMetric metric_ = MetricOf("7", "12G");
  std::optional<api::NodeResourceTopology> topology_;
};

std::vector<std::string> TermsOf(const ResourceExplanation& explanation) {
  std::vector<std::string> terms;
  for (const ExplainedTerm& term : explanation.terms) terms.push_back(term.name + "=" + term.value);
  return terms;
}

TEST_F(ExplainTest, PutsTheNumbersIntoTheFormula) {
  const auto cpu =
      *Explain(R"({"enable":true,"cpuReclaimThresholdPercent":65})", "kubernetes.io/batch-cpu");
  EXPECT_EQ(cpu.formula,
            "batch-cpu = (capacity - margin - max(systemUsed, reserved) - hpUsed) * ratio - "
            "thirdParties");
  EXPECT_THAT(TermsOf(cpu), ElementsAre("capacity=100", "margin=35", "systemUsed=7", "reserved=0",
                                        "hpUsed=11", "ratio=1.00", "thirdParties=0"));
  EXPECT_EQ(cpu.calculation, "(100 - 35 - max(7, 0) - 11) * 1.00 - 0");
  EXPECT_EQ(cpu.unit, "cores");
  EXPECT_EQ(cpu.result, "47k");
  EXPECT_EQ(cpu.result_in_unit, "47");
  EXPECT_EQ(cpu.published, "48k");
  EXPECT_EQ(cpu.published_in_unit, "48");
  EXPECT_THAT(cpu.settings, Contains(ExplainedSetting{"cpuReclaimThresholdPercent", "65",
                                                      "colocation-config, cluster"}));
  EXPECT_THAT(cpu.settings, Contains(ExplainedSetting{"degradeTimeMinutes", "15", "default"}));
  EXPECT_THAT(cpu.remarks, ElementsAre("the node offers 48 cores so far: a difference of up to "
                                       "10 % is written after at most 300 s"));
}

// 47 cores that are worth 1.2 each, of which somebody else holds 2.
TEST_F(ExplainTest, ShowsWhatCoresAreWorthAndWhatOthersHold) {
  topology_.emplace();
  topology_->metadata.annotations["node.koordinator.sh/cpu-basic-info"] =
      R"({"cpuModel":"X","hyperThreadEnabled":false,"turboEnabled":false})";
  node_.metadata.annotations["node.koordinator.sh/thirdPartyAllocations"] =
      R"({"allocations":[{"name":"yarn","priority":"koord-batch",)"
      R"("resources":{"kubernetes.io/batch-cpu":"2k"}}]})";
  const auto cpu = *Explain(R"({"enable":true,"cpuReclaimThresholdPercent":65})",
                            "kubernetes.io/batch-cpu", R"({"enable":true,"defaultRatio":1.2})");
  EXPECT_EQ(cpu.calculation, "(100 - 35 - max(7, 0) - 11) * 1.20 - 2");
  EXPECT_EQ(cpu.result_in_unit, "54.4");
  EXPECT_EQ(cpu.result, "54400");
  EXPECT_THAT(cpu.settings, Contains(ExplainedSetting{"cpu-normalization-ratio", "1.20",
                                                      "cpu-normalization-config"}));
  EXPECT_THAT(FormatExplanation(cpu), HasSubstr("what other schedulers hold of it: yarn"));
}

TEST_F(ExplainTest, SaysWhatCannotBeRead) {
  node_.metadata.annotations["node.koordinator.sh/thirdPartyAllocations"] = "{";
  node_.metadata.annotations["node.koordinator.sh/colocation-strategy"] = "[]";
  EXPECT_THAT(Explain(R"({"enable":true})", "kubernetes.io/batch-cpu")->remarks,
              testing::AllOf(Contains(HasSubstr("batch resources stay as they are: ")),
                             Contains(HasSubstr("ignored: annotation "
                                                "node.koordinator.sh/colocation-strategy: "))));
}

TEST_F(ExplainTest, NamesTheEntryThatIsInForce) {
  node_.metadata.labels.Mutable()["pool"] = "a";
  node_.metadata.annotations["node.koordinator.sh/colocation-strategy"] =
      R"({"degradeTimeMinutes":20})";
  const auto cpu = *Explain(
      R"({"enable":true,"nodeConfigs":[{"name":"pool-a","nodeSelector":{"matchLabels":{"pool":"a"}},
          "cpuReclaimThresholdPercent":70}]})",
      "kubernetes.io/batch-cpu");
  EXPECT_THAT(cpu.settings,
              Contains(ExplainedSetting{"cpuReclaimThresholdPercent", "70",
                                        "colocation-config, nodeConfigs[0] \"pool-a\""}));
  EXPECT_THAT(cpu.settings,
              Contains(ExplainedSetting{"degradeTimeMinutes", "20",
                                        "annotation node.koordinator.sh/colocation-strategy"}));
}

// 120 G are 111.76 GiB, and a tenth of that 11.18.
TEST_F(ExplainTest, ThePolicyDecidesWhichPodsTermCounts) {
  const auto memory = *Explain(
      R"({"enable":true,"memoryCalculatePolicy":"request","batchMemoryThresholdPercent":10})",
      "kubernetes.io/batch-memory");
  EXPECT_EQ(memory.formula,
            "batch-memory = min(capacity - margin - reserved - hpRequest, cap) - thirdParties");
  EXPECT_EQ(memory.result, "12G");
  EXPECT_EQ(memory.unit, "GiB");
  EXPECT_EQ(memory.result_in_unit, "11.18");
  EXPECT_EQ(memory.terms[0].value, "111.76");
  EXPECT_EQ(memory.terms[0].quantity, "120G");
  EXPECT_THAT(memory.settings,
              Contains(ExplainedSetting{"memoryReclaimThresholdPercent", "50",
                                        "label node.koordinator.sh/memory-reclaim-ratio"}));
}

TEST_F(ExplainTest, LessThanNothingIsNothing) {
  const auto cpu =
      *Explain(R"({"enable":true,"cpuReclaimThresholdPercent":5})", "kubernetes.io/batch-cpu");
  EXPECT_EQ(cpu.calculation, "max(100 - 95 - max(7, 0) - 11, 0) * 1.00 - 0");
  EXPECT_EQ(cpu.result_in_unit, "0");
}

TEST_F(ExplainTest, SaysWhyNothingIsLent) {
  EXPECT_EQ(Explain("{}", "kubernetes.io/mid-cpu")->nothing_because,
            "co-location is off for this node");
  EXPECT_THAT(FormatExplanation(*Explain("{}", "kubernetes.io/mid-cpu")),
              HasSubstr("Nothing is lent: co-location is off for this node.\n"));
}

TEST_F(ExplainTest, FitsATerminal) {
  const std::string text = FormatExplanation(
      *Explain(R"({"enable":true,"cpuReclaimThresholdPercent":150})", "kubernetes.io/batch-cpu"));
  EXPECT_THAT(text, HasSubstr("kubernetes.io/batch-cpu of node "));
  EXPECT_THAT(text, HasSubstr(": 48 cores (48k)\n"));
  EXPECT_THAT(text, HasSubstr("\n            = (100 - (-50) - max(7, 0) - 11) * 1.00 - 0\n"
                              "            = 132 cores\n"));
  EXPECT_THAT(text, HasSubstr("  margin         -50  what is never lent "
                              "(cpuReclaimThresholdPercent)\n"));
  EXPECT_THAT(text, HasSubstr("  cpuReclaimThresholdPercent  150    colocation-config, cluster\n"));
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(line.size(), 100u) << line;
}

TEST_F(ExplainTest, MidResources) {
  EXPECT_EQ(Explain(R"({"enable":true})", "kubernetes.io/mid-cpu")->formula,
            "mid-cpu = min(min(reclaimable, unused) + share, cap)");
  const auto fixed =
      *Explain(R"({"enable":true,"midReclaimMode":"static","midStaticCPUReservedPercent":10})",
               "kubernetes.io/mid-cpu");
  EXPECT_EQ(fixed.formula, "mid-cpu = min(static, cap)");
  EXPECT_EQ(fixed.result, "10k");
}

TEST_F(ExplainTest, OtherResourcesAreRefused) {
  EXPECT_THAT(std::string(Message(Explain("{}", "cpu").status())),
              HasSubstr("must be one of kubernetes.io/batch-cpu"));
}

}  // namespace
}  // namespace koord::manager::explain_test
