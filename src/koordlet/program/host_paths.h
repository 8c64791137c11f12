#pragma once
#include <string>

namespace koord::koordlet {

// Where the machine's directories are, seen from koordlet: in a container most are mounted
// elsewhere.
struct HostPaths {
  std::string cgroup = "/host-cgroup/";
  std::string proc = "/proc/";
  std::string sys = "/host-sys/";
  std::string sys_fs = "/host-sys-fs/";  // resctrl is in it
  std::string var_run = "/host-var-run/";
  std::string run = "/host-run/";
  std::string kubelet = "/var/lib/kubelet/";
  std::string hook_config = "/host-etc-hookserver/";
  std::string xpu_device_infos = "/var/run/koordlet/xpu-device-infos/";

  bool operator==(const HostPaths&) const = default;
};

HostPaths PathsInContainer();  // of the DaemonSet
HostPaths PathsOnHost();       // of a process of the machine itself
// Of a directory that holds the image of a whole machine.
HostPaths PathsBelow(const std::string& root);

}  // namespace koord::koordlet
