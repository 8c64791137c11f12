#include "koordlet/metrics/storage_info.h"

#include <gtest/gtest.h>

#include "koordlet/host/memory_tree.h"

namespace koord::koordlet::storage_info_test {
namespace {

class StorageInfoTest : public testing::Test {
 protected:
  std::string AddDevice(const std::string& name, const std::string& parent,
                        std::string_view number) {
    const std::string dir = "devices/pci0000:00/virtio1/block/" + parent + name;
    sys_.Set("class/block/" + name, "../../" + dir);
    sys_.Set(dir + "/dev", std::string(number) + "\n");
    return dir;
  }
  void AddPartition(const std::string& name, const std::string& disk, std::string_view number) {
    sys_.Set(AddDevice(name, disk + "/", number) + "/partition", "1\n");
  }
  void AddVolume(const std::string& name, std::string_view number, std::string_view mapper,
                 std::initializer_list<std::string> slaves, std::string_view uuid = "LVM-x") {
    const std::string dir = AddDevice(name, "", number);
    sys_.Set(dir + "/dm/name", std::string(mapper) + "\n");
    sys_.Set(dir + "/dm/uuid", std::string(uuid) + "\n");
    for (const std::string& slave : slaves) sys_.Set(dir + "/slaves/" + slave, "");
  }
  StorageInfo Read() { return ReadStorageInfo(sys_, proc_).value(); }

  MemoryTree sys_;
  MemoryTree proc_;
};

TEST_F(StorageInfoTest, DisksAndPartitions) {
  AddDevice("vda", "", "253:0");
  AddPartition("vda1", "vda", "253:1");
  AddDevice("nvme0n1", "", "259:0");
  AddPartition("nvme0n1p17", "nvme0n1", "259:17");
  AddDevice("cciss!c0d0", "", "104:0");
  const StorageInfo info = Read();
  EXPECT_EQ(info.DiskOfDevice("/dev/vda"), "253:0");
  EXPECT_EQ(info.DiskOfDevice("/dev/vda1"), "253:0");
  EXPECT_EQ(info.DiskOfDevice("/dev/nvme0n1p17"), "259:0") << "the kernel knows, not the number";
  EXPECT_EQ(info.DiskOfDevice("/dev/cciss/c0d0"), "104:0");
  EXPECT_EQ(info.DiskOfDevice("/dev/vdb"), std::nullopt);
}

TEST_F(StorageInfoTest, PartitionsWithoutATreeGoByTheirNumber) {
  sys_.Set("class/block/sdb3/dev", "8:19\n");
  sys_.Set("class/block/sdb3/partition", "3\n");
  EXPECT_EQ(Read().DiskOfDevice("/dev/sdb3"), "8:16");
}

TEST_F(StorageInfoTest, VolumeGroupsOfOnePhysicalVolume) {
  AddDevice("vdb", "", "253:16");
  AddPartition("vdb1", "vdb", "253:17");
  AddDevice("vdc", "", "253:32");
  AddVolume("dm-0", "252:0", "my--vg-data", {"vdb1"});
  AddVolume("dm-1", "252:1", "my--vg-logs", {"vdb1"});
  AddVolume("dm-2", "252:2", "wide-a", {"vdb1"});
  AddVolume("dm-3", "252:3", "wide-b", {"vdc"});
  const StorageInfo info = Read();
  EXPECT_EQ(info.DiskOfVolumeGroup("my-vg"), "253:16");
  EXPECT_EQ(info.DiskOfDevice("/dev/mapper/my--vg-logs"), "253:16");
  EXPECT_EQ(info.DiskOfVolumeGroup("wide"), std::nullopt);
  EXPECT_EQ(info.DiskOfDevice("/dev/mapper/wide-a"), std::nullopt);
}

TEST_F(StorageInfoTest, OtherMappedDevices) {
  AddDevice("vdb", "", "253:16");
  AddVolume("dm-0", "252:0", "secret", {"vdb"}, "CRYPT-LUKS2-x");
  EXPECT_EQ(Read().DiskOfDevice("/dev/mapper/secret"), "253:16");
}

TEST_F(StorageInfoTest, MountsOfTheNode) {
  AddDevice("vda", "", "253:0");
  AddPartition("vda1", "vda", "253:1");
  AddDevice("vdb", "", "253:16");
  proc_.Set("1/mountinfo",
            "22 1 253:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
            "30 22 253:16 / /var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv\\0401/mount rw - "
            "xfs /dev/vdb rw,attr2\n"
            "31 22 0:5 / /proc rw - proc proc rw\n"
            "nonsense\n");
  const StorageInfo info = Read();
  EXPECT_EQ(info.DiskOfMount("/"), "253:0") << "by number where the name says nothing";
  EXPECT_EQ(info.DiskOfMount("/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv 1/mount"),
            "253:16");
  EXPECT_EQ(info.DiskOfMount("/proc"), std::nullopt);
}

TEST_F(StorageInfoTest, DevicesInACircleEnd) {
  AddVolume("dm-0", "252:0", "a", {"dm-1"}, "x");
  AddVolume("dm-1", "252:1", "b", {"dm-0"}, "x");
  EXPECT_EQ(Read().DiskOfDevice("/dev/mapper/a"), std::nullopt);
}

TEST_F(StorageInfoTest, GarbageIsPassedOver) {
  AddDevice("vda", "", "x:y");
  AddDevice("vdb", "", "");
  EXPECT_TRUE(Read().disk_of_device.empty());
}

}  // namespace
}  // namespace koord::koordlet::storage_info_test
