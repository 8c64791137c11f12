#include "koordlet/host/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "koordlet/testing/test_host.h"

namespace koord::koordlet::features_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string_view> Available(TestHost& machine) {
  std::vector<std::string_view> names;
  for (const Feature& feature : DetectFeatures(machine.host())) {
    if (feature.available) names.push_back(feature.name);
    EXPECT_EQ(feature.available, feature.why_not.empty()) << feature.name;
    EXPECT_FALSE(feature.without.empty()) << feature.name;
  }
  return names;
}

void AddPerf(TestHost& machine) {
  machine.kernel().cpi[machine.host().cgroups().layout().QosDir(kube::PodQos::kGuaranteed)] = {};
}

TEST(Features, OfAMainlineKernelWithVersion1) {
  TestHost machine({.version = CgroupVersion::kV1});
  machine.kernel().has_core_scheduling = false;
  EXPECT_THAT(Available(machine),
              ElementsAre("cpu-suppress", "cpu-burst", "cpu-idle", "block-throttle", "net-class"));
}

TEST(Features, OfAMainlineKernelWithVersion2) {
  TestHost machine({.version = CgroupVersion::kV2, .resctrl = ResctrlFlavour::kAmd});
  AddPerf(machine);
  EXPECT_THAT(Available(machine),
              ElementsAre("cpu-suppress", "cpu-burst", "cpu-idle", "core-scheduling",
                          "memory-protection", "pressure", "cpi", "resctrl"));
}

TEST(Features, OfAnolis) {
  TestHost machine(
      {.version = CgroupVersion::kV1, .resctrl = ResctrlFlavour::kIntel, .anolis = true});
  AddPerf(machine);
  machine.sys().Set("kernel/mm/kidled/scan_period_in_seconds", "0\n");
  machine.sys().Set("kernel/mm/kidled/use_hierarchy", "0\n");
  machine.sys().Set("kernel/mm/memcg_reaper/reap_background", "0\n");
  machine.sys().AddDirectory("class/infiniband/mlx5_0");
  machine.var_run().Set("nri/nri.sock", "");
  machine.proc().Set("driver/nvidia/version", "");
  std::vector<std::string_view> missing;
  for (const Feature& feature : DetectFeatures(machine.host())) {
    if (!feature.available) missing.push_back(feature.name);
  }
  EXPECT_THAT(missing, ElementsAre("page-cache-limit"));
}

TEST(Features, SayWhyNot) {
  TestHost machine({.version = CgroupVersion::kV1, .driver = CgroupDriver::kCgroupfs});
  machine.kernel().has_perf = false;
  machine.cgroup().Remove("cpu/kubepods/cpu.cfs_burst_us");
  const std::string table = PrintFeatures(DetectFeatures(machine.host()));
  EXPECT_THAT(table, HasSubstr("cpu/kubepods/cpu.cfs_burst_us is missing"));
  EXPECT_THAT(table, HasSubstr("(only quotas are scaled)"));
  EXPECT_THAT(table, HasSubstr("no: no performance counters"));
  EXPECT_THAT(table, HasSubstr("the CPU has no cat_l3"));
}

TEST(Features, OfAMachineWithoutAnything) {
  TestHost machine({.version = CgroupVersion::kV2});
  machine.kernel().has_core_scheduling = false;
  machine.cgroup().Remove("kubepods.slice");
  machine.sys().Remove("devices");
  EXPECT_THAT(Available(machine), IsEmpty());
}

}  // namespace
}  // namespace koord::koordlet::features_test
