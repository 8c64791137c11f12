#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_map.h"
#include "koordlet/host/cpu_topology.h"

// What is known of the machine at the moment, without history.
namespace koord::koordlet {

// Which disk is behind a device, a volume group or a mount point. Disks are named as the kernel
// wants them in blkio files, by their numbers: "253:16".
class StorageInfo {
 public:
  // "/dev/vda", "/dev/vda1" (the disk that the partition is on), "/dev/mapper/vg-lv" (the disk of
  // its volume group). None: no such device, or not on one disk.
  std::optional<std::string> DiskOfDevice(std::string_view path) const;
  // None as well for a group that spreads over several physical volumes.
  std::optional<std::string> DiskOfVolumeGroup(std::string_view name) const;
  std::optional<std::string> DiskOfMount(std::string_view mount_point) const;

  // The maps behind that.
  StringMap<std::string> disk_of_device;        // device path -> numbers of its disk
  StringMap<std::string> disk_of_volume_group;  // name -> numbers
  StringMap<std::string> device_of_mount;       // mount point -> device path

  bool operator==(const StorageInfo&) const = default;
};

struct GpuDevice {
  std::string uuid;
  int32_t minor = 0;
  std::string model;             // "NVIDIA A100-SXM4-40GB"
  int64_t memory_total = 0;      // bytes
  int32_t numa_node = -1;        // -1: not known
  std::string bus_id;            // "0000:3b:00.0"; empty: not known
  std::string pcie_root;         // "pci0000:3a"; empty: not known
  std::optional<uint64_t> xid;   // the critical error that made it unhealthy
  bool health_supported = true;  // false: the driver cannot tell

  bool operator==(const GpuDevice&) const = default;
};

struct GpuInventory {
  std::string driver_version;
  std::vector<GpuDevice> gpus;  // by minor

  bool operator==(const GpuInventory&) const = default;
};

// The latest values. Collectors set them; a value that has not changed stays the same object, so
// that whoever derives something from it may compare pointers.
class NodeInfoCache {
 public:
  // Null: not known yet.
  const std::shared_ptr<const CpuInfo>& cpu() const { return cpu_; }
  const std::shared_ptr<const std::vector<NumaNode>>& numa() const { return numa_; }
  const std::shared_ptr<const StorageInfo>& storage() const { return storage_; }
  const std::shared_ptr<const GpuInventory>& gpus() const { return gpus_; }

  void SetCpu(CpuInfo cpu) { Replace(cpu_, std::move(cpu)); }
  void SetNuma(std::vector<NumaNode> numa) { Replace(numa_, std::move(numa)); }
  void SetStorage(StorageInfo storage) { Replace(storage_, std::move(storage)); }
  void SetGpus(GpuInventory gpus) { Replace(gpus_, std::move(gpus)); }

 private:
  template <class T>
  static void Replace(std::shared_ptr<const T>& current, T next) {
    if (current == nullptr || !(*current == next)) {
      current = std::make_shared<const T>(std::move(next));
    }
  }

  std::shared_ptr<const CpuInfo> cpu_;
  std::shared_ptr<const std::vector<NumaNode>> numa_;
  std::shared_ptr<const StorageInfo> storage_;
  std::shared_ptr<const GpuInventory> gpus_;
};

}  // namespace koord::koordlet
