#pragma once
#include <string>
#include <string_view>

#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

// domain:bus:device.function, "0000:1f:00.2": nothing else may become part of a path.
bool IsPciAddress(std::string_view text);

// Gives containers the devices of the network cards that they were given for RDMA.
//
// For each virtual function of the allocation, or else for the card itself, the character device
// that belongs to its PCI address, and the connection manager. Only NRI can carry devices.
class RdmaDevice final : public HookPlugin {
 public:
  explicit RdmaDevice(const HookEnv& env) : env_(env) {}

  std::string_view name() const override { return "rdma device inject"; }
  HookStages stages() const override { return {HookStage::kPreCreateContainer}; }

  Status OnContainer(HookStage stage, const HookContainer& container,
                     ContainerResult& result) override;

 private:
  StatusOr<HookDevice> VerbsDevice(std::string_view pci_address) const;
  StatusOr<HookDevice> CharacterDevice(std::string_view name, const std::string& sys_path) const;

  const HookEnv& env_;
};

}  // namespace koord::koordlet::hooks
