#include "api/priority.h"

#include <gtest/gtest.h>

#include "api/keys.h"
#include "api/qos.h"

namespace koord::api::priority_test {
namespace {

kube::Pod MakePod(std::string_view text) {
  return kube::Decode<kube::Pod>(kube::ParseJson(text).value()).value();
}

kube::Pod Labelled(std::string_view key, std::string value,
                   std::optional<int32_t> priority = std::nullopt) {
  kube::Pod pod = MakePod(R"({"spec":{"containers":[{"name":"a"}]}})");
  pod.metadata.labels.Mutable().emplace(key, std::move(value));
  pod.spec.priority = priority;
  return pod;
}

constexpr std::string_view kRequestsCpu =
    R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})";
constexpr std::string_view kGuaranteed = R"({"spec":{"containers":[{"name":"a","resources":{
    "requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}}]}})";
constexpr std::string_view kNoResources = R"({"spec":{"containers":[{"name":"a"}]}})";

TEST(QosTest, EveryNameIsItsOwn) {
  for (const std::string_view name : {"LSE", "LSR", "LS", "BE", "SYSTEM"}) {
    EXPECT_EQ(ToString(ParseQosClass(name)), name);
  }
  for (const std::string_view name : {"", "ls", "be", "System", "LSX", "none"}) {
    EXPECT_EQ(ParseQosClass(name), QosClass::kNone) << name;
  }
}

TEST(QosTest, AnUnknownLabelCountsAsNone) {
  kube::Pod pod = MakePod(kRequestsCpu);
  pod.metadata.labels.Mutable().emplace(kLabelQosClass, "ls");
  EXPECT_EQ(RawQosClass(pod.metadata.labels), QosClass::kNone);
  EXPECT_EQ(QosClassOf(pod), QosClass::kLs);
}

TEST(QosTest, FollowsFromKubernetesClass) {
  EXPECT_EQ(QosClassOf(MakePod(kGuaranteed)), QosClass::kLsr);
  EXPECT_EQ(QosClassOf(MakePod(R"({"spec":{"containers":[{"name":"a","resources":{
      "requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}})")),
            QosClass::kLs);
  kube::Pod pod = MakePod(kNoResources);
  EXPECT_EQ(QosClassOf(pod), QosClass::kBe);
  pod.status.qos_class = "Guaranteed";
  EXPECT_EQ(QosClassOf(pod), QosClass::kLsr);
}

TEST(PriorityTest, Bands) {
  for (const auto& [priority, band] : {std::pair{2999, ""},
                                       {3000, "koord-free"},
                                       {3999, "koord-free"},
                                       {4000, ""},
                                       {5000, "koord-batch"},
                                       {5999, "koord-batch"},
                                       {6000, ""},
                                       {7000, "koord-mid"},
                                       {7999, "koord-mid"},
                                       {8500, ""},
                                       {9000, "koord-prod"},
                                       {9999, "koord-prod"},
                                       {10000, ""},
                                       {-1, ""}}) {
    EXPECT_EQ(ToString(BandOfPriority(priority)), band) << priority;
  }
}

TEST(PriorityTest, OutsideOfAllBandsTheQosClassDecides) {
  kube::Pod pod = MakePod(kNoResources);
  pod.spec.priority = 8500;
  EXPECT_EQ(RawPriorityBand(pod), PriorityBand::kNone);
  EXPECT_EQ(PriorityBandOf(pod), PriorityBand::kBatch);
}

TEST(PriorityTest, TheLabelDecidesAlone) {
  EXPECT_EQ(RawPriorityBand(Labelled(kLabelPriorityClass, "koord-free", 5500)),
            PriorityBand::kFree);
  kube::Pod pod = Labelled(kLabelPriorityClass, "typo", 5500);
  pod.metadata.labels.Mutable().emplace(kLabelQosClass, "LS");
  EXPECT_EQ(RawPriorityBand(pod), PriorityBand::kNone);
  EXPECT_EQ(PriorityBandOf(pod), PriorityBand::kProd);
}

