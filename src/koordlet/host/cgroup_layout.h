#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "api/qos_strategy.h"
#include "base/status.h"
#include "koordlet/host/cgroup_dir.h"
#include "kube/objects/pod_resources.h"

// Where the cgroups of pods and containers are.
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

  CgroupDir QosDir(kube::PodQos qos) const;
  CgroupDir PodDir(kube::PodQos qos, std::string_view uid) const;
  // Below its pod's directory.
  StatusOr<CgroupDir> ContainerDir(const CgroupDir& pod_dir, std::string_view container_id) const;
  StatusOr<CgroupDir> HostApplicationDir(const api::HostApplication& application) const;

  bool operator==(const CgroupLayout&) const = default;
};

// Of any directory below kubepods.
kube::PodQos QosOfDir(const CgroupDir& dir);

}  // namespace koord::koordlet
