#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "api/qos_strategy.h"
#include "base/status.h"
#include "kube/objects/pod_resources.h"

// Where the cgroups of pods and containers are. Directories are relative to the root of the
// hierarchy (of every subsystem, in version 1), without slashes at either end.
namespace koord::koordlet {

enum class CgroupVersion : uint8_t { kV1, kV2 };
enum class CgroupDriver : uint8_t { kSystemd, kCgroupfs };

// "containerd://1a2b": who runs a container, and how that one calls it.
struct ContainerId {
  std::string runtime;
  std::string id;
};
StatusOr<ContainerId> ParseContainerId(std::string_view text);

struct CgroupLayout {
  CgroupVersion version = CgroupVersion::kV1;
  CgroupDriver driver = CgroupDriver::kSystemd;

  std::string QosDir(kube::PodQos qos) const;
  std::string PodDir(kube::PodQos qos, std::string_view uid) const;
  // Below its pod's directory.
  StatusOr<std::string> ContainerDir(std::string_view pod_dir, std::string_view container_id) const;
  StatusOr<std::string> HostApplicationDir(const api::HostApplication& application) const;

  bool operator==(const CgroupLayout&) const = default;
};

// Of any directory below kubepods.
kube::PodQos QosOfDir(std::string_view dir);

}  // namespace koord::koordlet
