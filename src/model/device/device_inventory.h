#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/device.h"
#include "api/device_annotations.h"
#include "base/string_map.h"
#include "model/device/device_amounts.h"
#include "model/numa/numa_mask.h"

namespace koord::model {

// The NUMA node of devices that have none, or do not know it: they are near to nobody, and take
// part everywhere.
inline constexpr int32_t kNoNumaNode = -1;
inline constexpr int32_t kNoPcie = -1;

// The devices of a node as its Device object lists them: what does not change when pods come and
// go. Without what is particular to one machine (serial numbers), so that machines of one kind
// share one.
struct DeviceInventory {
  struct Function {  // a virtual one
    std::string bus_id;
    int32_t minor = 0;
  };
  struct FunctionGroup {
    kube::Labels labels;
    std::vector<Function> functions;  // by bus id
  };
  struct Device {
    int32_t minor = 0;
    bool has_topology = false;
    int32_t numa_node = kNoNumaNode;
    int32_t pcie = kNoPcie;  // place in `pcies`
    kube::Labels labels;
    DeviceAmounts total;  // empty: it is not healthy
    std::vector<FunctionGroup> function_groups;
  };
  // Cards on one PCIe switch, on one NUMA node, of one machine. Children by number or name; cards
  // without NUMA node come last.
  struct Scope {
    int level = 1;  // of api::TopologyScopeLevel: 1 the machine, 2 a NUMA node, 3 a PCIe switch
    std::vector<uint32_t> cards;  // places in devices[gpu], ascending
    std::vector<Scope> children;
  };

  std::array<std::vector<Device>, kDeviceTypes> devices;  // by minor
  std::vector<std::string> pcies;                         // sorted
  std::optional<Scope> gpu_tree;  // only if the place of every card is known
  NumaMask numa_nodes;            // with devices
  // Which cards may be given together, by their number, as the object says.
  std::optional<api::GpuPartitions> partitions;
  bool honors_partitions = false;  // no others may
  std::optional<bool> secondary_well_planned;
  std::string gpu_vendor, gpu_model;  // as the labels of the object say
  // What makes no sense in the object, a few of it; that part is left out, all else counts.
  std::vector<std::string> problems;

  const std::vector<Device>& of(DeviceType type) const {
    return devices[static_cast<size_t>(type)];
  }
  const Device* Find(DeviceType type, int32_t minor) const;
};

// More devices than this of one type no machine has.
inline constexpr size_t kMostDevices = 256;

DeviceInventory InventoryOf(const api::Device& object);

// Partitions of machines whose links are known: null for models of which they are not.
const api::GpuPartitions* KnownPartitions(std::string_view vendor, std::string_view model);

// Reads inventories, and keeps one for each kind of machine.
class DeviceInventoryReader {
 public:
  std::shared_ptr<const DeviceInventory> Read(const api::Device& object);
  size_t kinds() const { return kinds_.size(); }

 private:
  StringMap<std::weak_ptr<const DeviceInventory>> kinds_;  // by what the object says
};

}  // namespace koord::model
