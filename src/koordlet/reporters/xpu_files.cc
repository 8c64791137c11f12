#include <fmt/format.h>

#include <algorithm>

#include "api/keys.h"
#include "base/log.h"
#include "base/strings.h"
#include "koordlet/reporters/device_report.h"
#include "koordlet/reporters/gpu_labels.h"
#include "kube/int_or_string.h"

namespace koord::koordlet {

// What a vendor's program says of a device. Numbers may be texts.
struct XpuLink {
  std::string peer_minor;  // several with commas
  std::string type;

  static void Fields(auto& self, auto&& field) {
    field("peerMinor", self.peer_minor);
    field("type", self.type);
  }
};
struct XpuTopology {
  std::vector<XpuLink> p2p_links;
  bool must_honor_partition = false;
  std::optional<kube::IntOrString> socket_id;
  std::optional<kube::IntOrString> node_id;
  std::string pcie_id;
  std::string bus_id;

  static void Fields(auto& self, auto&& field) {
    field("p2pLinks", self.p2p_links);
    field("mustHonorPartition", self.must_honor_partition);
    field("socketID", self.socket_id);
    field("nodeID", self.node_id);
    field("pcieID", self.pcie_id);
    field("busID", self.bus_id);
  }
};
struct XpuStatus {
  bool healthy = false;
  std::string err_code;
  std::string err_message;

  static void Fields(auto& self, auto&& field) {
    field("healthy", self.healthy);
    field("errCode", self.err_code);
    field("errMessage", self.err_message);
  }
};
struct Xpu {
  std::string vendor;
  std::string model;
  std::string uuid;
  std::optional<kube::IntOrString> minor;
  kube::ResourceList resources;
  std::optional<XpuTopology> topology;
  std::optional<XpuStatus> status;

