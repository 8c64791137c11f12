#include "manager/noderesource/gpu/gpu.h"

#include "api/extended_resources.h"
#include "api/keys.h"
#include "kube/objects/resource_list.h"

namespace koord::manager {
namespace {

using kube::Quantity;

constexpr std::string_view kPublished[] = {
    api::kGpu,       api::kGpuCore,       api::kGpuMemory,    api::kGpuMemoryRatio,
    api::kGpuShared, api::kHuaweiNpuCore, api::kHuaweiNpuCpu, api::kHuaweiNpuDvpp};
constexpr int64_t kWholeCard = 100;

struct CopiedLabel {
  std::string_view from, to;
};
constexpr CopiedLabel kCopiedLabels[] = {
    {api::kLabelGpuVendor, api::kLabelGpuVendor},
    {api::kLabelGpuModel, api::kLabelGpuModel},
    {api::kLabelGpuModel, api::kLabelDeprecatedGpuModel},
    {api::kLabelGpuDriverVersion, api::kLabelGpuDriverVersion},
    {api::kLabelGpuDriverVersion, api::kLabelDeprecatedGpuDriver}};

kube::ResourceList SumOf(const api::Device& device, bool share_gpus) {
  kube::ResourceList sum;
  int64_t healthy = 0;
  for (const api::DeviceInfo& each : device.spec.devices) {
    if (each.type != api::kDeviceGpu || !each.health) continue;
    kube::AddTo(sum, each.resources);
    ++healthy;
  }
  if (healthy == 0) return {};
  const std::string_view vendor = kube::ValueOf(device.metadata.labels, api::kLabelGpuVendor);
  if (vendor.empty() || vendor == "nvidia") {
    sum.insert_or_assign(std::string(api::kGpu), kube::AmountOf(sum, api::kGpuCore));
  }
  if (share_gpus) {
    sum.insert_or_assign(std::string(api::kGpuShared), Quantity(healthy * kWholeCard));
  }
  return sum;
}

}  // namespace

NodePlan PlanGpu(const api::Device* device, bool share_gpus) {
  NodePlan plan;
  const kube::ResourceList sum =
      device != nullptr ? SumOf(*device, share_gpus) : kube::ResourceList{};
  for (const std::string_view name : kPublished) {
    const auto amount = sum.find(name);
    if (amount != sum.end()) {
      plan.resources.emplace(name, amount->second);
    } else if (sum.empty()) {
      plan.resources.emplace(name, std::nullopt);
    }
  }
  if (sum.empty()) return plan;
  for (const CopiedLabel& label : kCopiedLabels) {
    const std::string* value = kube::FindValue(device->metadata.labels, label.from);
    if (value != nullptr) plan.labels.insert_or_assign(std::string(label.to), *value);
  }
  return plan;
}

}  // namespace koord::manager
