#include "koordlet/host/cpu_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "koordlet/host/memory_tree.h"

namespace koord::koordlet::cpu_topology_test {
namespace {

using ::testing::ElementsAre;

class CpuTopologyTest : public ::testing::Test {
 protected:
  void AddCpu(int cpu, int core, int package, std::string_view l3 = "") {
    const std::string dir = fmt::format("devices/system/cpu/cpu{}", cpu);
    sys.Set(dir + "/topology/core_id", fmt::format("{}\n", core));
    sys.Set(dir + "/topology/physical_package_id", fmt::format("{}\n", package));
    if (l3.empty()) return;
    sys.Set(dir + "/cache/index0/level", "1\n");
    sys.Set(dir + "/cache/index0/id", "77\n");
    sys.Set(dir + "/cache/index3/level", "3\n");
    sys.Set(dir + "/cache/index3/id", fmt::format("{}\n", l3));
  }
  StatusOr<CpuInfo> Read() { return ReadCpuInfo(sys, proc, resctrl); }

  MemoryTree sys;
  MemoryTree proc;
  MemoryTree resctrl;
};

TEST_F(CpuTopologyTest, CoresAreNumberedAcrossSockets) {
  // Both sockets number their cores from 0, with holes.
  AddCpu(0, 0, 0, "0");
  AddCpu(1, 8, 0, "0");
  AddCpu(2, 0, 3, "4");
  AddCpu(3, 8, 3, "4");
  sys.Set("devices/system/node/node0/cpulist", "0-1\n");
  sys.Set("devices/system/node/node1/cpulist", "2-3\n");
  EXPECT_THAT(Read()->topology.processors(),
              ElementsAre(Processor{0, 0, 0, 0, 0}, Processor{1, 1, 0, 0, 0},
                          Processor{2, 2, 1, 1, 4}, Processor{3, 3, 1, 1, 4}));
}

TEST_F(CpuTopologyTest, DiesOfOneSocketHaveTheirOwnCores) {
  AddCpu(0, 0, 0);
  AddCpu(1, 0, 0);
  sys.Set("devices/system/cpu/cpu0/topology/die_id", "0\n");
  sys.Set("devices/system/cpu/cpu1/topology/die_id", "1\n");
  EXPECT_EQ(Read()->topology.core_count(), 2);
  EXPECT_EQ(Read()->topology.socket_count(), 1);
}

TEST_F(CpuTopologyTest, OfflineCpusAndHolesDoNotCount) {
  AddCpu(0, 0, 0);
  AddCpu(5, 2, 0);
  AddCpu(7, 3, 0);
  sys.AddDirectory("devices/system/cpu/cpu1");  // offline: without topology
  sys.AddDirectory("devices/system/cpu/cpufreq");
  sys.AddDirectory("devices/system/cpu/cpuidle");
  EXPECT_THAT(Read()->topology.cpus(), ElementsAre(0, 5, 7));
  sys.Set("devices/system/cpu/online", "0-1,5\n");
  EXPECT_THAT(Read()->topology.cpus(), ElementsAre(0, 5));
}

TEST_F(CpuTopologyTest, WithoutCachesAndNodesEverythingIsZero) {
  AddCpu(0, 0, -1);  // arm64 without firmware tables
  AddCpu(1, 1, -1);
  EXPECT_THAT(Read()->topology.processors(),
              ElementsAre(Processor{0, 0, 0, 0, 0}, Processor{1, 1, 0, 0, 0}));
}

TEST_F(CpuTopologyTest, CachesWithoutIdsAreToldApartByWhoSharesThem) {
  for (const int cpu : {0, 1, 2}) {
    AddCpu(cpu, cpu, 0);
    const std::string cache = fmt::format("devices/system/cpu/cpu{}/cache/index3", cpu);
    sys.Set(cache + "/level", "3\n");
    sys.Set(cache + "/shared_cpu_list", cpu == 2 ? "2\n" : "0-1\n");
  }
  EXPECT_THAT(
      Read()->topology.processors(),
      ElementsAre(Processor{0, 0, 0, 0, 0}, Processor{1, 1, 0, 0, 0}, Processor{2, 2, 0, 0, 1}));
}

TEST_F(CpuTopologyTest, NoCpuAtAllIsAnError) {
  EXPECT_FALSE(Read().ok());
  sys.Set("devices/system/cpu/online", "0-3\n");
  EXPECT_FALSE(Read().ok());
}

TEST_F(CpuTopologyTest, ModelVendorAndFlags) {
  AddCpu(0, 0, 0);
  AddCpu(1, 0, 0);
  proc.Set("cpuinfo",
           "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon X\n"
           "flags\t\t: fpu cat_l3 mba\n\nprocessor\t: 1\nmodel name\t: other\nflags\t: x\n");
  sys.Set("devices/system/cpu/intel_pstate/no_turbo", "0\n");
  resctrl.Set("info/L3/cbm_mask", "7ff\n");
  const CpuInfo info = Read().value();
  EXPECT_EQ(info.model, "Xeon X");
  EXPECT_EQ(info.vendor, "GenuineIntel");
  EXPECT_THAT(info.flags, ElementsAre("fpu", "cat_l3", "mba"));
  EXPECT_TRUE(info.turbo);
  EXPECT_TRUE(info.hyper_threading) << "two threads on a core";
  EXPECT_EQ(info.cat_l3_mask, "7ff");
  sys.Set("devices/system/cpu/smt/active", "0\n");
  EXPECT_FALSE(Read()->hyper_threading);
}

TEST_F(CpuTopologyTest, NumaMemory) {
  sys.Set("devices/system/node/node0/meminfo",
          "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:         200 kB\n"
          "Node 0 Active(file):    50 kB\nNode 0 Inactive(file):  30 kB\n"
          "Node 0 SReclaimable:    20 kB\n");
  sys.Set("devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "5\n");
  sys.Set("devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages", "2\n");
  sys.Set("devices/system/node/node1/meminfo",
          "Node 1 MemTotal: 10 kB\nNode 1 MemFree: 8 kB\nNode 1 Active(file): 5 kB\n");
  const std::vector<NumaNode> nodes = ReadNumaNodes(sys, proc).value();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].memory_total, 1000 * 1024);
  EXPECT_EQ(nodes[0].memory_used, 700 * 1024);
  EXPECT_EQ(nodes[0].huge_2mi, 5);
  EXPECT_EQ(nodes[0].huge_1gi, 2);
  EXPECT_EQ(nodes[1].memory_used, 0) << "never negative";
}

TEST_F(CpuTopologyTest, NumaNodesOfDevicesAreLeftOut) {
  sys.Set("devices/system/node/node0/meminfo", "Node 0 MemTotal: 10 kB\n");
  sys.AddDirectory("devices/system/node/node1");
  EXPECT_FALSE(ReadNumaNodes(sys, proc).ok());
  sys.Set("devices/system/node/has_generic_initiator", "1\n");
  EXPECT_EQ(ReadNumaNodes(sys, proc)->size(), 1u);
}

TEST_F(CpuTopologyTest, NumaNodesHaveNoGaps) {
  sys.Set("devices/system/node/node0/meminfo", "Node 0 MemTotal: 10 kB\n");
  sys.Set("devices/system/node/node2/meminfo", "Node 2 MemTotal: 10 kB\n");
  EXPECT_EQ(ReadNumaNodes(sys, proc).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CpuTopologyTest, AKernelWithoutNumaIsOneNode) {
  proc.Set("meminfo", "MemTotal: 100 kB\nMemFree: 40 kB\n");
  const std::vector<NumaNode> nodes = ReadNumaNodes(sys, proc).value();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].memory_used, 60 * 1024);
}

TEST_F(CpuTopologyTest, GarbageInMeminfoIsAnError) {
  sys.Set("devices/system/node/node0/meminfo", "Node 0 MemTotal: lots kB\n");
  EXPECT_FALSE(ReadNumaNodes(sys, proc).ok());
  sys.Set("devices/system/node/node0/meminfo", "\xff\xff");
  EXPECT_FALSE(ReadNumaNodes(sys, proc).ok());
  sys.Set("devices/system/node/node0/meminfo", "Node 0 MemTotal: 9223372036854775807 kB\n");
  EXPECT_FALSE(ReadNumaNodes(sys, proc).ok());
}

}  // namespace
}  // namespace koord::koordlet::cpu_topology_test
