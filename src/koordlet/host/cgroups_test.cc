#include "koordlet/host/cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "koordlet/host/memory_tree.h"

namespace koord::koordlet::cgroups_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr CgroupLayout kV1{CgroupVersion::kV1, CgroupDriver::kCgroupfs};
constexpr CgroupLayout kV2{CgroupVersion::kV2, CgroupDriver::kCgroupfs};

constexpr std::string_view kMemoryStatV1 =
    "cache 1\nrss 1\nhierarchical_memory_limit 9223372036854771712\ntotal_cache 10\ntotal_rss 11\n"
    "total_rss_huge 0\ntotal_inactive_anon 12\ntotal_active_anon 13\ntotal_inactive_file 14\n"
    "total_active_file 15\ntotal_unevictable 16\n";
constexpr std::string_view kMemoryStatV2 =
    "anon 11\nfile 10\nkernel 99\ninactive_anon 12\nactive_anon 13\ninactive_file 14\n"
    "active_file 15\nunevictable 16\nslab 5\n";

TEST(Cgroups, PathsByVersion) {
  MemoryTree tree;
  const Cgroups v1(tree, kV1);
  const Cgroups v2(tree, kV2);
  EXPECT_EQ(v1.PathOf(CgroupFile::kCpuQuota, CgroupDir::At("kubepods")).value(),
            "cpu/kubepods/cpu.cfs_quota_us");
  EXPECT_EQ(v2.PathOf(CgroupFile::kCpuQuota, CgroupDir::At("kubepods")).value(),
            "kubepods/cpu.max");
  EXPECT_EQ(v1.PathOf(CgroupFile::kCpuUsage, CgroupDir()).value(), "cpuacct/cpuacct.usage");
  EXPECT_EQ(v2.PathOf(CgroupFile::kMemoryLimit, CgroupDir()).value(), "memory.max");
  EXPECT_EQ(v1.PathOf(CgroupFile::kNetClassId, CgroupDir::At("p")).value(),
            "net_cls/p/net_cls.classid");
  EXPECT_EQ(v2.PathOf(CgroupFile::kNetClassId, CgroupDir::At("p")).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(v1.PathOf(CgroupFile::kPageCacheLimitSize, CgroupDir::At("p")).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(Cgroups, SupportIsLookedUpWhereTheFileSaysSo) {
  MemoryTree tree;
  const Cgroups cgroups(tree, kV1);
  EXPECT_TRUE(cgroups.IsSupported(CgroupFile::kCpuQuota, CgroupDir::At("kubepods/pod1")));
  EXPECT_FALSE(cgroups.IsSupported(CgroupFile::kMemoryMin, CgroupDir::At("kubepods/pod1")));
  EXPECT_FALSE(cgroups.IsSupported(CgroupFile::kCpuBvt, CgroupDir::At("kubepods/pod1")));
  EXPECT_FALSE(
      cgroups.IsSupported(CgroupFile::kPageCacheLimitSize, CgroupDir::At("kubepods/pod1")));
  EXPECT_FALSE(cgroups.IsSupported(CgroupFile::kBlkioCostQos, CgroupDir()));

  // The kubelet makes its directories later than koordlet starts.
  tree.Set("memory/kubepods/memory.min", "0");
  tree.Set("cpu/kubepods/pod1/cpu.bvt_warp_ns", "0");
  tree.Set("blkio/blkio.cost.qos", "");
  EXPECT_TRUE(cgroups.IsSupported(CgroupFile::kMemoryMin, CgroupDir::At("kubepods/pod1")));
  EXPECT_TRUE(cgroups.IsSupported(CgroupFile::kCpuBvt, CgroupDir::At("kubepods/pod1")));
  EXPECT_FALSE(cgroups.IsSupported(CgroupFile::kCpuBvt, CgroupDir::At("kubepods/pod2")));
  EXPECT_TRUE(cgroups.IsSupported(CgroupFile::kBlkioCostQos, CgroupDir()));
}

TEST(Cgroups, LooksForAFileOfTheKernelOnce) {
  MemoryTree tree;
  tree.AddDirectory("cpu/kubepods");
  const Cgroups cgroups(tree, kV1);
  EXPECT_FALSE(cgroups.IsSupported(CgroupFile::kCpuIdle, CgroupDir::At("kubepods")));
  tree.Set("cpu/kubepods/cpu.idle", "0");
  EXPECT_FALSE(cgroups.IsSupported(CgroupFile::kCpuIdle, CgroupDir::At("kubepods")));
}

TEST(Cgroups, CpuUsageInNanoseconds) {
  EXPECT_EQ(ParseCpuUsage("123456789\n", CgroupVersion::kV1).value(), 123456789);
  EXPECT_EQ(ParseCpuUsage("usage_usec 42\nuser_usec 40\n", CgroupVersion::kV2).value(), 42000);
  EXPECT_FALSE(ParseCpuUsage("", CgroupVersion::kV1).ok());
  EXPECT_FALSE(ParseCpuUsage("-1", CgroupVersion::kV1).ok());
  EXPECT_FALSE(ParseCpuUsage("99999999999999999999", CgroupVersion::kV1).ok());
  EXPECT_FALSE(ParseCpuUsage("user_usec 40\n", CgroupVersion::kV2).ok());
  EXPECT_FALSE(ParseCpuUsage("usage_usec 9223372036854775807\n", CgroupVersion::kV2).ok());
}

TEST(Cgroups, ThrottlingNeedsBothCounts) {
  const CpuStat stat =
      ParseCpuStat("usage_usec 1\nnr_periods 10\nnr_throttled 3\nthrottled_usec 9\n").value();
  EXPECT_EQ(stat.periods, 10);
  EXPECT_EQ(stat.throttled, 3);
  EXPECT_FALSE(ParseCpuStat("nr_periods 10\n").ok());
  EXPECT_FALSE(ParseCpuStat("nr_periods x\nnr_throttled 3\n").ok());
}

TEST(Cgroups, MemoryStatNeedsEveryField) {
  for (const auto& [text, version] : {std::pair(kMemoryStatV1, CgroupVersion::kV1),
                                      std::pair(kMemoryStatV2, CgroupVersion::kV2)}) {
    const MemoryStat stat = ParseMemoryStat(text, version).value();
    EXPECT_EQ(stat.cache, 10);
    EXPECT_EQ(stat.rss, 11);
    EXPECT_EQ(stat.inactive_anon, 12);
    EXPECT_EQ(stat.active_anon, 13);
    EXPECT_EQ(stat.inactive_file, 14);
    EXPECT_EQ(stat.active_file, 15);
    EXPECT_EQ(stat.unevictable, 16);
    std::string without(text);
    without.erase(without.find("unevictable"));
    EXPECT_THAT(std::string(Message(ParseMemoryStat(without, version).status())),
                HasSubstr("unevictable"));
  }
}

TEST(Cgroups, FieldsMayComeInAnyOrder) {
  for (const auto& [text, version] : {std::pair(kMemoryStatV1, CgroupVersion::kV1),
                                      std::pair(kMemoryStatV2, CgroupVersion::kV2)}) {
    std::string backwards;
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = rest.find('\n') + 1;
      backwards.insert(0, rest.substr(0, end));
      rest.remove_prefix(end);
    }
    const MemoryStat stat = ParseMemoryStat(backwards, version).value();
    EXPECT_EQ(stat.cache, 10);
    EXPECT_EQ(stat.inactive_anon, 12);
    EXPECT_EQ(stat.unevictable, 16);
  }
  EXPECT_EQ(ParseCpuStat("nr_throttled 3\nnr_periods 10\n").value().periods, 10);
  EXPECT_FALSE(ParseCpuStat("nr_throttled 3\nnr_periods -1\n").ok());
  EXPECT_FALSE(ParseCpuStat("nr_throttled 3\nnr_periods\n").ok());
}

TEST(Cgroups, LinesMayMoveBetweenTwoReads) {
  MemoryStatPlaces places{};
  const auto read = [&](std::string_view text) {
    return ParseMemoryStat(text, CgroupVersion::kV1, places);
  };
  ASSERT_EQ(read(kMemoryStatV1)->unevictable, 16);
  EXPECT_EQ(read(kMemoryStatV1)->unevictable, 16);
  std::string longer(kMemoryStatV1);
  longer.replace(longer.find("total_rss 11"), 12, "total_rss 1100");
  EXPECT_EQ(read(longer)->rss, 1100);
  EXPECT_EQ(read(longer)->inactive_anon, 12);
  EXPECT_EQ(read(kMemoryStatV1)->inactive_anon, 12);
  // At its place there is the end of another one's name.
  std::string other(kMemoryStatV1);
  other.insert(other.find("total_rss 11"), "x");
  EXPECT_THAT(std::string(Message(read(other).status())), HasSubstr("total_rss"));
  EXPECT_FALSE(read("").ok());
  EXPECT_FALSE(read(kMemoryStatV1.substr(0, 100)).ok());
  EXPECT_EQ(read(kMemoryStatV1)->cache, 10);
}

TEST(Cgroups, NumaStatInPages) {
  EXPECT_THAT(
      ParseNumaStat("total=30 N0=10 N1=20\nfile=1 N0=1 N1=0\n", CgroupVersion::kV1)->by_node,
      ElementsAre(10, 20));
  EXPECT_THAT(ParseNumaStat("total=0 N0=0 N1=0\nfile=0 N0=0 N1=0\n"
                            "hierarchical_total=30 N0=10 N1=20\nhierarchical_file=1 N0=1 N1=0\n",
                            CgroupVersion::kV1)
                  ->by_node,
              ElementsAre(10, 20));
  EXPECT_FALSE(ParseNumaStat("total=0 N0=0\nhierarchical_total=1\n", CgroupVersion::kV1).ok());
  EXPECT_THAT(ParseNumaStat("anon N0=8192 N1=0\nfile N0=4096 N1=12288\nslab N0=1 N1=1\n",
                            CgroupVersion::kV2)
                  ->by_node,
              ElementsAre(3, 3));
  EXPECT_THAT(ParseNumaStat("anon N0=2048\nfile N0=2048\n", CgroupVersion::kV2)->by_node,
              ElementsAre(1));
  EXPECT_FALSE(ParseNumaStat("file=1 N0=1\n", CgroupVersion::kV1).ok());
  EXPECT_FALSE(ParseNumaStat("total=30\n", CgroupVersion::kV1).ok());
  EXPECT_FALSE(ParseNumaStat("total=30 N0=1 N99999999=2\n", CgroupVersion::kV1).ok());
  EXPECT_FALSE(ParseNumaStat("total=30 N0=1 N0=2\n", CgroupVersion::kV1).ok());
  EXPECT_FALSE(ParseNumaStat("anon N0=1 N1=1\nfile N0=1\n", CgroupVersion::kV2).ok());
  EXPECT_FALSE(ParseNumaStat("anon N0=1\n", CgroupVersion::kV2).ok());
}

TEST(Cgroups, NumaStatHasTheListsOfMemoryStat) {
  constexpr std::string_view kOwn = "total=9 N0=9\nfile=1 N0=1\nanon=2 N0=2\nunevictable=6 N0=6\n";
  constexpr std::string_view kBelow =
      "hierarchical_total=60 N0=60\nhierarchical_file=10 N0=10\n"
      "hierarchical_anon=20 N0=20\nhierarchical_unevictable=30 N0=30\n";
  const auto lists = ParseNumaStat(fmt::format("{}{}", kOwn, kBelow), CgroupVersion::kV1)->lists;
  ASSERT_TRUE(lists.has_value());
  EXPECT_EQ(lists->anon, 20);
  EXPECT_EQ(lists->file, 10);
  EXPECT_EQ(lists->unevictable, 30);
  EXPECT_FALSE(ParseNumaStat(kOwn, CgroupVersion::kV1)->lists) << "its own processes alone";
  EXPECT_FALSE(
      ParseNumaStat(fmt::format("{}hierarchical_anon=x N0=1\n", kOwn), CgroupVersion::kV1).ok());
}

TEST(Cgroups, PressureWithAndWithoutFull) {
  const Pressure both = ParsePressure(
                            "some avg10=1.50 avg60=2.00 avg300=3.25 total=100\n"
                            "full avg10=0.50 avg60=0.00 avg300=0.10 total=50\n")
                            .value();
  EXPECT_EQ(both.some.avg10, 1.5);
  EXPECT_EQ(both.some.avg60, 2);
  EXPECT_EQ(both.some.avg300, 3.25);
  ASSERT_TRUE(both.full.has_value());
  EXPECT_EQ(both.full->avg10, 0.5);
  EXPECT_FALSE(
      ParsePressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n").value().full.has_value());
  EXPECT_FALSE(ParsePressure("").ok());
  EXPECT_FALSE(ParsePressure("some avg10=nan avg60=0.00 avg300=0.00 total=0\n").ok());
  EXPECT_FALSE(ParsePressure("some avg10=1.0\n").ok());
}

TEST(Cgroups, ReadsLimitsOfVersion1) {
  MemoryTree tree;
  const Cgroups cgroups(tree, kV1);
  tree.Set("cpu/p/cpu.cfs_quota_us", "-1\n");
  tree.Set("cpu/p/cpu.cfs_period_us", "100000\n");
  tree.Set("cpu/p/cpu.shares", "1024\n");
  tree.Set("memory/p/memory.limit_in_bytes", "9223372036854771712\n");
  tree.Set("memory/p/memory.usage_in_bytes", "4096\n");
  tree.Set("cpuset/p/cpuset.cpus", "0-2,5\n");
  EXPECT_TRUE(cgroups.ReadCpuQuota(CgroupDir::At("p")).value().unlimited());
  EXPECT_EQ(cgroups.ReadCpuPeriod(CgroupDir::At("p")).value(), 100000);
  EXPECT_EQ(cgroups.ReadCpuShares(CgroupDir::At("p")).value(), 1024);
  EXPECT_TRUE(cgroups.ReadMemoryLimit(CgroupDir::At("p")).value().unlimited());
  EXPECT_EQ(cgroups.ReadMemoryUsage(CgroupDir::At("p")).value(), 4096);
  EXPECT_THAT(cgroups.ReadCpuset(CgroupDir::At("p")).value(), ElementsAre(0, 1, 2, 5));
  tree.Set("cpu/p/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(cgroups.ReadCpuQuota(CgroupDir::At("p")).value(), Limit::Of(50000));
}

TEST(Cgroups, ReadsLimitsOfVersion2) {
  MemoryTree tree;
  const Cgroups cgroups(tree, kV2);
  tree.Set("p/cpu.max", "max 100000\n");
  tree.Set("p/cpu.weight", "100\n");
  tree.Set("p/memory.max", "max\n");
  tree.Set("p/memory.current", "4096\n");
  tree.Set("p/cpuset.cpus", "\n");
  tree.Set("p/cpuset.cpus.effective", "0-3\n");
  EXPECT_TRUE(cgroups.ReadCpuQuota(CgroupDir::At("p")).value().unlimited());
  EXPECT_EQ(cgroups.ReadCpuPeriod(CgroupDir::At("p")).value(), 100000);
  EXPECT_EQ(cgroups.ReadCpuShares(CgroupDir::At("p")).value(), 2597);
  EXPECT_TRUE(cgroups.ReadMemoryLimit(CgroupDir::At("p")).value().unlimited());
  EXPECT_THAT(cgroups.ReadCpuset(CgroupDir::At("p")).value(), ElementsAre(0, 1, 2, 3));
  tree.Set("p/cpu.max", "50000 200000\n");
  EXPECT_EQ(cgroups.ReadCpuQuota(CgroupDir::At("p")).value(), Limit::Of(50000));
  EXPECT_EQ(cgroups.ReadCpuPeriod(CgroupDir::At("p")).value(), 200000);
}

TEST(Cgroups, GarbageIsAnErrorThatNamesTheFile) {
  MemoryTree tree;
  const Cgroups cgroups(tree, kV2);
  tree.Set("p/cpu.max", "lots of it\n");
  tree.Set("p/memory.max", "\xff\xfe");
  tree.Set("p/memory.current", "-1\n");
  tree.Set("p/cgroup.procs", "12\nx\n");
  EXPECT_THAT(std::string(Message(cgroups.ReadCpuQuota(CgroupDir::At("p")).status())),
              HasSubstr("p/cpu.max"));
  EXPECT_EQ(cgroups.ReadMemoryLimit(CgroupDir::At("p")).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(cgroups.ReadMemoryUsage(CgroupDir::At("p")).ok());
  EXPECT_FALSE(cgroups.ReadProcesses(CgroupDir::At("p")).ok());
  EXPECT_EQ(cgroups.ReadCpuUsage(CgroupDir::At("gone")).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(Cgroups, SandboxIsTheDirectoryOfNoContainer) {
  MemoryTree tree;
  const Cgroups cgroups(tree, kV1);
  for (const char* name : {"c1", "c2", "pause"}) {
    tree.AddDirectory(fmt::format("cpuset/p/{}", name));
  }
  const std::vector<CgroupDir> both = {CgroupDir::At("p/c1"), CgroupDir::At("p/c2")};
  const CgroupDir pod = CgroupDir::At("p");
  EXPECT_EQ(cgroups.FindSandboxDir(pod, both).value(), pod.Below("pause"));
  EXPECT_EQ(cgroups.FindSandboxDir(pod, {}).value(), std::nullopt);
  EXPECT_THAT(std::string(Message(cgroups.FindSandboxDir(pod, std::span(both).first(1)).status())),
              HasSubstr("candidates of sandbox id is 2"));
}

TEST(Cgroups, SandboxOfCrioIsNoScope) {
  MemoryTree tree;
  const Cgroups cgroups(tree, kV2);
  for (const char* name : {"crio-c1.scope", "crio-unknown.scope", "crio-pause"}) {
    tree.AddDirectory(fmt::format("p/{}", name));
  }
  const std::vector<CgroupDir> known = {CgroupDir::At("p/crio-c1.scope")};
  EXPECT_EQ(cgroups.FindSandboxDir(CgroupDir::At("p"), known).value(),
            CgroupDir::At("p/crio-pause"));
}

TEST(Cgroups, Vector13Units) {
  EXPECT_EQ(SharesOf(MilliCpu(500)), 512);
  EXPECT_EQ(QuotaOf(MilliCpu(500)), Limit::Of(50000));
  EXPECT_EQ(QuotaOf(MilliCpu(5)), Limit::Of(1000));
  EXPECT_EQ(WeightOfShares(1024), 39);
  EXPECT_EQ(SharesOfWeight(100), 2597);
}

TEST(Cgroups, UnitsAtTheirBounds) {
  EXPECT_EQ(SharesOf(MilliCpu(0)), 2);
  EXPECT_EQ(SharesOf(MilliCpu(-5)), 2);
  EXPECT_EQ(SharesOf(MilliCpu(1)), 2);
  EXPECT_EQ(SharesOf(MilliCpu(INT64_MAX)), 262144);
  EXPECT_TRUE(QuotaOf(MilliCpu(0)).unlimited());
  EXPECT_TRUE(QuotaOf(MilliCpu(-1)).unlimited());
  EXPECT_EQ(QuotaOf(MilliCpu(1)), Limit::Of(1000));
  EXPECT_GT(QuotaOf(MilliCpu(INT64_MAX)).value(), 0);
  EXPECT_EQ(WeightOfShares(2), 1);
  EXPECT_EQ(WeightOfShares(262144), 10000);
  EXPECT_EQ(WeightOfShares(INT64_MIN), 1);
  EXPECT_EQ(SharesOfWeight(1), 2);
  EXPECT_EQ(SharesOfWeight(10000), 262144);
}

}  // namespace
}  // namespace koord::koordlet::cgroups_test
