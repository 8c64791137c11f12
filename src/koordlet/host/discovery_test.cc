#include "koordlet/host/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "koordlet/host/directory_tree.h"
#include "koordlet/host/real_kernel.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

namespace koord::koordlet::discovery_test {
namespace {

using Code = absl::StatusCode;

class DiscoveryTest : public ::testing::Test {
 protected:
  void Put(const std::string& path, std::string_view text) {
    const std::filesystem::path full = root.File(path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << text;
  }
  void AddKubelet(std::string_view command_line, std::string_view cgroup = "0::/system.slice\n") {
    std::string zeros(command_line);
    std::ranges::replace(zeros, ' ', '\0');
    Put("proc/77/cmdline", zeros);
    Put("proc/77/cgroup", cgroup);
  }
  std::optional<CgroupDriver> Driver() {
    std::filesystem::create_directories(root.File("sys/fs/cgroup"));
    const DirectoryTree tree(root.File("sys/fs/cgroup"), {});
    return FindCgroupDriver(tree, CgroupVersion::kV2, root.File("proc"));
  }

  TempDir root;
};

TEST_F(DiscoveryTest, FindsAMachineOfEveryLayout) {
  const auto pod = TestPod("metadata: {name: web}\nspec: {containers: [{name: main}]}");
  for (const CgroupVersion version : {CgroupVersion::kV1, CgroupVersion::kV2}) {
    for (const CgroupDriver driver : {CgroupDriver::kSystemd, CgroupDriver::kCgroupfs}) {
      const TempDir dir;
      TestHost machine({.version = version,
                        .driver = driver,
                        .shape = {.sockets = 2, .nodes = 4, .cores = 8},
                        .resctrl = ResctrlFlavour::kAmd,
                        .anolis = true});
      machine.AddPod(*pod);
      machine.UseCpu(machine.ContainerDir(*pod, "main"), 1s);
      ASSERT_TRUE(machine.WriteTo(dir.path()).ok());

      const auto host = DiscoverHost(HostPaths::Below(dir.path()));
      ASSERT_TRUE(host.ok()) << host.status();
      EXPECT_EQ((*host)->cgroups().layout(), (CgroupLayout{version, driver}));
      EXPECT_EQ((*host)->ReadCpuInfo().value(), machine.host().ReadCpuInfo().value());
      EXPECT_EQ((*host)->ReadCpuInfo()->vendor, "AuthenticAMD");
      EXPECT_EQ((*host)->ReadNumaNodes()->size(), 4u);
      EXPECT_TRUE((*host)->is_anolis());
      EXPECT_TRUE((*host)->resctrl().Exists("schemata"));
      EXPECT_EQ((*host)->cgroups().ReadCpuUsage(machine.ContainerDir(*pod, "main")).value(),
                1'000'000'000);
    }
  }
}

TEST_F(DiscoveryTest, WithoutAKubeletNobodyKnowsTheDriver) {
  Put("sys/fs/cgroup/cgroup.controllers", "cpu\n");
  const HostPaths paths = HostPaths::Below(root.path());
  EXPECT_EQ(DiscoverHost(paths).status().code(), Code::kUnavailable);
  const auto host = DiscoverHost(paths, CgroupDriver::kSystemd);
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_EQ((*host)->cgroups().layout(),
            (CgroupLayout{CgroupVersion::kV2, CgroupDriver::kSystemd}));
  EXPECT_EQ(DiscoverHost(HostPaths::Below(root.File("nowhere"))).status().code(), Code::kNotFound);
}

TEST_F(DiscoveryTest, DriverByTheKubeletsFlag) {
  EXPECT_EQ(Driver(), std::nullopt);
  AddKubelet("/usr/bin/kubelet --v=2 --cgroup-driver=systemd");
  EXPECT_EQ(Driver(), CgroupDriver::kSystemd);
  AddKubelet("kubelet -cgroup-driver cgroupfs");
  EXPECT_EQ(Driver(), CgroupDriver::kCgroupfs);
  AddKubelet("kubelet");
  EXPECT_EQ(Driver(), CgroupDriver::kCgroupfs) << "its default";
}

TEST_F(DiscoveryTest, DriverByTheKubeletsConfiguration) {
  AddKubelet("kubelet --config /var/lib/kubelet/config.yaml");
  Put("proc/77/root/var/lib/kubelet/config.yaml",
      "kind: KubeletConfiguration\ncgroupDriver: systemd\n");
  EXPECT_EQ(Driver(), CgroupDriver::kSystemd);
  Put("proc/77/root/var/lib/kubelet/config.yaml", "]: broken {{");
  EXPECT_EQ(Driver(), CgroupDriver::kCgroupfs);
}

TEST_F(DiscoveryTest, APodIsNoKubelet) {
  AddKubelet("kubelet --cgroup-driver=systemd", "0::/kubepods/besteffort/pod1/c\n");
  EXPECT_EQ(Driver(), std::nullopt);
  AddKubelet("/bin/kubelet-exporter --cgroup-driver=systemd");
  EXPECT_EQ(Driver(), std::nullopt);
}

TEST_F(DiscoveryTest, TheDirectoryCountsMoreThanWhatTheKubeletWasTold) {
  AddKubelet("kubelet --cgroup-driver=cgroupfs");
  Put("sys/fs/cgroup/kubepods.slice/cpu.max", "");
  EXPECT_EQ(Driver(), CgroupDriver::kSystemd);
}

TEST_F(DiscoveryTest, WhereNobodyTellsTheDriverItIsTakenForSystemd) {
  Put("sys/fs/cgroup/cgroup.controllers", "cpu");
  const HostPaths paths = HostPaths::Below(root.path());
  EXPECT_EQ(DiscoverHost(paths).status().code(), Code::kUnavailable);
  EXPECT_EQ(DiscoverAnyHost(paths).value()->cgroups().layout().driver, CgroupDriver::kSystemd);
  Put("sys/fs/cgroup/kubepods/cpu.max", "");
  EXPECT_EQ(DiscoverAnyHost(paths).value()->cgroups().layout().driver, CgroupDriver::kCgroupfs);
  EXPECT_EQ(DiscoverAnyHost(HostPaths::Below(root.File("none"))).status().code(), Code::kNotFound);
}

TEST(RealKernelTest, KnowsItsUnits) {
  const DirectoryTree cgroups("/sys/fs/cgroup", {});
  RealKernel kernel(cgroups, CgroupVersion::kV1, "");
  EXPECT_EQ(kernel.page_size(), sysconf(_SC_PAGESIZE));
  EXPECT_EQ(kernel.jiffy() * sysconf(_SC_CLK_TCK), 1s);
  EXPECT_FALSE(kernel.CoreCookie(999999999).ok());
  EXPECT_FALSE(kernel.ShareCoreCookie(999999999, 999999999).ok());
  EXPECT_FALSE(kernel.ClearCoreCookie(999999999).ok());
  EXPECT_EQ(kernel.CountCpi(CgroupDir::At("no-such-cgroup"), {0}).status().code(), Code::kNotFound);
  EXPECT_EQ(kernel.MountResctrl().code(), Code::kUnimplemented);
}

// The machine that the tests run on, where it allows that.
TEST(OnRealCgroups, AnOpenFileOfARemovedCgroupIsNotFound) {
  const CgroupVersion version = FindCgroupVersion("/sys/fs/cgroup");
  DirectoryTree tree("/sys/fs/cgroup", {.links = DirectoryTree::Links::kFirst});
  const Cgroups cgroups(tree, {version, CgroupDriver::kCgroupfs});
  const std::string name = fmt::format("koord-test-{}", getpid());
  const std::string dir = version == CgroupVersion::kV1 ? "cpu/" + name : name;
  if (!tree.MakeDirectory(dir).ok()) GTEST_SKIP() << "cgroups cannot be made here";
  const auto file = cgroups.Open(CgroupFile::kProcesses, CgroupDir::At(name));
  std::string buffer;
  const auto before = file.ok() ? (*file)->Read(buffer).status() : file.status();
  EXPECT_TRUE(tree.RemoveDirectory(dir).ok());
  ASSERT_TRUE(before.ok()) << before;
  EXPECT_EQ((*file)->Read(buffer).status().code(), Code::kNotFound);
  EXPECT_EQ(cgroups.Read(CgroupFile::kProcesses, CgroupDir::At(name)).status().code(),
            Code::kNotFound);
}

}  // namespace
}  // namespace koord::koordlet::discovery_test