TEST(PriorityTest, TheClassNameIsNotLookedAt) {
  kube::Pod pod = MakePod(kNoResources);
  pod.spec.priority_class_name = "koord-prod";
  EXPECT_EQ(RawPriorityBand(pod), PriorityBand::kNone);
}

TEST(PriorityTest, Values) {
  EXPECT_EQ(PriorityValueOf(Labelled(kLabelQosClass, "BE", 0)), 5500);
  EXPECT_EQ(PriorityValueOf(Labelled(kLabelPriorityClass, "koord-mid")), 7500);
  EXPECT_EQ(PriorityValueOf(Labelled("x", "y", 12)), 12);
  EXPECT_EQ(PriorityValueOf(Labelled(kLabelQosClass, "SYSTEM")), 9500);
  EXPECT_EQ(PriorityValueOf(Labelled(kLabelPriorityClass, "koord-free")), 3500);
}

TEST(SubPriorityTest, Accepts) {
  EXPECT_EQ(SubPriority({}).value(), 0);
  for (const auto& [text, value] : {std::pair{"5300", 5300},
                                    {"-1", -1},
                                    {"0x10", 16},
                                    {"-0X1f", -31},
                                    {"010", 8},
                                    {"0o17", 15},
                                    {"0b101", 5},
                                    {"1_000", 1000},
                                    {"0x_1", 1},
                                    {"+7", 7},
                                    {"0", 0},
                                    {"", 0},
                                    {"2147483647", 2147483647},
                                    {"-2147483648", -2147483647 - 1}}) {
    const StatusOr<int32_t> parsed = SubPriority({{std::string(kLabelPriority), text}});
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, value) << text;
  }
}

TEST(SubPriorityTest, Refuses) {
  for (const char* text : {"abc", "3000000000", "2147483648", "-2147483649", "08", "1__0", "_1",
                           "1_", "0x", "1.0", " 1", "-", "0b2"}) {
    EXPECT_FALSE(SubPriority({{std::string(kLabelPriority), text}}).ok()) << text;
  }
}

TEST(PreemptionPolicyTest, OnlyKnownValuesCount) {
  for (const auto& [label, policy] : {std::pair{"Never", "Never"},
                                      {"PreemptLowerPriority", "PreemptLowerPriority"},
                                      {"never", ""},
                                      {"", ""}}) {
    EXPECT_EQ(PreemptionPolicyOf({{std::string(kLabelPreemptionPolicy), label}}), policy);
  }
  EXPECT_EQ(PreemptionPolicyOf({}), "");
}

TEST(CombinationTest, OnlyBestEffortAndReservedAreRestricted) {
  constexpr auto kNone = PriorityBand::kNone;
  constexpr auto kProd = PriorityBand::kProd;
  constexpr auto kMid = PriorityBand::kMid;
  constexpr auto kBatch = PriorityBand::kBatch;
  constexpr auto kFree = PriorityBand::kFree;
  struct Row {
    QosClass qos;
    std::vector<PriorityBand> forbidden;
  };
  for (const Row& row : {Row{QosClass::kNone, {}}, Row{QosClass::kLse, {}},
                         Row{QosClass::kLsr, {kNone, kMid, kBatch, kFree}}, Row{QosClass::kLs, {}},
                         Row{QosClass::kBe, {kNone, kProd}}, Row{QosClass::kSystem, {}}}) {
    for (const PriorityBand band : kPriorityBands) {
      const bool forbidden = std::ranges::find(row.forbidden, band) != row.forbidden.end();
      EXPECT_EQ(MayCombine(row.qos, band), !forbidden)
          << ToString(row.qos) << " with " << ToString(band);
    }
  }
}

}  // namespace
}  // namespace koord::api::priority_test
