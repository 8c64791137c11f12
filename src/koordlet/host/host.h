#pragma once
#include <memory>

#include "koordlet/host/cgroups.h"
#include "koordlet/host/cpu_topology.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/host/kernel.h"

namespace koord::koordlet {

// A machine as koordlet sees it: directory trees and what was found in them. The real one is "/";
// tests use a directory, a simulated node memory. Everything above works the same on all three.
class Host {
 public:
  struct Trees {
    std::unique_ptr<FileTree> cgroup;   // /sys/fs/cgroup
    std::unique_ptr<FileTree> proc;     // /proc
    std::unique_ptr<FileTree> sys;      // /sys
    std::unique_ptr<FileTree> resctrl;  // /sys/fs/resctrl
    std::unique_ptr<FileTree> kubelet;  // /var/lib/kubelet
    std::unique_ptr<FileTree> var_run;  // /var/run
  };

  Host(Trees trees, std::unique_ptr<Kernel> kernel, CgroupLayout layout);

  const Cgroups& cgroups() const { return cgroups_; }
  FileTree& cgroup_files() const { return *trees_.cgroup; }
  FileTree& proc() const { return *trees_.proc; }
  FileTree& sys() const { return *trees_.sys; }
  FileTree& resctrl() const { return *trees_.resctrl; }
  FileTree& kubelet() const { return *trees_.kubelet; }
  FileTree& var_run() const { return *trees_.var_run; }
  Kernel& kernel() const { return *kernel_; }

  StatusOr<CpuInfo> ReadCpuInfo() const;
  StatusOr<std::vector<NumaNode>> ReadNumaNodes() const;
  bool is_anolis() const;

 private:
  Trees trees_;
  std::unique_ptr<Kernel> kernel_;
  Cgroups cgroups_;
};

}  // namespace koord::koordlet
