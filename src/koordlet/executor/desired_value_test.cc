#include "koordlet/executor/desired_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::koordlet::desired_value_test {
namespace {

using ::testing::HasSubstr;

constexpr CgroupVersion kV1 = CgroupVersion::kV1;
constexpr CgroupVersion kV2 = CgroupVersion::kV2;

StatusOr<DesiredValue> Parse(CgroupFile file, CgroupVersion version, std::string_view value) {
  return DesiredValue::Parse(file, version, 4096, value);
}

TEST(DesiredValue, WhatIsWritten) {
  struct Case {
    CgroupFile file;
    CgroupVersion version;
    std::string_view value;
    std::string_view current;
    std::string_view text;
  };
  for (const Case& c : {
           Case{CgroupFile::kCpuShares, kV1, "1024", "2", "1024"},
           Case{CgroupFile::kCpuShares, kV2, "1024", "100", "39"},
           Case{CgroupFile::kCpuQuota, kV1, "-1", "1000", "-1"},
           Case{CgroupFile::kCpuQuota, kV2, "-1", "1000 100000", "max 100000"},
           Case{CgroupFile::kCpuQuota, kV2, "50000", "max 200000", "50000 200000"},
           Case{CgroupFile::kCpuPeriod, kV1, "50000", "100000", "50000"},
           Case{CgroupFile::kCpuPeriod, kV2, "50000", "20000 100000", "20000 50000"},
           Case{CgroupFile::kMemoryLimit, kV1, "-1", "4096", "-1"},
           Case{CgroupFile::kMemoryLimit, kV2, "-1", "4096", "max"},
           Case{CgroupFile::kMemoryHigh, kV1, "9223372036854775807", "4096", "max"},
           Case{CgroupFile::kMemoryHigh, kV2, "9223372036854775807", "4096", "max"},
           Case{CgroupFile::kMemoryMin, kV2, "8192", "0", "8192"},
           Case{CgroupFile::kCpuset, kV2, "0-7,8-15", "0", "0-7,8-15"},
           Case{CgroupFile::kNetClassId, kV1, "65540", "0", "65540"},
           Case{CgroupFile::kBlkioReadBps, kV1, "253:16 1048576", "", "253:16 1048576"},
       }) {
    const auto desired = Parse(c.file, c.version, c.value);
    ASSERT_TRUE(desired.ok()) << desired.status();
    EXPECT_EQ(desired->TextFor(c.current), c.text);
    EXPECT_FALSE(desired->Matches(c.current)) << c.value << " and " << c.current;
  }
}

TEST(DesiredValue, WhatIsInPlaceAlready) {
  struct Case {
    CgroupFile file;
    CgroupVersion version;
    std::string_view value;
    std::string_view current;
  };
  for (const Case& c : {
           Case{CgroupFile::kCpuShares, kV1, "1024", "1024\n"},
           Case{CgroupFile::kCpuShares, kV2, "1024", "39\n"},
           Case{CgroupFile::kCpuQuota, kV2, "50000", "50000 100000\n"},
           Case{CgroupFile::kCpuQuota, kV2, "-1", "max 100000\n"},
           Case{CgroupFile::kCpuPeriod, kV2, "100000", "max 100000\n"},
           Case{CgroupFile::kMemoryLimit, kV1, "-1", "9223372036854771712\n"},
           Case{CgroupFile::kMemoryLimit, kV2, "-1", "max\n"},
           // The kernel rounds down to pages.
           Case{CgroupFile::kMemoryMin, kV2, "5000", "4096\n"},
           Case{CgroupFile::kMemoryHigh, kV2, "max", "9223372036854775807\n"},
           Case{CgroupFile::kCpuset, kV1, "0-7,8-15", "0-15\n"},
           Case{CgroupFile::kCpuset, kV1, "3,1,2", "1-3\n"},
           Case{CgroupFile::kBlkioReadBps, kV1, "253:16 5", "8:0 1\n253:16 5\n"},
           Case{CgroupFile::kBlkioReadBps, kV1, "253:16 0", "8:0 1\n"},
           Case{CgroupFile::kBlkioCostQos, kV1, "253:16 enable=0", "253:16 enable=0\n"},
       }) {
    EXPECT_TRUE(Parse(c.file, c.version, c.value)->Matches(c.current))
        << c.value << " and " << c.current;
  }
}

TEST(DesiredValue, DeviceLinesThatDiffer) {
  EXPECT_FALSE(Parse(CgroupFile::kBlkioReadBps, kV1, "253:16 5")->Matches("253:16 6\n"));
  EXPECT_FALSE(Parse(CgroupFile::kBlkioReadBps, kV1, "253:16 5")->Matches("253:160 5\n"));
  EXPECT_FALSE(Parse(CgroupFile::kBlkioReadBps, kV1, "253:16 0")->Matches("253:16 6\n"));
  EXPECT_FALSE(Parse(CgroupFile::kBlkioCostQos, kV1, "253:16 enable=0")->Matches(""));
}

TEST(DesiredValue, GarbageInTheFileIsOverwritten) {
  for (const std::string_view garbage : {"", "x", "\xff\xfe", "1 2 3 4", "99999999999999999999"}) {
    EXPECT_FALSE(Parse(CgroupFile::kCpuShares, kV1, "1024")->Matches(garbage));
    EXPECT_FALSE(Parse(CgroupFile::kCpuQuota, kV1, "2000")->Matches(garbage));
    EXPECT_FALSE(Parse(CgroupFile::kMemoryMin, kV2, "8192")->Matches(garbage));
    EXPECT_FALSE(Parse(CgroupFile::kCpuset, kV1, "0-3")->Matches(garbage));
  }
}

TEST(DesiredValue, RefusesWhatTheKernelWould) {
  struct Case {
    CgroupFile file;
    std::string_view value;
  };
  for (const Case& c : {
           Case{CgroupFile::kCpuShares, "1"},
           Case{CgroupFile::kCpuShares, "262145"},
           Case{CgroupFile::kCpuQuota, "0"},
           Case{CgroupFile::kCpuQuota, "999"},
           Case{CgroupFile::kCpuQuota, "-2"},
           Case{CgroupFile::kCpuQuota, "9223372036854775806"},
           Case{CgroupFile::kCpuQuota, ""},
           Case{CgroupFile::kCpuPeriod, "999"},
           Case{CgroupFile::kCpuPeriod, "-1"},
           Case{CgroupFile::kCpuBurst, "-1"},
           Case{CgroupFile::kCpuBvt, "3"},
           Case{CgroupFile::kCpuBvt, "-2"},
           Case{CgroupFile::kCpuIdle, "2"},
           Case{CgroupFile::kCpuset, ""},
           Case{CgroupFile::kCpuset, "a-b"},
           Case{CgroupFile::kMemoryMin, "-1"},
           Case{CgroupFile::kMemoryLimit, "-2"},
           Case{CgroupFile::kMemoryLimit, "1Gi"},
           Case{CgroupFile::kMemoryWmarkRatio, "101"},
           Case{CgroupFile::kMemoryWmarkScaleFactor, "0"},
           Case{CgroupFile::kMemoryWmarkMinAdj, "51"},
           Case{CgroupFile::kMemoryWmarkMinAdj, "-26"},
           Case{CgroupFile::kMemoryPriority, "13"},
           Case{CgroupFile::kMemoryOomGroup, "2"},
           Case{CgroupFile::kCpuStat, "1"},
           Case{CgroupFile::kProcesses, "1"},
       }) {
    for (const CgroupVersion version : {kV1, kV2}) {
      EXPECT_EQ(Parse(c.file, version, c.value).status().code(), absl::StatusCode::kInvalidArgument)
          << c.value;
    }
  }
  for (const std::string_view value :
       {"253:16", "253 5", "253:16 -1", "253:16 x", "a:b 5", "253:16 5\n8:0 5", ""}) {
    EXPECT_FALSE(Parse(CgroupFile::kBlkioReadBps, kV1, value).ok()) << value;
  }
  EXPECT_FALSE(Parse(CgroupFile::kBlkioCostWeight, kV1, "253:16 101").ok());
  EXPECT_FALSE(Parse(CgroupFile::kNetClassId, kV1, "4294967296").ok());
  EXPECT_THAT(std::string(Message(Parse(CgroupFile::kCpuBvt, kV1, "3").status())),
              HasSubstr("cpu.bvt_warp_ns cannot be 3: expected -1 to 2"));
}

TEST(DesiredValue, LoosensFirst) {
  const auto quota = Parse(CgroupFile::kCpuQuota, kV2, "20000").value();
  EXPECT_EQ(quota.Loosened("10000 100000").value(), "20000 100000");
  EXPECT_EQ(quota.Loosened("30000 100000").value(), std::nullopt);
  EXPECT_EQ(quota.Loosened("max 100000").value(), std::nullopt);
  EXPECT_FALSE(quota.Loosened("garbage").ok());
  const auto unlimited = Parse(CgroupFile::kCpuQuota, kV1, "-1").value();
  EXPECT_EQ(unlimited.Loosened("10000").value(), "-1");
  EXPECT_EQ(unlimited.Loosened("-1").value(), std::nullopt);
  const auto cpus = Parse(CgroupFile::kCpuset, kV1, "2-4").value();
  EXPECT_EQ(cpus.Loosened("2-3,6-7").value(), "2-4,6-7");
  EXPECT_EQ(cpus.Loosened("0-7").value(), std::nullopt);
}

}  // namespace
}  // namespace koord::koordlet::desired_value_test
