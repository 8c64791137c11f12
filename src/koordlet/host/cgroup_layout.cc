#include "koordlet/host/cgroup_layout.h"

#include <algorithm>
#include <array>

#include "api/qos.h"
#include "base/strings.h"

namespace koord::koordlet {
namespace {

struct Runtime {
  std::string_view protocol;
  std::string_view scope_prefix;  // of systemd's unit
};
constexpr std::array<Runtime, 4> kRuntimes = {{
    {"docker", "docker-"},
    {"containerd", "cri-containerd-"},
    {"pouch", "pouch-"},
    {"cri-o", "crio-"},
}};

const Runtime* FindRuntime(std::string_view protocol) {
  const auto it = std::ranges::find(kRuntimes, protocol, &Runtime::protocol);
  return it == kRuntimes.end() ? nullptr : &*it;
}

// One component of a path: it can neither leave its directory nor name another one below it.
bool IsName(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         text.find_first_of(std::string_view("/\0\n", 3)) == text.npos;
}

std::string Below(std::string_view dir, std::string_view name) {
  return dir.empty() ? std::string(name) : fmt::format("{}/{}", dir, name);
}

// "a//b/" as "a/b"; users write slashes wherever they like, but may not climb out.
Status AppendPath(std::string& dir, std::string_view path) {
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (!IsName(part)) {
      return InvalidArgument("{} is no path below a cgroup: expected names separated by slashes",
                             Quote(path));
    }
    dir = Below(dir, part);
  }
  return absl::OkStatus();
}

std::string DirOfHostQos(std::string_view qos) {
  switch (api::ParseQosClass(qos)) {
    case api::QosClass::kLse:
    case api::QosClass::kLsr:
    case api::QosClass::kLs:
      return "host-latency-sensitive";
    case api::QosClass::kBe:
      return "host-best-effort";
    case api::QosClass::kSystem:
    case api::QosClass::kNone:
      break;
  }
  return "";
}

StatusOr<std::string> BaseDir(const CgroupLayout& layout, std::string_view base) {
  if (base == "CgroupRoot") return "";
  if (base == "Kubepods") return layout.QosDir(kube::PodQos::kGuaranteed);
  if (base == "KubepodsBurstable") return layout.QosDir(kube::PodQos::kBurstable);
  if (base == "KubepodsBesteffort") return layout.QosDir(kube::PodQos::kBestEffort);
  return InvalidArgument(
      "cgroupPath.base is {}: expected CgroupRoot, Kubepods, KubepodsBurstable or "
      "KubepodsBesteffort",
      Quote(base));
}

}  // namespace

StatusOr<ContainerId> ParseContainerId(std::string_view text) {
  const size_t separator = text.find("://");
  if (separator == text.npos || !IsName(text.substr(separator + 3))) {
    return InvalidArgument("parse container id {} failed: expected <runtime>://<id>", Quote(text));
  }
  const std::string_view runtime = text.substr(0, separator);
  if (FindRuntime(runtime) == nullptr) {
    return InvalidArgument("unknown container protocol {} of {}", Quote(runtime), Quote(text));
  }
  return ContainerId{std::string(runtime), std::string(text.substr(separator + 3))};
}

std::string CgroupLayout::QosDir(kube::PodQos qos) const {
  const bool systemd = driver == CgroupDriver::kSystemd;
  switch (qos) {
    case kube::PodQos::kGuaranteed:
      return systemd ? "kubepods.slice" : "kubepods";
    case kube::PodQos::kBurstable:
      return systemd ? "kubepods.slice/kubepods-burstable.slice" : "kubepods/burstable";
    case kube::PodQos::kBestEffort:
      break;
  }
  return systemd ? "kubepods.slice/kubepods-besteffort.slice" : "kubepods/besteffort";
}

std::string CgroupLayout::PodDir(kube::PodQos qos, std::string_view uid) const {
  const std::string parent = QosDir(qos);
  if (driver == CgroupDriver::kCgroupfs) return fmt::format("{}/pod{}", parent, uid);
  // systemd takes a dash in a slice's name for a level of the tree.
  std::string escaped(uid);
  std::ranges::replace(escaped, '-', '_');
  std::string_view slice = parent;
  slice.remove_prefix(slice.rfind('/') + 1);
  slice.remove_suffix(std::string_view(".slice").size());
  return fmt::format("{}/{}-pod{}.slice", parent, slice, escaped);
}

StatusOr<std::string> CgroupLayout::ContainerDir(std::string_view pod_dir,
                                                 std::string_view container_id) const {
  ASSIGN_OR_RETURN(const ContainerId container, ParseContainerId(container_id));
  if (driver == CgroupDriver::kCgroupfs) return Below(pod_dir, container.id);
  const std::string_view prefix = FindRuntime(container.runtime)->scope_prefix;
  return Below(pod_dir, fmt::format("{}{}.scope", prefix, container.id));
}

StatusOr<std::string> CgroupLayout::HostApplicationDir(
    const api::HostApplication& application) const {
  if (!application.cgroup_path) {
    if (!IsName(application.name)) {
      return InvalidArgument("the name of host application {} names no cgroup",
                             Quote(application.name));
    }
    return Below(DirOfHostQos(application.qos), application.name);
  }
  const api::CgroupPath& path = *application.cgroup_path;
  ASSIGN_OR_RETURN(std::string dir, BaseDir(*this, path.base));
  RETURN_IF_ERROR(AppendPath(dir, path.parent_dir));
  RETURN_IF_ERROR(AppendPath(dir, path.relative_path));
  return dir;
}

kube::PodQos QosOfDir(std::string_view dir) {
  if (dir.find("besteffort") != dir.npos) return kube::PodQos::kBestEffort;
  if (dir.find("burstable") != dir.npos) return kube::PodQos::kBurstable;
  return kube::PodQos::kGuaranteed;
}

}  // namespace koord::koordlet
