#include "koordlet/host/discovery.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <utility>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "koordlet/host/directory_tree.h"
#include "koordlet/host/image_kernel.h"
#include "koordlet/host/kernel_text.h"
#include "koordlet/host/open_file_limit.h"
#include "koordlet/host/real_kernel.h"
#include "kube/yaml.h"

namespace koord::koordlet {
namespace {

constexpr size_t kMaxKubeletConfig = 1 << 20;

std::optional<CgroupDriver> ParseDriver(std::string_view text) {
  if (text == "systemd") return CgroupDriver::kSystemd;
  if (text == "cgroupfs") return CgroupDriver::kCgroupfs;
  return std::nullopt;
}

std::string Without(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// "--name=value" or "--name value", with one dash or two.
std::optional<std::string_view> FlagOf(const std::vector<std::string_view>& arguments,
                                       std::string_view name) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (!argument.starts_with('-')) continue;
    argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
    if (!argument.starts_with(name)) continue;
    argument.remove_prefix(name.size());
    if (argument.starts_with('=')) return argument.substr(1);
    if (argument.empty() && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return std::nullopt;
}

struct Process {
  std::string pid;
  std::string command_line;
  std::vector<std::string_view> arguments;  // of the command line
};

// A process that runs as a service of the machine: any pod may call something "kubelet".
std::unique_ptr<Process> FindKubelet(const FileTree& proc) {
  const auto entries = proc.List("");
  if (!entries.ok()) return nullptr;
  for (const FileTree::Entry& entry : *entries) {
    if (!entry.is_directory || !NumberOf<int32_t>(entry.name)) continue;
    auto command_line = proc.Read(entry.name + "/cmdline");
    if (!command_line.ok()) continue;
    const std::string_view program =
        std::string_view(*command_line).substr(0, command_line->find('\0'));
    if (program.substr(program.rfind('/') + 1) != "kubelet") continue;
    const auto cgroup = proc.Read(entry.name + "/cgroup");
    if (cgroup.ok() && cgroup->find("kubepods") != std::string::npos) continue;
    auto process = std::make_unique<Process>();
    process->pid = entry.name;
    process->command_line = std::move(*command_line);
    process->arguments = Split(process->command_line, '\0');
    return process;
  }
  return nullptr;
}

std::optional<CgroupDriver> DriverOfConfig(const std::string& path) {
  const auto text = ReadFile(path, kMaxKubeletConfig);
  if (!text.ok()) return std::nullopt;
  const auto config = kube::ParseYaml(*text);
  return config.ok() ? ParseDriver(kube::FindString(*config, {"cgroupDriver"})) : std::nullopt;
}

std::optional<CgroupDriver> DriverOfKubelet(const std::string& proc_path) {
  const DirectoryTree proc(proc_path, {});
  const auto kubelet = FindKubelet(proc);
  if (kubelet == nullptr) return std::nullopt;
  std::optional<CgroupDriver> driver;
  if (const auto flag = FlagOf(kubelet->arguments, "cgroup-driver")) driver = ParseDriver(*flag);
  const auto config = FlagOf(kubelet->arguments, "config");
  if (!driver && config && config->starts_with('/')) {
    // As the kubelet sees it: koordlet may be in a container.
    driver = DriverOfConfig(fmt::format("{}/{}/root{}", proc_path, kubelet->pid, *config));
  }
  return driver.value_or(CgroupDriver::kCgroupfs);
}

}  // namespace

HostPaths HostPaths::Below(const std::string& root) {
  const std::string base = root == "/" ? "" : Without(root);
  return {.cgroup = base + "/sys/fs/cgroup",
          .proc = base + "/proc",
          .sys = base + "/sys",
          .sys_fs = base + "/sys/fs",
          .kubelet = base + "/var/lib/kubelet",
          .var_run = base + "/var/run",
          .may_mount_resctrl = false,
          .is_image = !base.empty()};
}

CgroupVersion FindCgroupVersion(const std::string& cgroup_root) {
  struct statfs info {};
  if (statfs(cgroup_root.c_str(), &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC) {
    return CgroupVersion::kV2;
  }
  const DirectoryTree tree(cgroup_root, {});
  return tree.Exists("cgroup.controllers") ? CgroupVersion::kV2 : CgroupVersion::kV1;
}

std::optional<CgroupDriver> FindCgroupDriver(const FileTree& cgroup, CgroupVersion version,
                                             const std::string& proc_path) {
  const std::string_view prefix = version == CgroupVersion::kV1 ? "cpu/" : "";
  if (cgroup.Exists(fmt::format("{}kubepods.slice", prefix))) return CgroupDriver::kSystemd;
  if (cgroup.Exists(fmt::format("{}kubepods", prefix))) return CgroupDriver::kCgroupfs;
  return DriverOfKubelet(proc_path);
}

StatusOr<std::unique_ptr<Host>> DiscoverHost(const HostPaths& paths,
                                             std::optional<CgroupDriver> driver) {
  const CgroupVersion version = FindCgroupVersion(paths.cgroup);
  // Version 1's subsystems may be links to where several are mounted together.
  const auto links =
      version == CgroupVersion::kV1 ? DirectoryTree::Links::kFirst : DirectoryTree::Links::kNone;
  // Half of the files that it may have open is for all else: connections, counters of CPI.
  auto cgroup = std::make_unique<DirectoryTree>(
      paths.cgroup, DirectoryTree::Options{.links = links, .max_open = OpenFileLimit() / 2});
  if (!cgroup->Exists("")) return NotFound("{}: no cgroups here", paths.cgroup);
  if (!driver) driver = FindCgroupDriver(*cgroup, version, Without(paths.proc));
  if (!driver) {
    return Unavailable("no kubelet runs and {} has no kubepods: cannot tell the cgroup driver",
                       paths.cgroup);
  }
  std::unique_ptr<Kernel> kernel;
  if (paths.is_image) {
    kernel = std::make_unique<ImageKernel>();
  } else {
    kernel = std::make_unique<RealKernel>(
        *cgroup, version, paths.may_mount_resctrl ? Without(paths.sys_fs) + "/resctrl" : "");
  }
  Host::Trees trees;
  trees.cgroup = std::move(cgroup);
  trees.proc = std::make_unique<DirectoryTree>(paths.proc, DirectoryTree::Options{});
  trees.sys = std::make_unique<DirectoryTree>(
      paths.sys, DirectoryTree::Options{.links = DirectoryTree::Links::kInside});
  trees.resctrl =
      std::make_unique<DirectoryTree>(paths.sys_fs, DirectoryTree::Options{.below = "resctrl"});
  trees.kubelet = std::make_unique<DirectoryTree>(paths.kubelet, DirectoryTree::Options{});
  trees.var_run = std::make_unique<DirectoryTree>(
      paths.var_run, DirectoryTree::Options{.links = DirectoryTree::Links::kInside});
  return std::make_unique<Host>(std::move(trees), std::move(kernel),
                                CgroupLayout{version, *driver});
}

StatusOr<std::unique_ptr<Host>> DiscoverAnyHost(const HostPaths& paths) {
  StatusOr<std::unique_ptr<Host>> host = DiscoverHost(paths);
  if (host.ok() || !absl::IsUnavailable(host.status())) return host;
  LOG_WARNING("There is no sign of a kubelet yet, taking its cgroup driver for systemd",
              {"err", host.status()});
  return DiscoverHost(paths, CgroupDriver::kSystemd);
}

}  // namespace koord::koordlet
