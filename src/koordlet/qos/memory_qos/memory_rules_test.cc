#include "koordlet/qos/memory_qos/memory_rules.h"

#include <gtest/gtest.h>

#include "api/default_strategies.h"

namespace koord::koordlet::memory_rules_test {
namespace {

constexpr int64_t kMi = 1 << 20;
constexpr int64_t kGi = 1 << 30;

TEST(MemoryHighTest, Vector12) {
  EXPECT_EQ(Protected(4 * kMi, 100), 4194304);
  EXPECT_EQ(RaisedTo(*Protected(4 * kMi, 0), 4194304), 0);
  EXPECT_EQ(MemoryHigh(4 * kMi, 4 * kMi, kGi, 80, 4096), 4194304);
  EXPECT_EQ(MemoryHigh(0, 0, kGi, 80, 4096), 858992640);
}

TEST(MemoryHighTest, Throttling) {
  EXPECT_EQ(MemoryHigh(0, kGi, kGi, 0, 4096), kNoMemoryHigh);
  EXPECT_EQ(MemoryHigh(kGi, 2 * kGi, kGi, 50, 4096), kGi + kGi / 2);
  EXPECT_EQ(MemoryHigh(kGi, 2 * kGi, kGi, 1000, 4096), 2 * kGi);
  EXPECT_EQ(MemoryHigh(INT64_MAX, INT64_MAX, kGi, 100, 4096), INT64_MAX / 4096 * 4096);
  EXPECT_EQ(MemoryHigh(kGi, 1, kGi, 100, 4096), 0);
}

TEST(ProtectedTest, NonsenseIsCutDown) {
  EXPECT_EQ(Protected(kGi, std::nullopt), std::nullopt);
  EXPECT_EQ(Protected(kGi, 1000), kGi);
  EXPECT_EQ(Protected(kGi, -1), 0);
  EXPECT_EQ(Protected(-5, 50), 0);
}

TEST(MergeMemoryQosTest, Policies) {
  api::MemoryQos node;
  node.min_limit_percent = 50;
  node.low_limit_percent = 60;
  api::PodMemoryQos pod;
  pod.low_limit_percent = 70;

  EXPECT_EQ(MergeMemoryQos(&node, api::QosClass::kLs, nullptr), node);
  EXPECT_EQ(MergeMemoryQos(nullptr, api::QosClass::kLs, nullptr), api::MemoryQos());

  api::MemoryQos merged = MergeMemoryQos(&node, api::QosClass::kLs, &pod);
  EXPECT_EQ(merged.min_limit_percent, 50);
  EXPECT_EQ(merged.low_limit_percent, 70);
  EXPECT_EQ(merged.wmark_ratio, std::nullopt) << "what nobody has set stays unset";

  pod.policy = "auto";
  merged = MergeMemoryQos(&node, api::QosClass::kLs, &pod);
  EXPECT_EQ(merged.min_limit_percent, 0);
  EXPECT_EQ(merged.low_limit_percent, 70);
  EXPECT_EQ(merged.wmark_ratio, 95);
  EXPECT_EQ(merged.wmark_min_adj, -25);
  EXPECT_EQ(MergeMemoryQos(&node, api::QosClass::kBe, &pod).wmark_min_adj, 50);

  pod.policy = "none";
  EXPECT_EQ(MergeMemoryQos(&node, api::QosClass::kLs, &pod), api::NoMemoryQos());
}

TEST(PageCacheLimitTest, SizeAndPercent) {
  api::MemoryQos config;
  EXPECT_EQ(PageCacheLimitOf(config, kGi), PageCacheLimit());
  config.page_cache_limit_percent = 25;
  EXPECT_EQ(PageCacheLimitOf(config, kGi), (PageCacheLimit{1, kGi / 4, 0}));
  EXPECT_EQ(PageCacheLimitOf(config, std::nullopt), PageCacheLimit()) << "a part of what?";
  config.page_cache_limit_size = kube::Quantity(2 * kGi);
  config.page_cache_reclaim_sync = true;
  EXPECT_EQ(PageCacheLimitOf(config, kGi), (PageCacheLimit{1, kGi, 1}));
  EXPECT_EQ(PageCacheLimitOf(config, std::nullopt), (PageCacheLimit{1, 2 * kGi, 1}));
  config.page_cache_enable = false;
  EXPECT_EQ(PageCacheLimitOf(config, kGi), (PageCacheLimit{0, kGi, 1}));
  config.page_cache_enable.reset();
  config.page_cache_limit_size = kube::Quantity(0);
  EXPECT_EQ(PageCacheLimitOf(config, kGi), (PageCacheLimit{0, 0, std::nullopt}));
}

}  // namespace
}  // namespace koord::koordlet::memory_rules_test
