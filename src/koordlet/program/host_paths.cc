#include "koordlet/program/host_paths.h"

namespace koord::koordlet {

HostPaths PathsInContainer() { return {}; }

HostPaths PathsOnHost() { return PathsBelow(""); }

HostPaths PathsBelow(const std::string& root) {
  std::string base = root;
  while (base.ends_with('/')) base.pop_back();
  return {.cgroup = base + "/sys/fs/cgroup/",
          .proc = base + "/proc/",
          .sys = base + "/sys/",
          .sys_fs = base + "/sys/fs/",
          .var_run = base + "/var/run/",
          .run = base + "/run/",
          .kubelet = base + "/var/lib/kubelet/",
          .hook_config = base + "/etc/runtime/hookserver.d",
          .xpu_device_infos = base + "/var/run/koordlet/xpu-device-infos/"};
}

}  // namespace koord::koordlet
