#include "manager/noderesource/amplification/amplification.h"

#include <gtest/gtest.h>

#include "api/keys.h"

namespace koord::manager::amplification_test {
namespace {

std::string Ratios(bool enable, std::map<std::string, double, std::less<>> ratios,
                   const char* normalization) {
  AmplificationConfig config;
  config.cluster = {.enable = enable, .resource_amplification_ratio = std::move(ratios)};
  kube::Node node;
  if (normalization != nullptr) {
    node.metadata.annotations.emplace(std::string(api::kAnnotationCpuNormalizationRatio),
                                      normalization);
  }
  const auto ratio = AmplificationRatio(node, config);
  if (!ratio.ok()) return "error";
  return ratio->value_or("none");
}

TEST(Amplification, V15) {
  EXPECT_EQ(Ratios(true, {{"cpu", 1.5}, {"memory", 2.5}}, "1.20"), R"({"cpu":1.80,"memory":2.50})");
  EXPECT_EQ(Ratios(false, {{"cpu", 1.5}}, "1.22"), R"({"cpu":1.22})");
  EXPECT_EQ(Ratios(false, {}, nullptr), "none");
  EXPECT_EQ(Ratios(false, {}, "1.00"), "none");
}

TEST(Amplification, RatiosBelowOneAreRefused) {
  EXPECT_EQ(Ratios(true, {{"cpu", 0.5}}, nullptr), "error");
  EXPECT_EQ(Ratios(true, {{"memory", 0.9}, {"cpu", 2}}, nullptr), "error");
  EXPECT_EQ(Ratios(true, {{"cpu", 0.5}}, "4.00"), R"({"cpu":2.00})") << "together above one";
  EXPECT_EQ(Ratios(true, {{"cpu", 1}}, nullptr), R"({"cpu":1.00})");
}

TEST(Amplification, AnUnreadableNormalizationIsAnError) {
  EXPECT_EQ(Ratios(true, {{"cpu", 1.5}}, "x"), "error");
  EXPECT_EQ(Ratios(true, {{"cpu", 1.5}}, "-1"), "error");
}

}  // namespace
}  // namespace koord::manager::amplification_test
