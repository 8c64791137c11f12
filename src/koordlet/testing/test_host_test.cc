#include "koordlet/testing/test_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "koordlet/testing/test_pod.h"

namespace koord::koordlet::test_host_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kWeb = R"(
metadata: {name: web, uid: 12-ab}
spec:
  containers:
  - name: main
    resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: "1", memory: 2Gi}}
  - name: side
    resources: {requests: {cpu: 100m}, limits: {cpu: 200m, memory: 128Mi}}
)";
constexpr std::string_view kBatch = R"(
metadata: {name: batch, labels: {koordinator.sh/qosClass: BE}}
spec:
  containers:
  - name: main
    resources: {limits: {kubernetes.io/batch-cpu: "1000"}}
)";

struct Layout {
  CgroupVersion version;
  CgroupDriver driver;
};
class OnEveryLayout : public ::testing::TestWithParam<Layout> {
 protected:
  bool v1() const { return GetParam().version == CgroupVersion::kV1; }
};
INSTANTIATE_TEST_SUITE_P(TestHost, OnEveryLayout,
                         ::testing::Values(Layout{CgroupVersion::kV1, CgroupDriver::kSystemd},
                                           Layout{CgroupVersion::kV1, CgroupDriver::kCgroupfs},
                                           Layout{CgroupVersion::kV2, CgroupDriver::kSystemd},
                                           Layout{CgroupVersion::kV2, CgroupDriver::kCgroupfs}));

