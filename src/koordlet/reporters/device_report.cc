#include "koordlet/reporters/device_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "base/log.h"
#include "base/strings.h"
#include "koordlet/reporters/gpu_labels.h"
#include "koordlet/reporters/topology_report.h"
#include "kube/objects/resource_list.h"

namespace koord::koordlet {

namespace {

using kube::Json;
using kube::Quantity;

api::DeviceInfo DeviceOf(const GpuDevice& gpu) {
  api::DeviceInfo device;
  device.type = api::kDeviceGpu;
  device.id = gpu.uuid;
  device.minor = gpu.minor;
  device.health = !gpu.xid.has_value();
  device.resources.emplace(api::kGpuCore, Quantity(100));
  device.resources.emplace(api::kGpuMemory,
                           Quantity(gpu.memory_total, Quantity::Format::kBinarySi));
  device.resources.emplace(api::kGpuMemoryRatio, Quantity(100));
  if (!gpu.bus_id.empty() && !gpu.pcie_root.empty()) {
    device.topology = api::DeviceTopology{.socket_id = -1,
                                          .node_id = std::max(gpu.numa_node, 0),
                                          .pcie_id = gpu.pcie_root,
                                          .bus_id = gpu.bus_id};
  }
  if (gpu.xid) {
    device.conditions.push_back(
        HealthCondition(false, fmt::format("Xid{}", *gpu.xid), "a critical error of the GPU"));
  } else if (!gpu.health_supported) {
    device.conditions.push_back(HealthCondition(true, "DeviceHealthCheckNotSupported", ""));
  }
  return device;
}

// "mlx5_10": 5, 10. What is named otherwise comes last, by name.
struct CardName {
  std::string text;
  std::tuple<bool, int64_t, int64_t, std::string> Order() const {
    if (text.starts_with("mlx")) {
      const size_t bar = text.find('_');
      const auto first = ParseInt(std::string_view(text).substr(3, bar - 3));
      const auto second = bar == std::string::npos
                              ? std::nullopt
                              : ParseInt(std::string_view(text).substr(bar + 1));
      if (first && second) return {false, *first, *second, ""};
    }
    return {true, 0, 0, text};
  }
};

class RdmaReader {
 public:
  explicit RdmaReader(const FileTree& sys) : sys_(sys) {}

  std::vector<api::DeviceInfo> Read() const {
    struct Card {
      CardName name;
      api::DeviceInfo device;
    };
    std::vector<Card> cards;
    const auto entries = sys_.List("bus/pci/devices");
    if (!entries.ok()) return {};
    for (const FileTree::Entry& entry : *entries) {
      const std::string dir = DirectoryOf(entry.name);
      const std::string name = CardIn(dir);
      if (!name.empty()) cards.push_back({{name}, DeviceIn(dir, entry.name, name)});
    }
    std::sort(cards.begin(), cards.end(),
              [](const Card& a, const Card& b) { return a.name.Order() < b.name.Order(); });
    std::vector<api::DeviceInfo> devices;
    for (Card& card : cards) {
      card.device.minor = static_cast<int32_t>(devices.size());
      devices.push_back(std::move(card.device));
    }
    return devices;
  }

 private:
  // Where a device of the bus really is: "devices/pci0000:3a/0000:3b:00.0". Entries of the bus are
  // links, which must not be followed blindly.
  std::string DirectoryOf(const std::string& bus_id) const {
    const auto link = sys_.ReadLink("bus/pci/devices/" + bus_id);
    if (!link.ok()) return "bus/pci/devices/" + bus_id;
    std::string_view target = *link;
    while (target.starts_with("../")) target.remove_prefix(3);
    return std::string(target);
  }

  // The name of the RDMA card there; empty where there is none, or only a part of one.
  std::string CardIn(const std::string& dir) const {
    const auto pci_class = sys_.Read(dir + "/class");
    if (!pci_class.ok() || !pci_class->starts_with("0x02")) return "";
    if (sys_.Exists(dir + "/physfn")) return "";
    const auto names = sys_.List(dir + "/infiniband");
    if (!names.ok() || names->empty()) return "";
    return names->front().name;
  }

  bool IsHealthy(const std::string& dir, const std::string& name) const {
    const std::string ports = dir + "/infiniband/" + name + "/ports";
    const auto entries = sys_.List(ports);
    if (!entries.ok() || entries->empty()) return false;
    return std::all_of(entries->begin(), entries->end(), [&](const FileTree::Entry& port) {
      const auto state = sys_.Read(ports + "/" + port.name + "/state");
      return state.ok() && state->find("ACTIVE") != std::string::npos;
    });
  }

  std::vector<api::VirtualFunction> FunctionsIn(const std::string& dir) const {
    std::vector<std::string> bus_ids;
    const auto entries = sys_.List(dir);
    if (!entries.ok()) return {};
    for (const FileTree::Entry& entry : *entries) {
      if (!entry.name.starts_with("virtfn")) continue;
      const auto link = sys_.ReadLink(dir + "/" + entry.name);
      if (link.ok()) bus_ids.push_back(link->substr(link->rfind('/') + 1));
    }
    std::sort(bus_ids.begin(), bus_ids.end());
    std::vector<api::VirtualFunction> functions;
    for (std::string& bus_id : bus_ids) {
      functions.push_back({static_cast<int32_t>(functions.size()), std::move(bus_id)});
    }
    return functions;
  }

