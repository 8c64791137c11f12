#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/metrics/node_info.h"

namespace koord::koordlet {

// The GPUs of a machine, whoever made them.
class GpuDevices {
 public:
  struct ProcessUsage {
    int32_t pid = 0;
    double core_percent = 0;
    int64_t memory = 0;  // bytes
  };
  struct DeviceUsage {
    std::string uuid;
    double core_percent = 0;
    int64_t memory = 0;
    std::vector<ProcessUsage> processes;
  };

  virtual ~GpuDevices() = default;
  virtual StatusOr<GpuInventory> Inventory() = 0;
  // Devices that do not answer are left out.
  virtual StatusOr<std::vector<DeviceUsage>> Usage() = 0;
};

// Fills in where a GPU sits from its bus id, which may come in any of the driver's spellings:
// "00000000:3B:00.0" is 0000:3b:00.0. An id that is none is dropped.
void LocateOnPci(const FileTree& sys, GpuDevice& gpu);

}  // namespace koord::koordlet
