#include "koordlet/qos/blkio/blkio_qos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::koordlet::blkio_qos_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Texts(const std::vector<BlkioLine>& lines) {
  std::vector<std::string> texts;
  for (const BlkioLine& line : lines) texts.push_back(line.text);
  return texts;
}

TEST(BlkioLimitsTest, OneLineForEachFile) {
  api::IoConfig config;
  config.read_iops = 100;
  config.write_bps = 1 << 20;
  config.io_weight_percent = 40;
  EXPECT_THAT(Texts(BlkioLimits("253:16", config)),
              ElementsAre("253:16 100", "253:16 0", "253:16 0", "253:16 1048576", "253:16 40"));
  EXPECT_THAT(Texts(NoBlkioLimits("8:0")),
              ElementsAre("8:0 0", "8:0 0", "8:0 0", "8:0 0", "8:0 100"));
}

TEST(DiskModelTest, DefaultsAndUserModel) {
  api::IoConfig config;
  EXPECT_THAT(
      Texts(DiskModel("8:0", config)),
      ElementsAre("8:0 enable=1 ctrl=user rpct=95 rlat=3000 wpct=95 wlat=3000", "8:0 ctrl=auto"));
  config.read_latency = 1000;
  config.enable_user_model = true;
  config.model_read_bps = 1;
  config.model_read_seq_iops = 2;
  config.model_read_rand_iops = 3;
  config.model_write_bps = 4;
  config.model_write_seq_iops = 5;
  config.model_write_rand_iops = 6;
  EXPECT_THAT(
      Texts(DiskModel("8:0", config)),
      ElementsAre("8:0 enable=1 ctrl=user rpct=95 rlat=1000 wpct=95 wlat=3000",
                  "8:0 ctrl=user rbps=1 rseqiops=2 rrandiops=3 wbps=4 wseqiops=5 wrandiops=6"));
  EXPECT_THAT(Texts(NoDiskModel("8:0")), ElementsAre("8:0 enable=0"));
}

}  // namespace
}  // namespace koord::koordlet::blkio_qos_test
