#include "koordlet/host/resctrl.h"

#include <gtest/gtest.h>

namespace koord::koordlet::resctrl_test {
namespace {

TEST(Resctrl, Vector11Masks) {
  EXPECT_EQ(L3MaskOf("3ff", 10, 80).value(), "fe");
  EXPECT_EQ(L3MaskOf("7ff\n", 10, 50).value(), "3c");
  EXPECT_EQ(L3MaskOf("fffff", 0, 100).value(), "fffff");
  EXPECT_FALSE(L3MaskOf("101", 0, 100).ok());
  EXPECT_FALSE(L3MaskOf("3ff", 30, 30).ok());
}

TEST(Resctrl, NonsenseIsAnError) {
  for (const char* mask : {"", "0", "xyz", "-1", "ffffffffff", "3ff 3ff"}) {
    EXPECT_FALSE(L3MaskOf(mask, 0, 100).ok()) << mask;
  }
  EXPECT_FALSE(L3MaskOf("3ff", -1, 100).ok());
  EXPECT_FALSE(L3MaskOf("3ff", 0, 101).ok());
  EXPECT_FALSE(L3MaskOf("f", 1, 2).ok()) << "less than one way";
}

TEST(Resctrl, Vector11Bandwidth) {
  EXPECT_EQ(MbaValueOf("GenuineIntel", 85), 90);
  EXPECT_EQ(MbaValueOf("GenuineIntel", 90), 90);
  EXPECT_EQ(MbaValueOf("AuthenticAMD", 80), 128);
  EXPECT_EQ(MbaValueOf("AuthenticAMD", 100), 2048);
  EXPECT_EQ(MbaValueOf("GenuineIntel", 0), std::nullopt);
  EXPECT_EQ(MbaValueOf("AuthenticAMD", 101), std::nullopt);
}

TEST(Resctrl, CachesNeedNotBeNumberedWithoutGaps) {
  EXPECT_EQ(ParseCacheIds("    L3:0=fff;8=fff\n    MB:0=100;8=100\n", "L3"),
            (std::vector<int32_t>{0, 8}));
  EXPECT_EQ(ParseCacheIds("garbage\nL3:;x=1;=", "L3"), std::vector<int32_t>());
  EXPECT_EQ(FormatSchemata("L3", {{0, "f"}, {8, "f0"}}), "L3:0=f;8=f0;\n");
}

}  // namespace
}  // namespace koord::koordlet::resctrl_test
