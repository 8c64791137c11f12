#pragma once
#include <string_view>
#include <vector>

#include "api/device_annotations.h"
#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

// Whether the node's Device object has the devices of this type that a pod says it was given:
// minor, id and virtual functions. Pods could name any otherwise, and be given them by root.
Status CheckDevices(const HookEnv& env, std::string_view type,
                    const std::vector<api::DeviceAllocation>& allocations);

}  // namespace koord::koordlet::hooks