TEST_P(OnEveryLayout, PodsHaveWhatTheKubeletGivesThem) {
  TestHost machine({.version = GetParam().version, .driver = GetParam().driver});
  const auto web = TestPod(kWeb);
  const auto batch = TestPod(kBatch);
  machine.AddPod(*web);
  machine.AddPod(*batch);
  const Cgroups& cgroups = machine.host().cgroups();

  EXPECT_EQ(cgroups.ReadCpuQuota(machine.PodDir(*web)).value(), Limit::Of(120000));
  EXPECT_EQ(cgroups.ReadMemoryLimit(machine.PodDir(*web)).value(),
            Limit::Of((int64_t{2} << 30) + (128 << 20)));
  const CgroupDir main = machine.ContainerDir(*web, "main");
  EXPECT_EQ(cgroups.ReadCpuQuota(main).value(), Limit::Of(100000));
  EXPECT_EQ(cgroups.ReadMemoryLimit(main).value(), Limit::Of(int64_t{2} << 30));
  EXPECT_EQ(machine.Get(CgroupFile::kCpuShares, main), v1() ? "512" : "20");
  EXPECT_THAT(cgroups.ReadCpuset(main).value(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(machine.Get(CgroupFile::kCpuset, main), v1() ? "0-7" : "");

  EXPECT_TRUE(cgroups.ReadCpuQuota(machine.PodDir(*batch)).value().unlimited());
  EXPECT_TRUE(cgroups.ReadMemoryLimit(machine.PodDir(*batch)).value().unlimited());
  EXPECT_EQ(cgroups.ReadCpuShares(machine.PodDir(*batch)).value(), 2);

  const std::vector<CgroupDir> containers = {main, machine.ContainerDir(*web, "side")};
  EXPECT_EQ(cgroups.FindSandboxDir(machine.PodDir(*web), containers).value(),
            machine.SandboxDir(*web));

  machine.RemovePod(*web);
  EXPECT_FALSE(cgroups.HasDir(main));
  EXPECT_TRUE(cgroups.HasDir(machine.PodDir(*batch)));
}

TEST_P(OnEveryLayout, UsageCountsForAllAbove) {
  TestHost machine({.version = GetParam().version, .driver = GetParam().driver});
  const auto web = TestPod(kWeb);
  machine.AddPod(*web);
  const Cgroups& cgroups = machine.host().cgroups();
  machine.UseCpu(machine.ContainerDir(*web, "main"), 80ms);
  machine.UseCpu("system.slice", 160ms);
  machine.SetMemory(machine.ContainerDir(*web, "main"),
                    {.cache = 100 << 20, .active_file = 100 << 20, .active_anon = 300 << 20});
  machine.Throttle(machine.ContainerDir(*web, "main"), 10, 4);

  EXPECT_EQ(cgroups.ReadCpuUsage(machine.ContainerDir(*web, "main")).value(), 80'000'000);
  EXPECT_EQ(cgroups.ReadCpuUsage(machine.PodDir(*web)).value(), 80'000'000);
  EXPECT_EQ(cgroups.ReadCpuStat(machine.ContainerDir(*web, "main"))->throttled, 4);
  EXPECT_EQ(cgroups.ReadMemoryStat(machine.PodDir(*web))->active_anon, 300 << 20);
  EXPECT_EQ(cgroups.ReadMemoryUsage(machine.PodDir(*web)).value(), 400 << 20);
  EXPECT_THAT(machine.host().proc().Read("stat").value(), HasSubstr("cpu  24 0"));
  EXPECT_THAT(machine.host().proc().Read("stat").value(), HasSubstr("cpu7 3 0"));
  EXPECT_EQ(machine.host().ReadNumaNodes()->front().memory_used, 300 << 20);
}

TEST(TestHost, TopologyIsFoundAgain) {
  for (const int sockets : {1, 2}) {
    for (const int nodes : {1, 2, 4}) {
      for (const int threads : {1, 2}) {
        for (const bool adjacent : {true, false}) {
          if (nodes < sockets) continue;
          TestHost machine(
              {.shape = {sockets, nodes, 8, threads, adjacent}, .resctrl = ResctrlFlavour::kIntel});
          const CpuInfo info = machine.host().ReadCpuInfo().value();
          EXPECT_EQ(info.topology.processors(), machine.processors());
          EXPECT_EQ(info.topology.socket_count(), sockets);
          EXPECT_EQ(info.topology.node_count(), nodes);
          EXPECT_EQ(info.topology.core_count(), 8);
          EXPECT_EQ(info.hyper_threading, threads == 2);
          EXPECT_EQ(info.cat_l3_mask, "fffff");
          EXPECT_EQ(machine.host().ReadNumaNodes()->size(), static_cast<size_t>(nodes));
        }
      }
    }
  }
}

TEST(TestHost, KernelRefusesWhatTheRealOneRefuses) {
  TestHost machine({.version = CgroupVersion::kV1, .driver = CgroupDriver::kCgroupfs});
  const auto batch = TestPod(kBatch);
  machine.AddPod(*batch);
  const CgroupDir pod = machine.PodDir(*batch);
  const CgroupDir container = machine.ContainerDir(*batch, "main");
  const auto write = [&](std::string_view subsystem, std::string_view dir, std::string_view name,
                         std::string_view text) {
    return machine.cgroup().Write(fmt::format("{}/{}/{}", subsystem, dir, name), text).code();
  };
  using Code = absl::StatusCode;
  EXPECT_EQ(write("cpu", pod, "cpu.cfs_quota_us", "999"), Code::kInvalidArgument);
  EXPECT_EQ(write("cpu", pod, "cpu.cfs_quota_us", "max"), Code::kInvalidArgument);
  EXPECT_EQ(write("cpu", pod, "cpu.cfs_quota_us", "20000"), Code::kOk);
  EXPECT_EQ(write("cpu", container, "cpu.cfs_quota_us", "20001"), Code::kInvalidArgument);
  EXPECT_EQ(write("cpu", container, "cpu.cfs_quota_us", "20000"), Code::kOk);
  EXPECT_EQ(write("cpu", pod, "cpu.cfs_quota_us", "19999"), Code::kInvalidArgument);
  EXPECT_EQ(write("cpu", "kubepods/besteffort", "cpu.cfs_quota_us", "19999"),
            Code::kInvalidArgument);
  EXPECT_EQ(write("cpu", container, "cpu.cfs_burst_us", "20001"), Code::kInvalidArgument);
  EXPECT_EQ(write("cpu", container, "cpu.cfs_burst_us", "20000"), Code::kOk);
  EXPECT_EQ(write("cpuset", container, "cpuset.cpus", ""), Code::kFailedPrecondition);
  EXPECT_EQ(write("cpuset", pod, "cpuset.cpus", "0-3"), Code::kFailedPrecondition);
  EXPECT_EQ(write("cpuset", machine.SandboxDir(*batch), "cpuset.cpus", "0-3"), Code::kOk);
  EXPECT_EQ(write("cpuset", container, "cpuset.cpus", "0-3"), Code::kOk);
  EXPECT_EQ(write("cpuset", pod, "cpuset.cpus", "0-3"), Code::kOk);
  EXPECT_EQ(write("cpuset", container, "cpuset.cpus", "4"), Code::kPermissionDenied);
  EXPECT_EQ(write("cpuset", container, "cpuset.cpus", "99"), Code::kInvalidArgument);
  EXPECT_EQ(write("cpu", container, "cpu.shares", "1"), Code::kInvalidArgument);
  EXPECT_EQ(write("memory", container, "memory.limit_in_bytes", "5000"), Code::kOk);
  EXPECT_EQ(machine.Get(CgroupFile::kMemoryLimit, container), "4096");
  EXPECT_EQ(write("memory", container, "memory.limit_in_bytes", "-1"), Code::kOk);
  EXPECT_TRUE(machine.host().cgroups().ReadMemoryLimit(container)->unlimited());
  EXPECT_EQ(write("memory", container, "memory.min", "0"), Code::kNotFound) << "Anolis only";
}

TEST(TestHost, EffectiveCpusFollowInVersion2) {
  TestHost machine({.version = CgroupVersion::kV2, .driver = CgroupDriver::kCgroupfs});
  const auto batch = TestPod(kBatch);
  machine.AddPod(*batch);
  const Cgroups& cgroups = machine.host().cgroups();
  ASSERT_TRUE(machine.cgroup().Write("kubepods/besteffort/cpuset.cpus", "1-2").ok());
  EXPECT_THAT(cgroups.ReadCpuset(machine.ContainerDir(*batch, "main")).value(), ElementsAre(1, 2));
  ASSERT_TRUE(machine.cgroup().Write("kubepods/besteffort/cpu.max", "20000").ok());
  EXPECT_EQ(machine.Get(CgroupFile::kCpuQuota, "kubepods/besteffort"), "20000 100000");
  EXPECT_FALSE(machine.cgroup().Write("kubepods/besteffort/cpu.max", "-1").ok());
}

TEST(TestHost, ResctrlGroups) {
  TestHost machine({.shape = {.sockets = 2, .nodes = 2}, .resctrl = ResctrlFlavour::kIntel});
  FileTree& resctrl = machine.host().resctrl();
  ASSERT_TRUE(resctrl.MakeDirectory("BE").ok());
  EXPECT_TRUE(resctrl.Write("BE/schemata", "L3:0=3;1=f;\n").ok());
  EXPECT_TRUE(resctrl.Write("BE/schemata", "MB:0=85;1=100;\n").ok());
  EXPECT_EQ(resctrl.Read("BE/schemata").value(), "    L3:0=3;1=f\n    MB:0=90;1=100\n");
  EXPECT_FALSE(resctrl.Write("BE/schemata", "L3:0=0\n").ok());
  EXPECT_FALSE(resctrl.Write("BE/schemata", "L3:0=5\n").ok()) << "holes";
  EXPECT_FALSE(resctrl.Write("BE/schemata", "L3:7=1\n").ok()) << "no such cache";
  EXPECT_FALSE(resctrl.Write("BE/schemata", "MB:0=101\n").ok());
  ASSERT_TRUE(resctrl.Append("tasks", "7").ok());
  ASSERT_TRUE(resctrl.Append("BE/tasks", "7").ok());
  ASSERT_TRUE(resctrl.Append("BE/tasks", "5").ok());
  EXPECT_THAT(machine.resctrl_kernel().Tasks("BE"), ElementsAre(5, 7));
  EXPECT_THAT(machine.resctrl_kernel().Tasks(""), ElementsAre());
}

TEST(TestHost, AnolisHasItsFiles) {
  for (const CgroupVersion version : {CgroupVersion::kV1, CgroupVersion::kV2}) {
    TestHost plain({.version = version});
    TestHost anolis({.version = version, .anolis = true});
    EXPECT_FALSE(plain.host().is_anolis());
    EXPECT_TRUE(anolis.host().is_anolis());
    const CgroupDir pods = plain.layout().QosDir(kube::PodQos::kGuaranteed);
    EXPECT_FALSE(plain.host().cgroups().IsSupported(CgroupFile::kCpuBvt, pods));
    EXPECT_TRUE(anolis.host().cgroups().IsSupported(CgroupFile::kCpuBvt, pods));
  }
}

TEST(TestHost, DumpShowsEveryFile) {
  TestHost machine({.version = CgroupVersion::kV1, .driver = CgroupDriver::kCgroupfs});
  const std::string dump = machine.Dump();
  EXPECT_THAT(dump, HasSubstr("\ncpu/kubepods/besteffort/cpu.shares: 2\n"));
  EXPECT_THAT(dump, HasSubstr("cpu/kubepods/cpu.stat:\n  nr_periods 0\n"));
}

}  // namespace
}  // namespace koord::koordlet::test_host_test
