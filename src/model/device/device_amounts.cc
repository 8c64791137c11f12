#include "model/device/device_amounts.h"

#include <algorithm>

#include "api/device.h"
#include "api/extended_resources.h"

namespace koord::model {
namespace {

constexpr std::array<std::string_view, kDeviceTypes> kTypeNames{api::kDeviceFpga, api::kDeviceGpu,
                                                                api::kDeviceRdma};
constexpr std::array<std::string_view, kDeviceResources> kResourceNames{
    api::kGpuCore,      api::kGpuMemory,     api::kGpuMemoryRatio, api::kHuaweiNpuCore,
    api::kHuaweiNpuCpu, api::kHuaweiNpuDvpp, api::kRdma,           api::kFpga};

template <class Enum, size_t n>
std::optional<Enum> Parse(const std::array<std::string_view, n>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return {};
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view ToString(DeviceType type) { return kTypeNames[static_cast<size_t>(type)]; }

std::optional<DeviceType> ParseDeviceType(std::string_view name) {
  return Parse<DeviceType>(kTypeNames, name);
}

std::string_view ToString(DeviceResource resource) {
  return kResourceNames[static_cast<size_t>(resource)];
}

std::optional<DeviceResource> ParseDeviceResource(std::string_view name) {
  return Parse<DeviceResource>(kResourceNames, name);
}

void DeviceAmounts::Add(const DeviceAmounts& more, int64_t sign) {
  for (size_t i = 0; i < kDeviceResources; ++i) amounts_[i] += sign * more.amounts_[i];
  listed_ |= more.listed_;
}

DeviceAmounts DeviceAmounts::Less(const DeviceAmounts& used) const {
  DeviceAmounts left;
  for (size_t i = 0; i < kDeviceResources; ++i) {
    left.amounts_[i] = std::max<int64_t>(0, amounts_[i] - used.amounts_[i]);
  }
  left.listed_ = listed_ | used.listed_;
  return left;
}

DeviceAmounts DeviceAmounts::AtMost(const DeviceAmounts& limit) const {
  DeviceAmounts least;
  least.listed_ = listed_ & limit.listed_;
  for (size_t i = 0; i < kDeviceResources; ++i) {
    if ((least.listed_ >> i & 1) != 0) {
      least.amounts_[i] = std::min(amounts_[i], limit.amounts_[i]);
    }
  }
  return least;
}

DeviceAmounts DeviceAmounts::AtLeast(const DeviceAmounts& other) const {
  DeviceAmounts most;
  most.listed_ = listed_ | other.listed_;
  for (size_t i = 0; i < kDeviceResources; ++i) {
    most.amounts_[i] = std::max(amounts_[i], other.amounts_[i]);
  }
  return most;
}

void DeviceAmounts::DropZeros() {
  for (size_t i = 0; i < kDeviceResources; ++i) {
    if (amounts_[i] == 0) listed_ &= static_cast<uint8_t>(~(1U << i));
  }
}

DeviceAmounts DeviceAmountsIn(const kube::ResourceList& list) {
  DeviceAmounts amounts;
  for (const auto& [name, quantity] : list) {
    if (const auto resource = ParseDeviceResource(name)) amounts.Set(*resource, quantity.Value());
  }
  return amounts;
}

kube::Quantity DeviceQuantity(DeviceResource resource, int64_t amount) {
  using Format = kube::Quantity::Format;
  return kube::Quantity(
      amount, resource == DeviceResource::kGpuMemory ? Format::kBinarySi : Format::kDecimalSi);
}

kube::ResourceList ToResourceList(const DeviceAmounts& amounts) {
  kube::ResourceList list;
  amounts.ForEach([&](DeviceResource resource, int64_t amount) {
    list[std::string(ToString(resource))] = DeviceQuantity(resource, amount);
  });
  return list;
}

}  // namespace koord::model
