#include "scheduler/plugins/device_share/pod_devices.h"

#include <algorithm>
#include <array>

#include "api/extended_resources.h"
#include "api/keys.h"

namespace koord::scheduler {
namespace {

using enum model::DeviceResource;
using model::DeviceType;

constexpr std::array kNames{api::kNvidiaGpu,     api::kAmdGpu,         api::kDcuGpu,
                            api::kGpu,           api::kGpuShared,      api::kGpuCore,
                            api::kGpuMemory,     api::kGpuMemoryRatio, api::kRdma,
                            api::kHuaweiNpuCore, api::kHuaweiNpuCpu,   api::kHuaweiNpuDvpp,
                            api::kFpga};

// Only cards, any that fit: which ones are taken makes no difference to whether there are any.
PodDevices::Quick QuickFor(const model::DeviceRequests& requests) {
  const auto& cards = requests.of(DeviceType::kGpu);
  if (!cards || requests.of(DeviceType::kRdma) || requests.of(DeviceType::kFpga)) {
    return PodDevices::Quick::kNo;
  }
  if (cards->selector || cards->function_selector || requests.required_scope > 0 ||
      requests.partition || requests.templates) {
    return PodDevices::Quick::kNo;
  }
  bool by_percent = true;
  cards->per_device.ForEach([&](model::DeviceResource resource, int64_t amount) {
    by_percent =
        by_percent && (resource == kGpuCore || resource == kGpuMemoryRatio) && amount <= UINT8_MAX;
  });
  if (!by_percent) return PodDevices::Quick::kNo;
  return requests.is_shared ? PodDevices::Quick::kShares : PodDevices::Quick::kWholeCards;
}

}  // namespace

PodDevicesReader::PodDevicesReader(ResourceNames& names, const DeviceShareArgs& args)
    : names_(names), some_refuse_shares_(!args.gpu_share_unsupported_models.empty()) {
  for (const std::string_view name : kNames) {
    const ResourceId id = names.Intern(name);
    if (id >= is_device_.size()) is_device_.resize(id + 1);
    is_device_[id] = 1;
  }
  for (const std::string& name : args.gpu_shared_resource_templates_config->matched_resources) {
    if (const auto resource = model::ParseDeviceResource(name)) templated_.push_back(*resource);
  }
}

bool PodDevicesReader::AsksForDevices(const PodShape& shape) const {
  return std::ranges::any_of(shape.requests, [&](const ResourceAmount& each) {
    return each.id < is_device_.size() && is_device_[each.id] != 0;
  });
}

std::unique_ptr<PodDevices> PodDevicesReader::Read(const PodShape& shape) const {
  if (!AsksForDevices(shape)) return nullptr;
  kube::ResourceList list;
  for (const ResourceAmount& each : shape.requests) {
    if (each.id < is_device_.size() && is_device_[each.id] != 0) {
      list[names_.NameOf(each.id)] = kube::Quantity(each.amount);
    }
  }
  auto pod = std::make_unique<PodDevices>();
  auto requests = model::DeviceRequestsOf(list, shape.sample->metadata.annotations,
                                          {.templated = templated_, .templates = &templates_});
  if (!requests.ok()) {
    pod->verdict = Verdict::Unresolvable(std::string(Message(requests.status())));
    return pod;
  }
  pod->requests = std::move(*requests);
  pod->isolation_provider = kube::ValueOf(shape.labels(), api::kLabelGpuIsolationProvider);
  pod->may_be_refused =
      pod->requests.is_shared && (some_refuse_shares_ || !pod->isolation_provider.empty());
  pod->quick = QuickFor(pod->requests);
  if (pod->quick != PodDevices::Quick::kNo) {
    const model::DeviceAmounts& each = pod->requests.of(DeviceType::kGpu)->per_device;
    pod->core = static_cast<uint8_t>(each.Get(kGpuCore));
    pod->ratio = static_cast<uint8_t>(each.Get(kGpuMemoryRatio));
  }
  return pod;
}

}  // namespace koord::scheduler