  static void Fields(auto& self, auto&& field) {
    field("vendor", self.vendor);
    field("model", self.model);
    field("uuid", self.uuid);
    field("minor", self.minor);
    field("resources", self.resources);
    field("topology", self.topology);
    field("status", self.status);
  }
};

namespace {

constexpr int64_t kScore = 1;  // all partitions are as good

std::optional<int32_t> NumberIn(std::string_view text) {
  const std::optional<int64_t> number = ParseInt(Trim(text));
  if (!number || *number < INT32_MIN || *number > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(*number);
}

// None: it is not stated.
StatusOr<std::optional<int32_t>> NumberOf(std::string_view field,
                                          const std::optional<kube::IntOrString>& value) {
  if (!value || (value->text() != nullptr && value->text()->empty())) {
    return std::optional<int32_t>();
  }
  if (value->is_int()) return std::optional(value->number());
  const std::optional<int32_t> number = NumberIn(*value->text());
  if (!number) {
    return InvalidArgument("{}: expected a number, found {}", field, Quote(*value->text(), 64));
  }
  return number;
}

StatusOr<api::DeviceTopology> TopologyOf(const XpuTopology& topology) {
  ASSIGN_OR_RETURN(const auto socket, NumberOf("topology.socketID", topology.socket_id));
  ASSIGN_OR_RETURN(const auto node, NumberOf("topology.nodeID", topology.node_id));
  return api::DeviceTopology{.socket_id = socket.value_or(-1),
                             .node_id = std::max(node.value_or(0), 0),
                             .pcie_id = topology.pcie_id,
                             .bus_id = topology.bus_id};
}

kube::Condition ConditionOf(const XpuStatus& status) {
  const std::string reason = status.healthy            ? "DeviceHealthy"
                             : status.err_code.empty() ? "Unknown"
                                                       : status.err_code;
  return HealthCondition(status.healthy, reason, status.err_message);
}

StatusOr<api::DeviceInfo> DeviceOf(const Xpu& xpu) {
  if (xpu.uuid.empty()) return InvalidArgument("uuid: expected the device's name");
  api::DeviceInfo device;
  device.type = api::kDeviceGpu;
  device.id = xpu.uuid;
  ASSIGN_OR_RETURN(device.minor, NumberOf("minor", xpu.minor));
  device.resources = xpu.resources;
  device.health = !xpu.status || xpu.status->healthy;
  if (xpu.topology) {
    ASSIGN_OR_RETURN(device.topology, TopologyOf(*xpu.topology));
  }
  if (xpu.status) device.conditions.push_back(ConditionOf(*xpu.status));
  return device;
}

// The device and those at the other ends, ascending; what is no number is left out.
std::vector<int32_t> MinorsOf(int32_t minor, const XpuLink& link) {
  std::vector<int32_t> minors{minor};
  for (const std::string_view peer : Split(link.peer_minor, ',')) {
    const std::optional<int32_t> number = NumberIn(peer);
    if (number && *number >= 0) minors.push_back(*number);
  }
  std::ranges::sort(minors);
  minors.erase(std::unique(minors.begin(), minors.end()), minors.end());
  return minors;
}

// All of its devices tell of a partition.
void AddPartition(api::GpuPartition partition, api::GpuPartitions& table) {
  auto& of_size = table[static_cast<int>(partition.minors.size())];
  if (std::ranges::find(of_size, partition) == of_size.end()) {
    of_size.push_back(std::move(partition));
  }
}

void AddPartitions(const Xpu& xpu, const std::optional<int32_t>& minor, api::GpuPartitions& table) {
  if (!xpu.topology || !minor || *minor < 0) return;
  for (const XpuLink& link : xpu.topology->p2p_links) {
    std::vector<int32_t> minors = MinorsOf(*minor, link);
    if (link.type.empty() || minors.size() < 2) {
      LOG_V(3, "A device has a link without a type or to nobody", {"device", xpu.uuid});
      continue;
    }
    AddPartition({.minors = std::move(minors),
                  .gpu_link_type = link.type,
                  .ring_bus_bandwidth = {},
                  .allocation_score = kScore},
                 table);
  }
}

void MergeInto(DeviceReport& all, DeviceReport more) {
  for (api::DeviceInfo& device : more.devices) all.devices.push_back(std::move(device));
  for (auto& [key, value] : more.labels) all.labels[key] = value;
  for (auto& [size, partitions] : more.partitions) {
    for (api::GpuPartition& each : partitions) AddPartition(std::move(each), all.partitions);
  }
}

}  // namespace

StatusOr<DeviceReport> ReadXpuFile(std::string_view text) {
  ASSIGN_OR_RETURN(const kube::Json json, kube::ParseJson(text));
  ASSIGN_OR_RETURN(const auto xpus, kube::Decode<std::vector<Xpu>>(json));
  DeviceReport report;
  Common vendor, model;
  bool has_policy = false;
  bool must_honor = false;
  for (const Xpu& xpu : xpus) {
    ASSIGN_OR_RETURN(api::DeviceInfo device, DeviceOf(xpu));
    AddPartitions(xpu, device.minor, report.partitions);
    report.devices.push_back(std::move(device));
    vendor.Add(xpu.vendor);
    model.Add(ModelLabel(xpu.model));
    has_policy = has_policy || xpu.topology.has_value();
    must_honor = must_honor || (xpu.topology && xpu.topology->must_honor_partition);
  }
  if (report.devices.empty()) return report;
  report.labels[std::string(api::kLabelGpuVendor)] = vendor.value();
  report.labels[std::string(api::kLabelGpuModel)] = model.value();
  if (has_policy) {
    report.labels[std::string(api::kLabelGpuPartitionPolicy)] = must_honor ? "Honor" : "Prefer";
  }
  return report;
}

DeviceReport ReadXpuFiles(const FileTree& files, std::string_view directory) {
  DeviceReport all;
  const auto entries = files.List(directory);
  if (!entries.ok()) return all;
  for (const FileTree::Entry& entry : *entries) {
    if (entry.is_directory) continue;
    const std::string path =
        directory.empty() ? entry.name : std::string(directory) + "/" + entry.name;
    const auto text = files.Read(path);
    if (!text.ok()) continue;
    auto report = ReadXpuFile(*text);
    if (!report.ok()) {
      LOG_V(3, "A list of devices cannot be read", {"file", path}, {"err", report.status()});
      continue;
    }
    MergeInto(all, *std::move(report));
  }
  SortDevices(all.devices);
  return all;
}

}  // namespace koord::koordlet
