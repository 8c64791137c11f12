#include "koordlet/hooks/rdma_device/rdma_device.h"

#include <vector>

#include "api/device_annotations.h"
#include "base/strings.h"
#include "koordlet/hooks/engine/device_check.h"

namespace koord::koordlet::hooks {
namespace {

bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::vector<std::string> AddressesOf(const std::vector<api::DeviceAllocation>& cards) {
  std::vector<std::string> addresses;
  for (const api::DeviceAllocation& card : cards) {
    if (!card.extension || card.extension->vfs.empty()) {
      addresses.push_back(card.id);
      continue;
    }
    for (const api::VirtualFunction& function : card.extension->vfs) {
      addresses.push_back(function.bus_id);
    }
  }
  return addresses;
}

}  // namespace

bool IsPciAddress(std::string_view text) {
  constexpr std::string_view kShape = "hhhh:hh:hh.o";
  if (text.size() != kShape.size()) return false;
  for (size_t i = 0; i < kShape.size(); ++i) {
    switch (kShape[i]) {
      case 'h':
        if (!IsHex(text[i])) return false;
        break;
      case 'o':
        if (text[i] < '0' || text[i] > '7') return false;
        break;
      default:
        if (text[i] != kShape[i]) return false;
    }
  }
  return true;
}

StatusOr<HookDevice> RdmaDevice::CharacterDevice(std::string_view name,
                                                 const std::string& sys_path) const {
  ASSIGN_OR_RETURN(const std::string text, env_.host.sys().Read(sys_path));
  const std::vector<std::string_view> numbers = Split(Trim(text), ':');
  const auto major = numbers.size() == 2 ? ParseInt(numbers[0]) : std::nullopt;
  const auto minor = numbers.size() == 2 ? ParseInt(numbers[1]) : std::nullopt;
  if (!major || !minor) return InvalidArgument("{} is {}, expected 1:2", sys_path, Quote(text));
  return HookDevice{.path = fmt::format("/dev/infiniband/{}", name),
                    .major = *major,
                    .minor = *minor,
                    .mode = 0666};
}

StatusOr<HookDevice> RdmaDevice::VerbsDevice(std::string_view pci_address) const {
  if (!IsPciAddress(pci_address)) {
    return InvalidArgument("device-allocated has {}, expected a PCI address like 0000:1f:00.2",
                           Quote(pci_address));
  }
  const std::string dir = fmt::format("bus/pci/devices/{}/infiniband_verbs", pci_address);
  ASSIGN_OR_RETURN(const auto entries, env_.host.sys().List(dir));
  for (const FileTree::Entry& entry : entries) {
    if (!entry.name.starts_with("uverbs")) continue;
    return CharacterDevice(entry.name, fmt::format("{}/{}/dev", dir, entry.name));
  }
  return NotFound("{} has no verbs device", pci_address);
}

Status RdmaDevice::OnContainer(HookStage, const HookContainer& container, ContainerResult& result) {
  const HookPod& pod = *container.pod;
  if (container.is_sandbox || pod.mode == HookMode::kReconciler) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto allocations, api::DeviceAllocationsOf(pod.annotations));
  if (!allocations) return absl::OkStatus();
  const auto cards = allocations->find(api::kDeviceRdma);
  if (cards == allocations->end() || cards->second.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckDevices(env_, api::kDeviceRdma, cards->second));

  std::vector<HookDevice> devices;
  ASSIGN_OR_RETURN(devices.emplace_back(), CharacterDevice("rdma_cm", "class/misc/rdma_cm/dev"));
  for (const std::string& address : AddressesOf(cards->second)) {
    ASSIGN_OR_RETURN(devices.emplace_back(), VerbsDevice(address));
  }
  result.devices.insert(result.devices.end(), devices.begin(), devices.end());
  return absl::OkStatus();
}

}  // namespace koord::koordlet::hooks