  api::DeviceInfo DeviceIn(const std::string& dir, const std::string& bus_id,
                           const std::string& name) const {
    api::DeviceInfo device;
    device.type = api::kDeviceRdma;
    device.id = bus_id;
    device.health = IsHealthy(dir, name);
    device.resources.emplace(api::kRdma, Quantity(100));
    const auto numa = sys_.Read(dir + "/numa_node");
    const int64_t node = numa.ok() ? ParseInt(Trim(*numa)).value_or(0) : 0;
    device.topology = api::DeviceTopology{
        .socket_id = -1,
        .node_id = static_cast<int32_t>(std::clamp<int64_t>(node, 0, INT32_MAX)),
        .pcie_id = RootOf(dir),
        .bus_id = bus_id};
    std::vector<api::VirtualFunction> functions = FunctionsIn(dir);
    if (!functions.empty()) device.vf_groups.push_back({{}, std::move(functions)});
    return device;
  }

  // "devices/pci0000:3a/...": pci0000:3a.
  static std::string RootOf(std::string_view dir) {
    constexpr std::string_view kDevices = "devices/";
    if (!dir.starts_with(kDevices)) return "";
    dir.remove_prefix(kDevices.size());
    return std::string(dir.substr(0, dir.find('/')));
  }

  const FileTree& sys_;
};

const kube::Condition* FindCondition(const std::vector<kube::Condition>& conditions,
                                     std::string_view type) {
  const auto it = std::find_if(conditions.begin(), conditions.end(),
                               [&](const auto& each) { return each.type == type; });
  return it == conditions.end() ? nullptr : &*it;
}

// Conditions keep the time at which they came about.
void DateConditions(std::vector<api::DeviceInfo>& devices,
                    const std::vector<api::DeviceInfo>& before, WallTime now) {
  for (api::DeviceInfo& device : devices) {
    const auto last = std::find_if(before.begin(), before.end(), [&](const auto& each) {
      return each.type == device.type && each.id == device.id;
    });
    for (kube::Condition& condition : device.conditions) {
      const kube::Condition* old =
          last == before.end() ? nullptr : FindCondition(last->conditions, condition.type);
      const bool same = old != nullptr && old->status == condition.status;
      condition.last_transition_time =
          same ? old->last_transition_time : std::chrono::floor<std::chrono::seconds>(now);
    }
  }
}

Json EncodeAll(const std::vector<api::DeviceInfo>& devices) {
  kube::json::array array;
  for (const api::DeviceInfo& device : devices) array.push_back(kube::Encode(device));
  return array;
}

}  // namespace

void SortDevices(std::vector<api::DeviceInfo>& devices) {
  std::stable_sort(devices.begin(), devices.end(), [](const auto& a, const auto& b) {
    return std::tie(a.type, a.minor) < std::tie(b.type, b.minor);
  });
}

DeviceReport DevicesOfGpus(const GpuInventory& inventory) {
  DeviceReport report;
  if (inventory.gpus.empty()) return report;
  Common model;
  for (const GpuDevice& gpu : inventory.gpus) {
    report.devices.push_back(DeviceOf(gpu));
    model.Add(ModelLabel(gpu.model));
  }
  report.labels[std::string(api::kLabelGpuVendor)] = "nvidia";
  report.labels[std::string(api::kLabelGpuModel)] = model.value();
  report.labels[std::string(api::kLabelGpuDriverVersion)] = inventory.driver_version;
  SortDevices(report.devices);
  return report;
}

std::vector<api::DeviceInfo> ReadRdmaDevices(const FileTree& sys) { return RdmaReader(sys).Read(); }

namespace {

kube::Annotations AnnotationsOf(const DeviceReport& report) {
  kube::Annotations annotations;
  if (report.partitions.empty()) return annotations;
  kube::json::object table;
  for (const auto& [size, partitions] : report.partitions) {
    kube::json::array list;
    for (const api::GpuPartition& each : partitions) list.push_back(kube::Encode(each));
    table.emplace(std::to_string(size), std::move(list));
  }
  annotations.emplace(api::kAnnotationGpuPartitions, kube::Serialize(table));
  return annotations;
}

// In metadata: what is wanted, and nothing else.
void ReplaceAll(std::string_view field, const kube::Labels& wanted, const kube::Labels& existing,
                Json& patch) {
  const auto set = [&](std::string_view key, Json value) {
    kube::At(patch, {"metadata", field, key}) = std::move(value);
  };
  for (const auto& [key, value] : wanted) {
    const auto it = existing.find(key);
    if (it == existing.end() || it->second != value) set(key, Json(value));
  }
  for (const auto& [key, value] : existing) {
    if (!wanted.contains(key)) set(key, nullptr);
  }
}

}  // namespace

Json NewDeviceObject(const DeviceReport& report, const kube::Node& node, WallTime now) {
  std::vector<api::DeviceInfo> devices = report.devices;
  DateConditions(devices, {}, now);
  kube::json::object labels, annotations;
  for (const auto& [key, value] : report.labels) labels.emplace(key, value);
  for (const auto& [key, value] : AnnotationsOf(report)) annotations.emplace(key, value);
  return {{"metadata",
           {{"name", node.metadata.name},
            {"labels", std::move(labels)},
            {"annotations", std::move(annotations)},
            {"ownerReferences", NodeOwnerReferences(node)}}},
          {"spec", {{"devices", EncodeAll(devices)}}}};
}

Json DevicePatch(const DeviceReport& report, const api::Device& existing, WallTime now) {
  std::vector<api::DeviceInfo> devices = report.devices;
  DateConditions(devices, existing.spec.devices, now);
  Json patch = kube::json::object{};
  if (devices != existing.spec.devices) kube::At(patch, {"spec", "devices"}) = EncodeAll(devices);
  ReplaceAll("labels", report.labels, existing.metadata.labels, patch);
  ReplaceAll("annotations", AnnotationsOf(report), existing.metadata.annotations, patch);
  if (patch.as_object().empty()) return nullptr;
  kube::At(patch, {"metadata", "resourceVersion"}) = existing.metadata.resource_version;
  return patch;
}

}  // namespace koord::koordlet
