#pragma once
#include <string>
#include <string_view>

#include "api/device_annotations.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/objects/pod.h"

namespace koord::scheduler {

// What the device plugins of vendors want to read of a pod that was given cards, in their own
// formats, so that they hand out the same ones.
struct DevicePluginNotes {
  kube::Annotations annotations;
  kube::Labels labels;
  std::string lock;  // annotation of the Node by which one pod at a time is let in; "": none
};

// `vendor` and `model` as the Device object says. Errors are what the pod is told.
StatusOr<DevicePluginNotes> NotesForDevicePlugin(const kube::Pod& pod, const std::string& node,
                                                 const api::DeviceAllocations& allocations,
                                                 std::string_view vendor, std::string_view model,
                                                 WallTime now);

// "<time>,<namespace>,<pod>"
struct NodeLock {
  WallTime at;
  std::string ns, pod;
};
std::string ToString(const NodeLock& lock);
StatusOr<NodeLock> ParseNodeLock(std::string_view text);
inline constexpr Duration kNodeLockLasts = std::chrono::minutes(5);

// Of a vendor's device plugin.
Status AdaptionError(std::string_view vendor, std::string_view what);

}  // namespace koord::scheduler
