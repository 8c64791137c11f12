#include "koordlet/program/koordlet_paths.h"

namespace koord::koordlet {

KoordletPaths PathsInContainer() {
  KoordletPaths paths;
  paths.host.cgroup = "/host-cgroup/";
  paths.host.proc = "/proc/";
  paths.host.sys = "/host-sys/";
  paths.host.sys_fs = "/host-sys-fs/";
  paths.host.var_run = "/host-var-run/";
  paths.host.kubelet = "/var/lib/kubelet/";
  paths.run = "/host-run/";
  paths.hook_config = "/host-etc-hookserver/";
  return paths;
}

KoordletPaths PathsOnHost() {
  KoordletPaths paths;
  paths.host.cgroup = "/sys/fs/cgroup/";
  paths.host.proc = "/proc/";
  paths.host.sys = "/sys/";
  paths.host.sys_fs = "/sys/fs/";
  paths.host.var_run = "/var/run/";
  paths.host.kubelet = "/var/lib/kubelet/";
  paths.run = "/run/";
  paths.hook_config = "/etc/runtime/hookserver.d";
  return paths;
}

KoordletPaths PathsBelow(const std::string& root) {
  KoordletPaths paths;
  paths.host = HostPaths::Below(root);
  paths.run = root + "/run/";
  paths.hook_config = root + "/etc/runtime/hookserver.d";
  paths.xpu_device_infos = root + "/var/run/koordlet/xpu-device-infos/";
  return paths;
}

}  // namespace koord::koordlet
