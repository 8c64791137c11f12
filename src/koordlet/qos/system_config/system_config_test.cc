#include "koordlet/qos/system_config/system_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::koordlet::system_config_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::optional<int64_t> MinFree(std::optional<int64_t> factor, int64_t memory) {
  api::SystemStrategy strategy;
  strategy.min_free_kbytes_factor = factor;
  return SystemSettings(strategy, memory).front().value;
}

TEST(SystemSettingsTest, Vector22) {
  constexpr int64_t kMemory = int64_t{512} << 30;
  EXPECT_EQ(MinFree(88, kMemory), 4724464);
  EXPECT_EQ(MinFree(400, kMemory), std::nullopt);
  EXPECT_EQ(MinFree(std::nullopt, kMemory), std::nullopt);
  EXPECT_EQ(MinFree(INT64_MAX, INT64_MAX), std::nullopt);
  EXPECT_EQ(MinFree(1, kMemory), 53687);
  EXPECT_EQ(MinFree(1, 1 << 30), std::nullopt) << "below 10 MiB";
}

TEST(SystemSettingsTest, Ranges) {
  api::SystemStrategy strategy;
  strategy.watermark_scale_factor = 401;
  strategy.memcg_reap_background = 2;
  strategy.sched_group_identity_enabled = 1;
  strategy.sched_idle_saver_wmark = 100;
  strategy.page_cache_limit_enabled = -1;
  std::vector<std::optional<int64_t>> values;
  for (const auto& setting : SystemSettings(strategy, 1)) values.push_back(setting.value);
  EXPECT_THAT(values, ElementsAre(std::nullopt, std::nullopt, std::nullopt, 1, 100, std::nullopt));
}

TEST(SchedFeatureChangesTest, OnlyWhatDiffers) {
  EXPECT_THAT(SchedFeatureChanges({{"ID_EXPELLER_SHARE_CORE", false}, {"TTWU_QUEUE", true}},
                                  "GENTLE_FAIR_SLEEPERS ID_EXPELLER_SHARE_CORE TTWU_QUEUE\n"),
              ElementsAre("NO_ID_EXPELLER_SHARE_CORE\n"));
  EXPECT_THAT(SchedFeatureChanges({{"A", true}, {"B", true}}, "NO_A"), ElementsAre("A\n", "B\n"));
  EXPECT_THAT(SchedFeatureChanges({{"A\nB", true}, {"", true}}, "NO_A"), IsEmpty());
}

}  // namespace
}  // namespace koord::koordlet::system_config_test
