#include "localcluster/nodes/node_objects.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "api/device.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/node_annotations.h"
#include "api/node_resource_topology.h"
#include "api/resources.h"
#include "base/strings.h"
#include "kube/quantity.h"
#include "kube/resources.h"
#include "kube/time.h"
#include "localcluster/nodes/cpu_topology.h"
#include "model/cpu/shared_pools.h"

namespace koord::localcluster {
namespace {

using kube::Json;
using kube::Quantity;

constexpr int kLeaseSeconds = 40;
constexpr int64_t kDisk = int64_t{200} << 30;
constexpr std::string_view kVersion = "v1.35.0";

Quantity Bytes(int64_t bytes) { return Quantity(bytes, Quantity::Format::kBinarySi); }

Json OwnedByNode(const std::string& node, const std::string& uid) {
  return kube::json::array{Json{{"apiVersion", "v1"},
                                {"kind", "Node"},
                                {"name", node},
                                {"uid", uid},
                                {"controller", true},
                                {"blockOwnerDeletion", true}}};
}

Json Condition(std::string_view type, std::string_view status, std::string_view reason,
               std::string_view message, const std::string& now) {
  return {{"type", type},       {"status", status},         {"reason", reason},
          {"message", message}, {"lastHeartbeatTime", now}, {"lastTransitionTime", now}};
}

// A name that always gives the same number: for ids that real machines draw at random.
std::string IdFor(std::string_view purpose, std::string_view name) {
  uint64_t hash = 14695981039346656037u;
  for (std::string_view text : {purpose, name}) {
    for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  }
  const uint64_t other = hash * 0x9e3779b97f4a7c15 + 1;
  return fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", hash >> 32, hash >> 16 & 0xffff,
                     hash & 0xfff, other >> 52, other & 0xffffffffffff);
}

Json LabelsOf(const PlannedNode& node) {
  Json labels{{"beta.kubernetes.io/arch", "amd64"},
              {"beta.kubernetes.io/os", "linux"},
              {"kubernetes.io/arch", "amd64"},
              {"kubernetes.io/os", "linux"},
              {"kubernetes.io/hostname", node.name}};
  if (!node.zone.empty()) {
    labels.as_object()["topology.kubernetes.io/region"] = "local";
    labels.as_object()["topology.kubernetes.io/zone"] = node.zone;
  }
  for (const auto& [key, value] : node.shape.labels) labels.as_object()[key] = value;
  return labels;
}

Json ResourcesOf(const NodeShape& shape) {
  Json resources{{"cpu", std::to_string(shape.cpus)},
                 {"memory", Bytes(shape.memory).ToString()},
                 {"ephemeral-storage", Bytes(kDisk).ToString()},
                 {"hugepages-1Gi", "0"},
                 {"hugepages-2Mi", "0"},
                 {"pods", std::to_string(shape.pods)}};
  if (shape.gpus > 0) resources.as_object()[api::kNvidiaGpu] = std::to_string(shape.gpus);
  return resources;
}

Json TaintsOf(const NodeShape& shape) {
  kube::json::array taints;
  for (const NodeShape::Taint& taint : shape.taints) {
    kube::json::object object{{"key", taint.key}, {"effect", taint.effect}};
    if (!taint.value.empty()) object.emplace("value", taint.value);
    taints.push_back(std::move(object));
  }
  return taints;
}

api::ZoneResource Whole(std::string_view name, Quantity amount) {
  return {
      .name = std::string(name), .capacity = amount, .allocatable = amount, .available = amount};
}

Json TopologyAnnotations(const NodeShape& shape) {
  const model::CpuTopology topology = CpuTopologyOf(shape);
  // On an idle machine all CPUs are shared.
  const std::string pools = api::EncodeCpuSharedPools(model::SharedPoolsOf(topology, {}, {}));
  return {
      {api::kAnnotationCpuTopology, api::EncodeCpuTopology(topology.ToAnnotation())},
      {api::kAnnotationCpuSharedPools, pools},
      {api::kAnnotationBeCpuSharedPools, pools},
      {api::kAnnotationCpuBasicInfo, api::EncodeCpuBasicInfo({.cpu_model = "Simulated CPU",
                                                              .hyper_thread_enabled = shape.smt > 1,
                                                              .vendor_id = "GenuineIntel"})},
      {api::kAnnotationKubeletCpuManagerPolicy,
       api::EncodeKubeletCpuManagerPolicy({.policy = "none"})},
      {api::kAnnotationPodCpuAllocs, "null"},
      {api::kAnnotationNodeReservation, "{}"},
      {api::kAnnotationSystemQosResource, "null"}};
}

// Cards are spread over the NUMA nodes in order, two behind each PCIe switch.
api::DeviceInfo Gpu(const PlannedNode& node, int64_t minor) {
  const NodeShape& shape = node.shape;
  const int64_t numa = minor * shape.numa / shape.gpus;
  const int64_t socket = numa / (shape.numa / shape.sockets);
  api::DeviceInfo gpu;
  gpu.type = api::kDeviceGpu;
  gpu.id = "GPU-" + IdFor("gpu", fmt::format("{}/{}", node.name, minor));
  gpu.minor = static_cast<int32_t>(minor);
  gpu.health = true;
  gpu.resources.emplace(api::kGpuCore, Quantity(100));
  gpu.resources.emplace(api::kGpuMemory, Bytes(shape.gpu_memory));
  gpu.resources.emplace(api::kGpuMemoryRatio, Quantity(100));
  gpu.topology = api::DeviceTopology{.socket_id = static_cast<int32_t>(socket),
                                     .node_id = static_cast<int32_t>(numa),
                                     .pcie_id = fmt::format("pci{:04x}:{:02x}", 0, minor / 2 * 16),
                                     .bus_id = fmt::format("0000:{:02x}:00.0", minor + 1)};
  return gpu;
}

std::string ModelLabel(std::string_view model) {
  if (model.starts_with("NVIDIA ")) model.remove_prefix(7);
  std::string label(model);
  for (char& c : label) c = c == ' ' ? '-' : c;
  return label;
}

}  // namespace

