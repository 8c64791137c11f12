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
  machine.kernel()
      .cpi[machine.host().cgroups().layout().QosDir(kube::PodQos::kGuaranteed).path()] = {};
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

// Instead of pods the machine has a service.
void ReplaceKubepods(TestHost& machine, const std::string& subsystem) {
  const std::string from = subsystem + "kubepods.slice";
  const auto entries = machine.cgroup().List(from);
  if (!entries.ok()) return;
  for (const FileTree::Entry& entry : *entries) {
    if (entry.is_directory) continue;
    const auto text = machine.cgroup().Read(fmt::format("{}/{}", from, entry.name));
    machine.cgroup().Set(fmt::format("{}system.slice/{}", subsystem, entry.name),
                         text.value_or(""));
  }
  machine.cgroup().Remove(from);
}

// People ask what a machine can do before it joins a cluster.
TEST(Features, WithoutAKubeletAreThoseOfTheMachinesServices) {
  for (const bool anolis : {false, true}) {
    TestHost machine({.version = CgroupVersion::kV1, .anolis = anolis});
    const auto before = Available(machine);
    const std::vector<FileTree::Entry> subsystems = *machine.cgroup().List("");
    for (const FileTree::Entry& subsystem : subsystems) {
      ReplaceKubepods(machine, subsystem.name + "/");
    }
    EXPECT_EQ(Available(machine), before);
  }
  TestHost machine({.version = CgroupVersion::kV2});
  AddPerf(machine);
  const auto before = Available(machine);
  ReplaceKubepods(machine, "");
  machine.kernel().cpi["system.slice"] = {};
  EXPECT_EQ(Available(machine), before);
}

TEST(Features, WithoutAnyCgroupSayThatNobodyHasMadeOne) {
  TestHost machine({.version = CgroupVersion::kV2});
  machine.cgroup().Remove("kubepods.slice");
  EXPECT_THAT(PrintFeatures(DetectFeatures(machine.host())),
              HasSubstr("no cgroup has cpu.max.burst, and the kubelet has made none"));
}

}  // namespace
}  // namespace koord::koordlet::features_test
