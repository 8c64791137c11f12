#include "manager/noderesource/cpu_normalization/cpu_normalization.h"

#include <gtest/gtest.h>

#include "api/keys.h"
#include "api/node_annotations.h"

namespace koord::manager::cpu_normalization_test {
namespace {

CpuNormalizationConfig Config(std::optional<double> default_ratio = {}) {
  CpuNormalizationConfig config;
  config.cluster.enable = true;
  config.cluster.default_ratio = default_ratio;
  config.cluster.ratio_model["CPU XXX"] = {.base_ratio = 1.9,
                                           .hyper_thread_enabled_ratio = 1.0,
                                           .turbo_enabled_ratio = 1.65,
                                           .hyper_thread_turbo_enabled_ratio = 1.1};
  config.cluster.ratio_model["partial"] = {.base_ratio = 1.5};
  return config;
}

std::string Ratio(const CpuNormalizationConfig& config, const api::CpuBasicInfo& cpu,
                  kube::Labels labels = {}) {
  kube::Node node;
  node.metadata.labels = std::move(labels);
  api::NodeResourceTopology topology;
  topology.metadata.annotations.emplace(std::string(api::kAnnotationCpuBasicInfo),
                                        api::EncodeCpuBasicInfo(cpu));
  const auto ratio = NormalizationRatio(node, &topology, config);
  return ratio.ok() ? *ratio : "error";
}

TEST(CpuNormalization, V14) {
  const auto ratio = [](bool hyper_threads, bool turbo) {
    return Ratio(Config(), {.cpu_model = "CPU XXX",
                            .hyper_thread_enabled = hyper_threads,
                            .turbo_enabled = turbo,
                            .cat_l3_cbm_mask = {},
                            .vendor_id = {}});
  };
  EXPECT_EQ(ratio(true, true), "1.10");
  EXPECT_EQ(ratio(true, false), "1.00");
  EXPECT_EQ(ratio(false, true), "1.65");
  EXPECT_EQ(ratio(false, false), "1.90");
}

TEST(CpuNormalization, TheDefaultIsForWhatIsNotListed) {
  api::CpuBasicInfo unknown;
  unknown.cpu_model = "other";
  EXPECT_EQ(Ratio(Config(), unknown), "error");
  EXPECT_EQ(Ratio(Config(1.3), unknown), "1.30");
  EXPECT_EQ(Ratio(Config(5.5), unknown), "error") << "out of bounds";
  EXPECT_EQ(Ratio(Config(0.9), unknown), "error") << "out of bounds";
  api::CpuBasicInfo partial;
  partial.cpu_model = "partial";
  partial.turbo_enabled = true;
  EXPECT_EQ(Ratio(Config(1.3), partial), "1.30");
  EXPECT_EQ(Ratio(Config(), partial), "error");
}

TEST(CpuNormalization, TheLabelCountsMoreThanTheStrategy) {
  const std::string label(api::kLabelCpuNormalizationEnabled);
  api::CpuBasicInfo cpu;
  cpu.cpu_model = "CPU XXX";
  EXPECT_EQ(Ratio(Config(), cpu, {{label, "false"}}), "1.00");
  EXPECT_EQ(Ratio(Config(), cpu, {{label, "perhaps"}}), "error");
  CpuNormalizationConfig off = Config();
  off.cluster.enable = false;
  EXPECT_EQ(Ratio(off, cpu), "1.00");
  EXPECT_EQ(Ratio(off, cpu, {{label, "t"}}), "1.90");
}

TEST(CpuNormalization, WithoutKnowingTheCpuNothingIsSaid) {
  const kube::Node node;
  api::NodeResourceTopology topology;
  EXPECT_FALSE(NormalizationRatio(node, nullptr, Config(2)).ok());
  EXPECT_FALSE(NormalizationRatio(node, &topology, Config(2)).ok());
  topology.metadata.annotations.emplace(std::string(api::kAnnotationCpuBasicInfo), "{");
  EXPECT_FALSE(NormalizationRatio(node, &topology, Config(2)).ok());
}

TEST(CpuNormalization, WhatIsWorthAWrite) {
  struct Case {
    const char* before;
    const char* after;
    bool out_of_date;
  };
  for (const Case& each : std::initializer_list<Case>{{nullptr, "1.00", true},
                                                      {"1.00", "1.00", false},
                                                      {"1.00", "1.02", true},
                                                      {"x", "1.00", true},
                                                      {"-1", "1.00", true},
                                                      {"1.00", "x", false}}) {
    kube::Node node;
    if (each.before != nullptr) {
      node.metadata.annotations.emplace(std::string(api::kAnnotationCpuNormalizationRatio),
                                        each.before);
    }
    EXPECT_EQ(IsNormalizationOutOfDate(node, each.after), each.out_of_date)
        << (each.before ? each.before : "none") << " " << each.after;
  }
}

}  // namespace
}  // namespace koord::manager::cpu_normalization_test
