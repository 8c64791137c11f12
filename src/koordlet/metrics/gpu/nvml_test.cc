#include "koordlet/metrics/gpu/nvml.h"

#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "koordlet/host/memory_tree.h"

namespace koord::koordlet::nvml_test {
namespace {

class NvmlTest : public testing::Test {
 protected:
  NvmlTest() {
    sys_.Set("bus/pci/devices/0000:3b:00.0",
             "../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0");
    sys_.Set("devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/numa_node", "1\n");
    sys_.Set("bus/pci/devices/0000:4b:00.0", "../../../devices/pci0000:4a/0000:4b:00.0");
    sys_.Set("devices/pci0000:4a/0000:4b:00.0/numa_node", "-1\n");
  }

  MemoryTree sys_;
  VirtualLoop loop_;
};

TEST_F(NvmlTest, WithoutALibraryThereAreNoGpus) {
  const auto devices = LoadNvml(sys_, loop_.clock(), "libno-such-gpu.so.1");
  EXPECT_TRUE(absl::IsNotFound(devices.status())) << devices.status();
}

TEST_F(NvmlTest, AnotherLibraryIsRefused) {
  const auto devices = LoadNvml(sys_, loop_.clock(), "libm.so.6");
  EXPECT_TRUE(absl::IsFailedPrecondition(devices.status())) << devices.status();
}

TEST_F(NvmlTest, ListsDevicesByMinor) {
  auto devices = LoadNvml(sys_, loop_.clock(), FAKE_NVML);
  ASSERT_TRUE(devices.ok()) << devices.status();
  const auto inventory = (*devices)->Inventory();
  ASSERT_TRUE(inventory.ok());
  EXPECT_EQ(inventory->driver_version, "535.104.05");
  ASSERT_EQ(inventory->gpus.size(), 2);
  const GpuDevice& first = inventory->gpus[0];
  EXPECT_EQ(first.uuid, "GPU-0");
  EXPECT_EQ(first.minor, 0);
  EXPECT_EQ(first.model, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(first.memory_total, int64_t{40} << 30);
  EXPECT_EQ(first.bus_id, "0000:3b:00.0");
  EXPECT_EQ(first.pcie_root, "pci0000:3a");
  EXPECT_EQ(first.numa_node, 1);
  EXPECT_EQ(inventory->gpus[1].numa_node, 0) << "-1 is a machine without NUMA";
}

TEST_F(NvmlTest, CriticalErrorsMakeADeviceUnhealthyUntilItHasBeenQuiet) {
  auto devices = LoadNvml(sys_, loop_.clock(), FAKE_NVML);
  ASSERT_TRUE(devices.ok());
  auto inventory = (*devices)->Inventory();
  EXPECT_EQ(inventory->gpus[0].xid, std::nullopt) << "31 is an application's own fault";
  EXPECT_EQ(inventory->gpus[1].xid, 79);
  EXPECT_TRUE(inventory->gpus[1].health_supported);
  loop_.Advance(9min);
  EXPECT_EQ((*devices)->Inventory()->gpus[1].xid, 79);
  loop_.Advance(1min);
  EXPECT_EQ((*devices)->Inventory()->gpus[1].xid, std::nullopt);
}

TEST_F(NvmlTest, MeasuresDevicesAndTheirProcesses) {
  auto devices = LoadNvml(sys_, loop_.clock(), FAKE_NVML);
  ASSERT_TRUE(devices.ok());
  const auto usage = (*devices)->Usage();
  ASSERT_TRUE(usage.ok());
  ASSERT_EQ(usage->size(), 2);
  EXPECT_EQ((*usage)[0].uuid, "GPU-0");
  EXPECT_EQ((*usage)[0].core_percent, 70);
  EXPECT_EQ((*usage)[0].memory, int64_t{1} << 30);
  ASSERT_EQ((*usage)[0].processes.size(), 2);
  EXPECT_EQ((*usage)[0].processes[0].pid, 100);
  EXPECT_EQ((*usage)[0].processes[0].core_percent, 40);
  EXPECT_EQ((*usage)[0].processes[0].memory, int64_t{600} << 20);
  EXPECT_EQ((*usage)[0].processes[1].memory, 0) << "the driver does not know";
  EXPECT_TRUE((*usage)[1].processes.empty());
}

TEST(LocateOnPciTest, IdsThatAreNoneAreDropped) {
  MemoryTree sys;
  for (const std::string_view id :
       {"", "..", "0000:3b:00", "0000:3b:00.0/../../x", "0001:zz:00.0", "00010000:3b:00.0"}) {
    GpuDevice gpu{.bus_id = std::string(id)};
    LocateOnPci(sys, gpu);
    EXPECT_EQ(gpu.bus_id, "") << id;
  }
}

}  // namespace
}  // namespace koord::koordlet::nvml_test
