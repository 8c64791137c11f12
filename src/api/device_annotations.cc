#include "api/device_annotations.h"

#include "api/annotation_codec.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "base/strings.h"

namespace koord::api {

using kube::Annotations;

StatusOr<std::optional<DeviceAllocations>> DeviceAllocationsOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(std::optional<DeviceAllocations> allocations,
                   ReadAnnotation<DeviceAllocations>(annotations, kAnnotationDeviceAllocated));
  if (!allocations) return allocations;
  for (auto& [type, devices] : *allocations) {
    for (DeviceAllocation& device : devices) RenameDeprecatedDeviceResources(device.resources);
  }
  return allocations;
}

std::string EncodeDeviceAllocations(const DeviceAllocations& allocations) {
  kube::Json json = kube::Encode(allocations);
  // Unlike in Device objects, the first virtual function has no number here.
  for (auto& [type, devices] : json.as_object()) {
    for (kube::Json& device : devices.as_array()) {
      kube::Json* const functions = kube::Find(device, {"extension", "vfs"});
      if (functions == nullptr) continue;
      for (kube::Json& function : functions->as_array()) {
        if (kube::Find(function, {"minor"})->to_number<int64_t>() == 0) {
          function.as_object().erase("minor");
        }
      }
    }
  }
  return WriteAnnotationJson(json);
}

StatusOr<std::optional<DeviceAllocateHint>> DeviceAllocateHintOf(const Annotations& annotations) {
  return ReadAnnotation<DeviceAllocateHint>(annotations, kAnnotationDeviceAllocateHint);
}

int TopologyScopeLevel(std::string_view scope) {
  if (scope == "Device") return 4;
  if (scope == "PCIe") return 3;
  if (scope == "NUMANode") return 2;
  return scope == "Node" ? 1 : 0;
}

StatusOr<std::optional<DeviceJointAllocate>> DeviceJointAllocateOf(const Annotations& annotations) {
  return ReadAnnotation<DeviceJointAllocate>(annotations, kAnnotationDeviceJointAllocate);
}

StatusOr<std::optional<GpuPartitionSpec>> GpuPartitionSpecOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(std::optional<GpuPartitionSpec> spec,
                   ReadAnnotation<GpuPartitionSpec>(annotations, kAnnotationGpuPartitionSpec));
  if (spec && spec->allocate_policy.empty()) spec->allocate_policy = "BestEffort";
  return spec;
}

StatusOr<std::optional<GpuPartitions>> GpuPartitionsOf(const Annotations& annotations) {
  using BySizeText = std::map<std::string, std::vector<GpuPartition>, std::less<>>;
  const std::string_view text = kube::ValueOf(annotations, kAnnotationGpuPartitions);
  if (text.empty()) return std::optional<GpuPartitions>();
  if (Trim(text) == "null") return InvalidArgument("invalid gpu partitions in device cr: null");
  ASSIGN_OR_RETURN(std::optional<BySizeText> by_text,
                   ReadAnnotation<BySizeText>(annotations, kAnnotationGpuPartitions));
  GpuPartitions partitions;
  for (auto& [size, listed] : *by_text) {
    const std::optional<int64_t> number = ParseInt(size);
    if (!number || *number < 0 || *number > INT32_MAX) {
      return InvalidArgument("annotation {}: expected a number of GPUs, found {}",
                             kAnnotationGpuPartitions, Quote(size, 64));
    }
    partitions.emplace(static_cast<int>(*number), std::move(listed));
  }
  return std::optional(std::move(partitions));
}

bool HonorsGpuPartitions(const kube::Labels& labels) {
  return kube::ValueOf(labels, kLabelGpuPartitionPolicy) == "Honor";
}

std::optional<bool> IsSecondaryDeviceWellPlanned(const kube::Labels& device_labels) {
  const std::string_view value = kube::ValueOf(device_labels, kLabelSecondaryDeviceWellPlanned);
  if (value == "true") return true;
  if (value == "false") return false;
  return std::nullopt;
}

}  // namespace koord::api