std::string NodeAddress(uint32_t number) {
  return fmt::format("172.{}.{}.{}", 16 + (number >> 16 & 15), number >> 8 & 255, number & 255);
}

std::string PodRange(uint32_t number) {
  const uint32_t block = number % (1u << 14);
  return fmt::format("10.{}.{}.0/22", block >> 6, (block & 63) << 2);
}

std::optional<std::string> AddressIn(std::string_view range, uint32_t n) {
  const size_t slash = range.find('/');
  const auto length =
      slash == std::string_view::npos ? std::nullopt : ParseUint(range.substr(slash + 1));
  const std::vector<std::string_view> parts = Split(range.substr(0, slash), '.');
  if (!length || *length < 8 || *length > 30 || parts.size() != 4) return std::nullopt;
  uint32_t base = 0;
  for (std::string_view part : parts) {
    const auto octet = ParseUint(part);
    if (!octet || *octet > 255) return std::nullopt;
    base = base << 8 | static_cast<uint32_t>(*octet);
  }
  // The first address names the range, the last reaches all of it.
  const uint32_t size = 1u << (32 - *length);
  if (n == 0 || n >= size - 1) return std::nullopt;
  const uint32_t address = base + n;
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                     address & 255);
}

Json WorkingConditions(WallTime time) {
  const std::string now = kube::FormatTime(time);
  return kube::json::array{
      Condition("MemoryPressure", "False", "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available", now),
      Condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure",
                now),
      Condition("PIDPressure", "False", "KubeletHasSufficientPID",
                "kubelet has sufficient PID available", now),
      Condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", now)};
}

