#include "model/device/device_inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "kube/json.h"

namespace koord::model {
namespace {

constexpr size_t kMostProblems = 8;
constexpr size_t kMostFunctions = 1024;  // of one device
constexpr size_t kMostPartitions = 512;  // of one size

class Problems {
 public:
  explicit Problems(std::vector<std::string>& into) : into_(into) {}
  template <class... Args>
  void Say(fmt::format_string<Args...> format, Args&&... args) {
    if (into_.size() < kMostProblems) {
      into_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
  }

 private:
  std::vector<std::string>& into_;
};

DeviceAmounts TotalOf(const api::DeviceInfo& info, const std::string& at, Problems& problems) {
  DeviceAmounts total;
  if (!info.health) return total;
  kube::ResourceList resources = info.resources;
  api::RenameDeprecatedDeviceResources(resources);
  for (const auto& [name, quantity] : resources) {
    if (quantity.Sign() >= 0) continue;
    problems.Say(
        "{}.resources.{}: expected an amount that is not negative, found {}; the device is "
        "not given to pods",
        at, name, quantity.ToString());
    return total;
  }
  return DeviceAmountsIn(resources);
}

std::vector<DeviceInventory::FunctionGroup> FunctionGroupsOf(const api::DeviceInfo& info,
                                                             const std::string& at,
                                                             Problems& problems) {
  std::vector<DeviceInventory::FunctionGroup> groups;
  std::set<std::string_view> seen;
  for (const api::VirtualFunctionGroup& group : info.vf_groups) {
    DeviceInventory::FunctionGroup& into = groups.emplace_back();
    into.labels = group.labels;
    for (const api::VirtualFunction& vf : group.vfs) {
      if (seen.size() == kMostFunctions) {
        problems.Say("{}.vfGroups: more than {} virtual functions; the rest is not used", at,
                     kMostFunctions);
        break;
      }
      if (vf.bus_id.empty() || !seen.insert(vf.bus_id).second) {
        problems.Say("{}.vfGroups: expected a busID of its own, found \"{}\"", at, vf.bus_id);
        continue;
      }
      into.functions.push_back({vf.bus_id, vf.minor});
    }
    std::ranges::sort(into.functions, {}, &DeviceInventory::Function::bus_id);
  }
  return groups;
}

// Adds one device, if it makes sense.
void AddDevice(const api::DeviceInfo& info, const std::string& at, DeviceInventory& inventory,
               Problems& problems) {
  const auto type = ParseDeviceType(info.type);
  if (!type) return;  // of a kind that no pod can ask for
  if (!info.minor || *info.minor < 0) {
    return problems.Say("{}.minor: expected a number that is not negative, found {}", at,
                        info.minor ? std::to_string(*info.minor) : "none");
  }
  std::vector<DeviceInventory::Device>& devices = inventory.devices[static_cast<size_t>(*type)];
  if (devices.size() == kMostDevices) {
    return problems.Say("{}: more than {} devices of type {}; the rest is not used", at,
                        kMostDevices, info.type);
  }
  const auto place =
      std::ranges::lower_bound(devices, *info.minor, {}, &DeviceInventory::Device::minor);
  if (place != devices.end() && place->minor == *info.minor) {
    return problems.Say("{}.minor: {} {} is listed twice; the first one counts", at, info.type,
                        *info.minor);
  }
  DeviceInventory::Device device{.minor = *info.minor,
                                 .has_topology = info.topology.has_value(),
                                 .labels = info.labels,
                                 .total = TotalOf(info, at, problems),
                                 .function_groups = FunctionGroupsOf(info, at, problems)};
  if (info.topology && info.topology->node_id != kNoNumaNode) {
    if (NumaMask::IsNode(info.topology->node_id)) {
      device.numa_node = info.topology->node_id;
      inventory.numa_nodes.Add(device.numa_node);
    } else {
      problems.Say("{}.topology.nodeID: expected -1 to {}, found {}", at, NumaMask::kMaxNodes - 1,
                   info.topology->node_id);
    }
  }
  devices.insert(place, std::move(device));
}

// Numbers the PCIe switches in the order of their names.
void SetPcies(const api::Device& object, DeviceInventory& inventory, Problems& problems) {
  std::map<std::pair<DeviceType, int32_t>, const api::DeviceTopology*> places;
  std::map<std::string_view, int32_t> numa_node_of;
  std::set<std::string> names;
  for (const api::DeviceInfo& info : object.spec.devices) {
    const auto type = ParseDeviceType(info.type);
    if (!type || !info.minor || !info.topology) continue;
    if (!places.emplace(std::pair(*type, *info.minor), &*info.topology).second) continue;
    if (info.topology->pcie_id.empty()) continue;
    names.insert(info.topology->pcie_id);
    const auto [at, is_new] = numa_node_of.emplace(info.topology->pcie_id, info.topology->node_id);
    if (!is_new && at->second != info.topology->node_id) {
      problems.Say("topology.pcieID: {} is on NUMA nodes {} and {}; expected one",
                   info.topology->pcie_id, at->second, info.topology->node_id);
    }
  }
  inventory.pcies.assign(names.begin(), names.end());
  for (const DeviceType type : kAllDeviceTypes) {
    for (DeviceInventory::Device& device : inventory.devices[static_cast<size_t>(type)]) {
      const auto place = places.find({type, device.minor});
      if (place == places.end() || place->second->pcie_id.empty()) continue;
      device.pcie =
          static_cast<int32_t>(std::ranges::lower_bound(inventory.pcies, place->second->pcie_id) -
                               inventory.pcies.begin());
    }
  }
}

std::optional<DeviceInventory::Scope> TreeOf(const std::vector<DeviceInventory::Device>& cards) {
  const auto is_placed = [](const DeviceInventory::Device& card) { return card.has_topology; };
  if (cards.empty() || !std::ranges::all_of(cards, is_placed)) return {};
  // Cards without NUMA node behind all others: last to be chosen among equals.
  std::map<std::pair<bool, int32_t>, std::map<int32_t, std::vector<uint32_t>>> places;
  DeviceInventory::Scope machine{.level = 1, .cards = {}, .children = {}};
  for (uint32_t i = 0; i < cards.size(); ++i) {
    const int32_t node = cards[i].numa_node;
    places[{node == kNoNumaNode, node}][cards[i].pcie].push_back(i);
    machine.cards.push_back(i);
  }
  for (const auto& [node, pcies] : places) {
    DeviceInventory::Scope numa{.level = 2, .cards = {}, .children = {}};
    for (const auto& [pcie, on_it] : pcies) {
      numa.cards.insert(numa.cards.end(), on_it.begin(), on_it.end());
      numa.children.push_back({.level = 3, .cards = on_it, .children = {}});
    }
    std::ranges::sort(numa.cards);
    machine.children.push_back(std::move(numa));
  }
  return machine;
}

// Partitions that are none are left out: cards that do not exist make them useless anyway.
std::optional<api::GpuPartitions> PartitionsOf(const api::Device& object, Problems& problems) {
  auto read = api::GpuPartitionsOf(object.metadata.annotations);
  if (!read.ok()) {
    problems.Say("{}: {}", api::kAnnotationGpuPartitions, Message(read.status()));
    return {};
  }
  if (!*read) return {};
  api::GpuPartitions partitions = std::move(**read);
  for (auto& [cards, list] : partitions) {
    const auto size = cards;  // clang 14 captures no structured bindings
    std::erase_if(list, [&](const api::GpuPartition& partition) {
      const std::set<int32_t> minors(partition.minors.begin(), partition.minors.end());
      const bool is_one =
          std::cmp_equal(minors.size(), size) && partition.minors.size() == minors.size();
      if (!is_one) {
        problems.Say("{}: expected {} different minors in each partition of {}, found {}",
                     api::kAnnotationGpuPartitions, size, size, partition.minors.size());
      }
      return !is_one;
    });
    if (list.size() > kMostPartitions) {
      problems.Say("{}: more than {} partitions of {}; the rest is not used",
                   api::kAnnotationGpuPartitions, kMostPartitions, size);
      list.resize(kMostPartitions);
    }
  }
  if (partitions.empty()) return {};
  return partitions;
}

api::GpuPartitions MakeHopperPartitions() {
  const auto partition = [](std::vector<int32_t> minors) {
    return api::GpuPartition{.minors = std::move(minors),
                             .gpu_link_type = "NVLink",
                             .ring_bus_bandwidth = {},
                             .allocation_score = 1};
  };
  api::GpuPartitions table;
  for (int32_t minor = 0; minor < 8; ++minor) table[1].push_back(partition({minor}));
  for (int32_t minor = 0; minor < 8; minor += 2) {
    table[2].push_back(partition({minor, minor + 1}));
  }
  table[4] = {partition({0, 1, 2, 3}), partition({4, 5, 6, 7})};
  table[8] = {partition({0, 1, 2, 3, 4, 5, 6, 7})};
  return table;
}

// What the object says of the kind of machine, as text: the same for machines of the same kind.
std::string KindOf(const api::Device& object) {
  api::Device kind;
  kind.spec = object.spec;
  for (api::DeviceInfo& info : kind.spec.devices) {
    info.id.clear();
    info.module_id.reset();
    info.conditions.clear();
    if (info.topology) info.topology->bus_id.clear();
  }
  std::string text = kube::Serialize(kube::Encode(kind));
  for (const std::string_view key :
       {api::kLabelGpuVendor, api::kLabelGpuModel, api::kLabelGpuPartitionPolicy,
        api::kLabelSecondaryDeviceWellPlanned}) {
    text.append(1, '\0').append(kube::ValueOf(object.metadata.labels, key));
  }
  text.append(1, '\0');
  return text.append(kube::ValueOf(object.metadata.annotations, api::kAnnotationGpuPartitions));
}

}  // namespace

const DeviceInventory::Device* DeviceInventory::Find(DeviceType type, int32_t minor) const {
  const std::vector<Device>& list = of(type);
  const auto found = std::ranges::lower_bound(list, minor, {}, &Device::minor);
  return found == list.end() || found->minor != minor ? nullptr : &*found;
}

DeviceInventory InventoryOf(const api::Device& object) {
  DeviceInventory inventory;
  Problems problems(inventory.problems);
  for (size_t i = 0; i < object.spec.devices.size(); ++i) {
    AddDevice(object.spec.devices[i], fmt::format("spec.devices[{}]", i), inventory, problems);
  }
  SetPcies(object, inventory, problems);
  inventory.gpu_tree = TreeOf(inventory.of(DeviceType::kGpu));
  inventory.partitions = PartitionsOf(object, problems);
  const kube::Labels& labels = object.metadata.labels;
  inventory.honors_partitions = api::HonorsGpuPartitions(labels);
  inventory.secondary_well_planned = api::IsSecondaryDeviceWellPlanned(labels);
  inventory.gpu_vendor = kube::ValueOf(labels, api::kLabelGpuVendor);
  inventory.gpu_model = kube::ValueOf(labels, api::kLabelGpuModel);
  return inventory;
}

const api::GpuPartitions* KnownPartitions(std::string_view vendor, std::string_view model) {
  static const api::GpuPartitions hopper = MakeHopperPartitions();
  if (!vendor.empty() && vendor != "nvidia") return nullptr;
  return model == "H100" || model == "H800" || model == "H20" ? &hopper : nullptr;
}

std::shared_ptr<const DeviceInventory> DeviceInventoryReader::Read(const api::Device& object) {
  const std::string kind = KindOf(object);
  if (const auto found = kinds_.find(kind); found != kinds_.end()) {
    if (auto inventory = found->second.lock()) return inventory;
  }
  absl::erase_if(kinds_, [](const auto& each) { return each.second.expired(); });
  auto inventory = std::make_shared<const DeviceInventory>(InventoryOf(object));
  kinds_[kind] = inventory;
  return inventory;
}

}  // namespace koord::model
