#pragma once
#include <absl/container/inlined_vector.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/device/device_request.h"
#include "model/device/device_score.h"
#include "model/device/node_devices.h"

namespace koord::model {

// Why a node cannot give the devices that a pod asks for.
enum class DeviceRefusal : uint8_t {
  kNone,
  kNoSuchDevices,    // of the type, at all
  kTooFewDevices,    // of the type
  kTooFewFunctions,  // of the type: it has none at all
  kNoPrimary,
  kJointViolated,
  kNoTemplate,
  kNoPartitionTable,
  kPartitionSize,
  kNoPartition,
  kNoTree,
  kMultiShared,
  kNoScope,
  kTooFewCards,
  kTooFewInNumaNodes,
};
// Whether others leaving cannot help.
bool IsUnresolvable(DeviceRefusal refusal);
std::string TextOf(DeviceRefusal refusal, DeviceType type);

// What a pod is given of one device.
struct DeviceGrant {
  DeviceType type = DeviceType::kGpu;
  int32_t minor = 0;
  DeviceAmounts amounts = {};
  const DeviceInventory::Function* function = nullptr;  // of the inventory
  const std::string* gpu_template = nullptr;            // of the request
};
using DeviceGrants = absl::InlinedVector<DeviceGrant, 4>;

// Where the devices of one attempt may come from.
struct DeviceLimits {
  struct Of {
    std::vector<int32_t> preferred;  // minors; sorted
    // Only these, and no more of each than this. By minor.
    std::optional<std::vector<std::pair<int32_t, DeviceAmounts>>> required;
    // Only these virtual functions, by bus id. Sorted.
    std::optional<std::vector<std::string>> functions;
  };
  std::optional<NumaMask> numa_nodes;
  std::array<Of, kDeviceTypes> by_type;
};

// What the labels of the Node say.
struct GpuNode {
  std::string vendor, model;
  bool honors_partitions = false;

  std::string kind() const { return vendor + "-" + model; }
  bool operator==(const GpuNode&) const = default;
};

struct DeviceTask {
  const DeviceRequests& requests;
  const NodeDevices& devices;
  const GpuNode& node;
  const DeviceLimits* limits = nullptr;    // null: none
  const DeviceScoring* scoring = nullptr;  // null: all devices are worth the same
  // Reserve; before that, types whose fitting was planned for the whole node are not looked at.
  bool for_real = false;
};

struct DeviceResult {
  DeviceRefusal refusal = DeviceRefusal::kNone;
  DeviceType type = DeviceType::kGpu;  // that is refused
  DeviceGrants grants;

  bool ok() const { return refusal == DeviceRefusal::kNone; }
};

// What a pod would get on one node. Pure: filters ask whether, Reserve charges it.
//
// Types are taken one after the other; those that are to be taken together start with the leading
// one, and the others are looked for on its PCIe switches. If that leads nowhere although they must
// share them, other sets of switches are tried as well.
DeviceResult AllocateDevices(const DeviceTask& task);

// For a task with NUMA nodes in its limits: they have devices of a requested type, but too few.
// Nothing if not.
std::optional<DeviceType> TooFewInNumaNodes(const DeviceTask& task);

// A share of a card by memory and by ratio: gets the other one, as far as the card says how much it
// has. False: there is no such card, or it is not healthy.
bool CompleteGpuShare(const NodeDevices& devices, DeviceGrant& grant);

}  // namespace koord::model
