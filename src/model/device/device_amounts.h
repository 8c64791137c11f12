#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kube/objects/resource_list.h"

namespace koord::model {

// The kinds of devices that pods can ask for, by ascending name.
enum class DeviceType : uint8_t { kFpga, kGpu, kRdma };
inline constexpr size_t kDeviceTypes = 3;
inline constexpr std::array<DeviceType, kDeviceTypes> kAllDeviceTypes{
    DeviceType::kFpga, DeviceType::kGpu, DeviceType::kRdma};

std::string_view ToString(DeviceType type);
std::optional<DeviceType> ParseDeviceType(std::string_view name);

// What devices are made of. Percent of a device, but for memory (bytes) and what NPUs count.
enum class DeviceResource : uint8_t {
  kGpuCore,
  kGpuMemory,
  kGpuMemoryRatio,
  kNpuCore,
  kNpuCpu,
  kNpuDvpp,
  kRdma,
  kFpga,
};
inline constexpr size_t kDeviceResources = 8;

std::string_view ToString(DeviceResource resource);
std::optional<DeviceResource> ParseDeviceResource(std::string_view name);

// Amounts of them. It makes a difference whether one is listed with zero or not at all: what a
// device does not list it is not asked for.
class DeviceAmounts {
 public:
  constexpr bool Has(DeviceResource resource) const {
    return (listed_ >> Index(resource) & 1) != 0;
  }
  constexpr int64_t Get(DeviceResource resource) const { return amounts_[Index(resource)]; }
  constexpr void Set(DeviceResource resource, int64_t amount) {
    amounts_[Index(resource)] = amount;
    listed_ |= static_cast<uint8_t>(1U << Index(resource));
  }
  void Remove(DeviceResource resource) {
    amounts_[Index(resource)] = 0;
    listed_ &= static_cast<uint8_t>(~(1U << Index(resource)));
  }
  constexpr bool empty() const { return listed_ == 0; }
  // None, or none but zeros.
  bool IsZero() const {
    for (const int64_t amount : amounts_) {
      if (amount != 0) return false;
    }
    return true;
  }
  // Of what both list, no more than there is.
  bool FitsIn(const DeviceAmounts& free) const {
    for (unsigned both = listed_ & free.listed_; both != 0; both &= both - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(both));
      if (amounts_[i] > free.amounts_[i]) return false;
    }
    return true;
  }
  void Add(const DeviceAmounts& more, int64_t sign = 1);
  // What is left of it, not below zero; what only `used` lists is listed with zero.
  DeviceAmounts Less(const DeviceAmounts& used) const;
  // Of what both list the smaller amount.
  DeviceAmounts AtMost(const DeviceAmounts& limit) const;
  // Of each the larger amount.
  DeviceAmounts AtLeast(const DeviceAmounts& other) const;
  void DropZeros();

  template <class F>
  void ForEach(F f) const {
    for (unsigned rest = listed_; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(rest));
      f(static_cast<DeviceResource>(i), amounts_[i]);
    }
  }
  constexpr bool operator==(const DeviceAmounts&) const = default;

 private:
  static constexpr size_t Index(DeviceResource resource) { return static_cast<size_t>(resource); }

  std::array<int64_t, kDeviceResources> amounts_{};
  uint8_t listed_ = 0;  // bits, by resource
};

// Names that are no device resources are left out.
DeviceAmounts DeviceAmountsIn(const kube::ResourceList& list);
kube::Quantity DeviceQuantity(DeviceResource resource, int64_t amount);
kube::ResourceList ToResourceList(const DeviceAmounts& amounts);

}  // namespace koord::model
