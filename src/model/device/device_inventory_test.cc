#include "model/device/device_inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/device/device_testing.h"

namespace koord::model::device_inventory_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(DeviceInventory, KnowsWhereDevicesAre) {
  const DeviceInventory inventory = InventoryOf(MachineG8());
  EXPECT_THAT(inventory.problems, IsEmpty());
  EXPECT_THAT(inventory.pcies, ElementsAre("0", "1", "2", "3"));
  ASSERT_TRUE(inventory.gpu_tree);
  EXPECT_THAT(inventory.gpu_tree->children, SizeIs(2));
  EXPECT_THAT(inventory.gpu_tree->children[1].children[0].cards, ElementsAre(4, 5));
  EXPECT_EQ(inventory.Find(DeviceType::kRdma, 3)->pcie, 2);
  EXPECT_EQ(inventory.numa_nodes, (NumaMask{0, 1}));
}

TEST(DeviceInventory, WithoutThePlaceOfOneCardThereIsNoTree) {
  api::Device device = MachineG8();
  device.spec.devices[3].topology.reset();
  EXPECT_FALSE(InventoryOf(device).gpu_tree);
}

TEST(DeviceInventory, UnhealthyDevicesHaveNothing) {
  api::Device device = MachineG8();
  device.spec.devices[3].health = false;
  EXPECT_TRUE(InventoryOf(device).Find(DeviceType::kGpu, 3)->total.empty());
}

TEST(DeviceInventory, NegativeSharesConcernTheirDeviceAlone) {
  api::Device device = MachineG8();
  device.spec.devices[3].resources["koordinator.sh/gpu-core"] = kube::Quantity(-5);
  const DeviceInventory inventory = InventoryOf(device);
  EXPECT_TRUE(inventory.Find(DeviceType::kGpu, 3)->total.empty());
  EXPECT_FALSE(inventory.Find(DeviceType::kGpu, 2)->total.empty());
  EXPECT_THAT(
      inventory.problems,
      ElementsAre(HasSubstr("spec.devices[3].resources.koordinator.sh/gpu-core: expected an "
                            "amount that is not negative, found -5")));
}

TEST(DeviceInventory, SaysWhichMinorsMakeNoSense) {
  api::Device device = MachineG8();
  device.spec.devices[1].minor = -1;
  device.spec.devices[2].minor.reset();
  device.spec.devices[4].minor = 3;
  const DeviceInventory inventory = InventoryOf(device);
  EXPECT_THAT(inventory.of(DeviceType::kGpu), SizeIs(5));
  EXPECT_THAT(
      inventory.problems,
      ElementsAre(HasSubstr("[1].minor: expected a number that is not negative, found -1"),
                  HasSubstr("[2].minor: expected a number that is not negative, found none"),
                  HasSubstr("[4].minor: gpu 3 is listed twice")));
}

TEST(DeviceInventory, TenThousandDevicesAreCutOff) {
  api::Device device;
  for (int32_t minor = 0; minor < 10'000; ++minor) device.spec.devices.push_back(Card(minor));
  const DeviceInventory inventory = InventoryOf(device);
  EXPECT_THAT(inventory.of(DeviceType::kGpu), SizeIs(kMostDevices));
  EXPECT_FALSE(inventory.problems.empty());
  EXPECT_LE(inventory.problems.size(), 8U);
}

TEST(DeviceInventory, PartitionsThatMakeNoSenseAreLeftOut) {
  api::Device device = MachineG8();
  device.metadata.annotations = {
      {"scheduling.koordinator.sh/gpu-partitions",
       R"({"2":[{"minors":[0,1]},{"minors":[2,2]},{"minors":[1,2,3]}]})"}};
  const DeviceInventory inventory = InventoryOf(device);
  ASSERT_TRUE(inventory.partitions);
  EXPECT_THAT(inventory.partitions->at(2), SizeIs(1));
  EXPECT_THAT(inventory.problems, SizeIs(2));
  device.metadata.annotations = {{"scheduling.koordinator.sh/gpu-partitions", "{"}};
  EXPECT_FALSE(InventoryOf(device).partitions);
  EXPECT_THAT(InventoryOf(device).problems, SizeIs(1));
}

TEST(DeviceInventory, MachinesOfOneKindShareOne) {
  DeviceInventoryReader reader;
  api::Device a = MachineG8(), b = MachineG8(), c = MachineG8();
  b.metadata.name = "other";
  b.spec.devices[0].id = "another serial number";
  c.spec.devices[0].health = false;
  const auto first = reader.Read(a);
  EXPECT_EQ(first, reader.Read(b));
  EXPECT_NE(first, reader.Read(c));
}

TEST(NodeDevices, KeepsWhatIsHeldWhileTheObjectIsGone) {
  NodeDevices devices = DevicesOf(MachineG8());
  UseWhole(devices, {5});
  devices.SetInventory(nullptr);
  ASSERT_THAT(devices.of(DeviceType::kGpu), SizeIs(1));
  EXPECT_TRUE(devices.Find(DeviceType::kGpu, 5)->free.IsZero());
  devices.SetInventory(std::make_shared<const DeviceInventory>(InventoryOf(MachineG8())));
  EXPECT_TRUE(devices.Find(DeviceType::kGpu, 5)->free.IsZero());
  EXPECT_FALSE(devices.Find(DeviceType::kGpu, 4)->free.IsZero());
}

TEST(NodeDevices, ForgetsMinorsThatNobodyListsOnceNobodyHoldsThem) {
  NodeDevices devices;
  devices.Use(DeviceType::kGpu, 7, Share(50, 50), 1);
  devices.UseFunction(DeviceType::kRdma, 1, "0000:1f:00.2");
  EXPECT_FALSE(devices.empty());
  devices.Use(DeviceType::kGpu, 7, Share(50, 50), -1);
  devices.ReleaseFunction(DeviceType::kRdma, 1, "0000:1f:00.2");
  EXPECT_TRUE(devices.empty());
}

}  // namespace
}  // namespace koord::model::device_inventory_test
