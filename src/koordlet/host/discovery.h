#pragma once
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "koordlet/host/host.h"

namespace koord::koordlet {

// Where the machine's trees are, as seen from where koordlet runs.
struct HostPaths {
  std::string cgroup = "/sys/fs/cgroup";
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string sys_fs = "/sys/fs";  // resctrl is in it
  std::string kubelet = "/var/lib/kubelet";
  std::string var_run = "/var/run";
  bool may_mount_resctrl = true;
  bool is_image = false;  // of a machine that does not run

  // A directory that stands for "/": the image of a machine, unless it is "/" itself. Nothing is
  // mounted there.
  static HostPaths Below(const std::string& root);
};

// What is mounted at the root of the hierarchy; a directory that stands for version 2 has its file
// cgroup.controllers.
CgroupVersion FindCgroupVersion(const std::string& cgroup_root);

// By the directory that the kubelet has made, or by what it was told: its flag --cgroup-driver or
// the key cgroupDriver of its configuration file. None: there is no kubelet yet.
std::optional<CgroupDriver> FindCgroupDriver(const FileTree& cgroup, CgroupVersion version,
                                             const std::string& proc_path);

// The machine. Unavailable while there is no sign of a kubelet, since it decides on the driver: ask
// again a while later, or state a driver.
StatusOr<std::unique_ptr<Host>> DiscoverHost(const HostPaths& paths,
                                             std::optional<CgroupDriver> driver = std::nullopt);
// For those who cannot wait for a kubelet: most use systemd.
StatusOr<std::unique_ptr<Host>> DiscoverAnyHost(const HostPaths& paths);

}  // namespace koord::koordlet