Json NodeObject(const PlannedNode& node, uint32_t number, WallTime now) {
  const std::string range = PodRange(number);
  Json object{{"metadata",
               {{"name", node.name},
                {"labels", LabelsOf(node)},
                {"annotations",
                 {{kShapeAnnotation, ToString(node.shape)},
                  {"volumes.kubernetes.io/controller-managed-attach-detach", "true"}}}}},
              {"spec",
               {{"podCIDR", range},
                {"podCIDRs", kube::json::array{range}},
                {"providerID", "koord://" + node.name}}},
              {"status",
               {{"capacity", ResourcesOf(node.shape)},
                {"allocatable", ResourcesOf(node.shape)},
                {"conditions", WorkingConditions(now)},
                {"addresses",
                 kube::json::array{Json{{"type", "InternalIP"}, {"address", NodeAddress(number)}},
                                   Json{{"type", "Hostname"}, {"address", node.name}}}},
                {"daemonEndpoints", {{"kubeletEndpoint", {{"Port", 10250}}}}},
                {"nodeInfo",
                 {{"machineID", IdFor("machine", node.name)},
                  {"systemUUID", IdFor("system", node.name)},
                  {"bootID", IdFor("boot", node.name)},
                  {"kernelVersion", "6.1.0-simulated"},
                  {"osImage", "Simulated node"},
                  {"containerRuntimeVersion", "simulated://1.0"},
                  {"kubeletVersion", kVersion},
                  {"kubeProxyVersion", ""},
                  {"operatingSystem", "linux"},
                  {"architecture", "amd64"}}}}}};
  if (!node.shape.taints.empty()) kube::At(object, {"spec", "taints"}) = TaintsOf(node.shape);
  return object;
}

Json ResourcesStatus(const NodeShape& shape) {
  return {{"status", {{"capacity", ResourcesOf(shape)}, {"allocatable", ResourcesOf(shape)}}}};
}

Json LeaseObject(const std::string& node, const std::string& node_uid, WallTime now) {
  const Json owner{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", node_uid}};
  return {{"metadata",
           {{"name", node},
            {"namespace", "kube-node-lease"},
            {"ownerReferences", kube::json::array{owner}}}},
          {"spec",
           {{"holderIdentity", node},
            {"leaseDurationSeconds", kLeaseSeconds},
            {"renewTime", kube::FormatMicroTime(now)}}}};
}

Json LeaseRenewal(const std::string& node, WallTime now) {
  return {{"spec",
           {{"holderIdentity", node},
            {"leaseDurationSeconds", kLeaseSeconds},
            {"renewTime", kube::FormatMicroTime(now)}}}};
}

Json TopologyObject(const PlannedNode& node, const std::string& node_uid) {
  kube::json::array zones;
  for (int64_t numa = 0; numa < node.shape.numa; ++numa) {
    api::TopologyZone zone{.name = fmt::format("node-{}", numa),
                           .type = std::string(api::kZoneTypeNode)};
    zone.resources.push_back(Whole("cpu", Quantity(node.shape.cpus / node.shape.numa)));
    zone.resources.push_back(Whole("memory", Bytes(node.shape.memory / node.shape.numa)));
    zones.push_back(kube::Encode(zone));
  }
  return {{"metadata",
           {{"name", node.name},
            {"labels", {{api::kLabelManagedBy, "Koordinator"}}},
            {"annotations", TopologyAnnotations(node.shape)},
            {"ownerReferences", OwnedByNode(node.name, node_uid)}}},
          {"topologyPolicies", kube::json::array{"None"}},
          {"zones", std::move(zones)}};
}

Json DeviceObject(const PlannedNode& node, const std::string& node_uid) {
  kube::json::array devices;
  for (int64_t minor = 0; minor < node.shape.gpus; ++minor) {
    devices.push_back(kube::Encode(Gpu(node, minor)));
  }
  return {{"metadata",
           {{"name", node.name},
            {"labels",
             {{api::kLabelGpuVendor, "nvidia"},
              {api::kLabelGpuModel, ModelLabel(node.shape.gpu_model)},
              {api::kLabelGpuDriverVersion, "550.54.15"}}},
            {"ownerReferences", OwnedByNode(node.name, node_uid)}}},
          {"spec", {{"devices", std::move(devices)}}}};
}

Json NodeMetricObject(const std::string& node, const std::string& node_uid) {
  return {{"metadata", {{"name", node}, {"ownerReferences", OwnedByNode(node, node_uid)}}},
          {"spec", kube::json::object{}}};
}

std::string ToString(const NodeShape& shape) {
  std::string text = fmt::format("cpu={},memory={},smt={},numa={},sockets={},gpu={},pods={}",
                                 shape.cpus, Bytes(shape.memory).ToString(), shape.smt, shape.numa,
                                 shape.sockets, shape.gpus, shape.pods);
  if (shape.gpus > 0) {
    text += fmt::format(",gpu-memory={},gpu-model={}", Bytes(shape.gpu_memory).ToString(),
                        shape.gpu_model);
  }
  return text;
}

}  // namespace koord::localcluster
