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

// "a//b/" as "a/b"; users write slashes wherever they like, but may not climb out.
Status AppendPath(CgroupDir& dir, std::string_view path) {
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (!IsName(part)) {
      return InvalidArgument("{} is no path below a cgroup: expected names separated by slashes",
                             Quote(path));
    }
    dir = dir.Below(part);
  }
  return absl::OkStatus();
}

CgroupDir DirOfHostQos(std::string_view qos) {
  switch (api::ParseQosClass(qos)) {
    case api::QosClass::kLse:
    case api::QosClass::kLsr:
    case api::QosClass::kLs:
      return CgroupDir::At("host-latency-sensitive");
    case api::QosClass::kBe:
      return CgroupDir::At("host-best-effort");
    case api::QosClass::kSystem:
    case api::QosClass::kNone:
      break;
  }
  return {};
}

StatusOr<CgroupDir> BaseDir(const CgroupLayout& layout, std::string_view base) {
  if (base == "CgroupRoot") return CgroupDir();
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

CgroupDir CgroupLayout::QosDir(kube::PodQos qos) const {
  const bool systemd = driver == CgroupDriver::kSystemd;
  const CgroupDir kubepods = CgroupDir::At(systemd ? "kubepods.slice" : "kubepods");
  switch (qos) {
    case kube::PodQos::kGuaranteed:
      return kubepods;
    case kube::PodQos::kBurstable:
      return kubepods.Below(systemd ? "kubepods-burstable.slice" : "burstable");
    case kube::PodQos::kBestEffort:
      break;
  }
  return kubepods.Below(systemd ? "kubepods-besteffort.slice" : "besteffort");
}

CgroupDir CgroupLayout::PodDir(kube::PodQos qos, std::string_view uid) const {
  const CgroupDir parent = QosDir(qos);
  if (driver == CgroupDriver::kCgroupfs) return parent.Below(fmt::format("pod{}", uid));
  // systemd takes a dash in a slice's name for a level of the tree.
  std::string escaped(uid);
  std::ranges::replace(escaped, '-', '_');
  std::string_view slice = parent.name();
  slice.remove_suffix(std::string_view(".slice").size());
  return parent.Below(fmt::format("{}-pod{}.slice", slice, escaped));
}

StatusOr<CgroupDir> CgroupLayout::ContainerDir(const CgroupDir& pod_dir,
                                               std::string_view container_id) const {
  ASSIGN_OR_RETURN(const ContainerId container, ParseContainerId(container_id));
  if (driver == CgroupDriver::kCgroupfs) return pod_dir.Below(container.id);
  const std::string_view prefix = FindRuntime(container.runtime)->scope_prefix;
  return pod_dir.Below(fmt::format("{}{}.scope", prefix, container.id));
}

StatusOr<CgroupDir> CgroupLayout::HostApplicationDir(
    const api::HostApplication& application) const {
  if (!application.cgroup_path) {
    if (!IsName(application.name)) {
      return InvalidArgument("the name of host application {} names no cgroup",
                             Quote(application.name));
    }
    return DirOfHostQos(application.qos).Below(application.name);
  }
  const api::CgroupPath& path = *application.cgroup_path;
  ASSIGN_OR_RETURN(CgroupDir dir, BaseDir(*this, path.base));
  RETURN_IF_ERROR(AppendPath(dir, path.parent_dir));
  RETURN_IF_ERROR(AppendPath(dir, path.relative_path));
  return dir;
}

kube::PodQos QosOfDir(const CgroupDir& dir) {
  const std::string& path = dir.path();
  if (path.find("besteffort") != path.npos) return kube::PodQos::kBestEffort;
  if (path.find("burstable") != path.npos) return kube::PodQos::kBurstable;
  return kube::PodQos::kGuaranteed;
}

}  // namespace koord::koordlet
