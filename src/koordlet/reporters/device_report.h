#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/device.h"
#include "api/device_annotations.h"
#include "base/clock.h"
#include "base/status.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/metrics/node_info.h"
#include "kube/json.h"
#include "kube/objects/node.h"

// The Device object of a node: its GPUs and RDMA cards.
namespace koord::koordlet {

struct DeviceReport {
  std::vector<api::DeviceInfo> devices;  // by type and minor
  kube::Labels labels;
  api::GpuPartitions partitions;  // empty: nobody says which GPUs belong together
};

// Devices that vendors' programs describe in files: each holds a list. Devices that are linked
// directly make a partition. A file that cannot be read is logged by the caller; errors name the
// field.
StatusOr<DeviceReport> ReadXpuFile(std::string_view text);
// All files of a directory; bad ones are left out.
DeviceReport ReadXpuFiles(const FileTree& files, std::string_view directory);

DeviceReport DevicesOfGpus(const GpuInventory& inventory);

// Network cards that can do RDMA, as sysfs shows them.
std::vector<api::DeviceInfo> ReadRdmaDevices(const FileTree& sys);

void SortDevices(std::vector<api::DeviceInfo>& devices);

kube::Json NewDeviceObject(const DeviceReport& report, const kube::Node& node, WallTime now);
// What to change of an existing one, and only if it is still that version; null: nothing.
kube::Json DevicePatch(const DeviceReport& report, const api::Device& existing, WallTime now);

}  // namespace koord::koordlet
