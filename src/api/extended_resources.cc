#include "api/extended_resources.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace koord::api {
namespace {

using kube::Quantity;
using kube::ResourceList;
using Renaming = std::pair<std::string_view, std::string_view>;

constexpr std::array kDeprecatedBatchNames{
    Renaming{"koordinator.sh/batch-cpu", kBatchCpu},
    Renaming{"koordinator.sh/batch-memory", kBatchMemory},
};

constexpr std::array kDeprecatedDeviceNames{
    Renaming{"kubernetes.io/rdma", kRdma},
    Renaming{"kubernetes.io/fpga", kFpga},
    Renaming{"kubernetes.io/gpu", kGpu},
    Renaming{"kubernetes.io/gpu-core", kGpuCore},
    Renaming{"kubernetes.io/gpu-memory", kGpuMemory},
    Renaming{"kubernetes.io/gpu-memory-ratio", kGpuMemoryRatio},
};

void Rename(ResourceList& resources, std::span<const Renaming> names) {
  for (const auto& [from, to] : names) {
    const auto found = resources.find(from);
    if (found == resources.end() || resources.contains(to)) continue;
    auto entry = resources.extract(found);
    entry.key() = std::string(to);
    resources.insert(std::move(entry));
  }
}

bool WouldRename(const ResourceList& resources, std::span<const Renaming> names) {
  // Nearly all lists hold plain names only; the deprecated ones are of kubernetes.io and
  // koordinator.sh.
  const auto may_be = [](const auto& entry) { return entry.first.starts_with('k'); };
  if (std::ranges::none_of(resources, may_be)) return false;
  return std::ranges::any_of(names, [&](const Renaming& name) {
    return resources.contains(name.first) && !resources.contains(name.second);
  });
}

bool WouldRenameAny(const ResourceList& resources) {
  return HasDeprecatedBatchResources(resources) || HasDeprecatedDeviceResources(resources);
}

void RenameAll(ResourceList& resources) {
  RenameDeprecatedBatchResources(resources);
  RenameDeprecatedDeviceResources(resources);
}

}  // namespace

std::string_view TranslateResource(PriorityBand band, std::string_view resource) {
  const bool is_cpu = resource == kube::kCpu;
  if (!is_cpu && resource != kube::kMemory) return resource;
  switch (band) {
    case PriorityBand::kNone:
    case PriorityBand::kProd:
      break;
    case PriorityBand::kMid:
      return is_cpu ? kMidCpu : kMidMemory;
    case PriorityBand::kBatch:
      return is_cpu ? kBatchCpu : kBatchMemory;
    case PriorityBand::kFree:
      return "";
  }
  return resource;
}

void TranslateResources(PriorityBand band, ResourceList& resources) {
  for (const std::string_view name : {kube::kCpu, kube::kMemory}) {
    const std::string_view translated = TranslateResource(band, name);
    const auto found = resources.find(name);
    if (translated.empty() || translated == name || found == resources.end()) continue;
    Quantity amount = found->second;
    if (name == kube::kCpu) amount = Quantity(amount.MilliValue());
    resources.erase(found);
    resources.insert_or_assign(std::string(translated), std::move(amount));
  }
}

void RenameDeprecatedBatchResources(ResourceList& resources) {
  Rename(resources, kDeprecatedBatchNames);
}

void RenameDeprecatedDeviceResources(ResourceList& resources) {
  Rename(resources, kDeprecatedDeviceNames);
}

bool HasDeprecatedBatchResources(const ResourceList& resources) {
  return WouldRename(resources, kDeprecatedBatchNames);
}

bool HasDeprecatedDeviceResources(const ResourceList& resources) {
  return WouldRename(resources, kDeprecatedDeviceNames);
}

bool HasDeprecatedResources(const kube::PodSpec& pod) {
  for (const auto* containers : {&pod.containers, &pod.init_containers}) {
    for (const kube::Container& container : *containers) {
      if (WouldRenameAny(container.resources.requests)) return true;
      if (WouldRenameAny(container.resources.limits)) return true;
    }
  }
  return WouldRenameAny(pod.overhead);
}

void RenameDeprecatedResources(kube::PodSpec& pod) {
  for (auto* containers : {&pod.containers, &pod.init_containers}) {
    for (kube::Container& container : containers->Mutable()) {
      RenameAll(container.resources.requests);
      RenameAll(container.resources.limits);
    }
  }
  RenameAll(pod.overhead.Mutable());
}

}  // namespace koord::api
