#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "koordlet/host/host.h"
#include "koordlet/host/memory_tree.h"
#include "koordlet/simulated_kernel/cgroup_kernel.h"
#include "kube/objects/pod.h"

namespace koord::koordlet {

// How a machine's processors are laid out. Cores are spread over nodes and sockets in order.
struct MachineShape {
  int sockets = 1;
  int nodes = 1;  // NUMA nodes of all sockets
  int cores = 4;  // of all sockets
  int threads = 2;
  // The threads of core c: c * threads and those after it, or c, c + cores, ... as on most servers.
  bool adjacent_threads = true;
};
// By node, socket, core, cpu. L3 caches are one per socket.
std::vector<Processor> ProcessorsOf(const MachineShape& shape);

// A machine in memory with a kernel that behaves (see CgroupKernel) and a kubelet that has made the
// cgroups of its pods. What runs on it, and so what its counters say, is up to those who use it.
//
// Machines that were made like another share its files with it, until they change them.
class MemoryMachine {
 public:
  struct Options {
    CgroupLayout layout;
    std::vector<Processor> processors;
    int64_t memory = 0;
    bool anolis = false;
    std::string vendor = "GenuineIntel";
    std::string model = "Intel(R) Xeon(R) Platinum 8369B CPU @ 2.70GHz";
    std::string cpu_flags = "fpu sse sse2 avx2";
  };

  MemoryMachine(Options options, std::unique_ptr<Kernel> kernel);
  // One more of a kind: with the files of the other one, which has no pods.
  MemoryMachine(const MemoryMachine& model, std::unique_ptr<Kernel> kernel);
  MemoryMachine(const MemoryMachine&) = delete;
  MemoryMachine& operator=(const MemoryMachine&) = delete;

  Host& host() const { return *host_; }
  CgroupKernel& cgroup_kernel() { return *cgroup_kernel_; }
  MemoryTree& cgroup() { return *cgroup_; }
  MemoryTree& proc() { return *proc_; }
  MemoryTree& sys() { return *sys_; }
  MemoryTree& resctrl() { return *resctrl_; }
  MemoryTree& kubelet() { return *kubelet_; }
  MemoryTree& var_run() { return *var_run_; }
  const std::vector<Processor>& processors() const { return options_->processors; }
  int numa_nodes() const { return numa_nodes_; }
  int64_t memory() const { return options_->memory; }
  const CgroupLayout& layout() const { return options_->layout; }

  // Makes the cgroups of a pod, of a sandbox and of its containers with an id, with the values that
  // the kubelet and the runtime give them.
  void AddPod(const kube::Pod& pod);
  void RemovePod(const kube::Pod& pod);
  CgroupDir PodDir(const kube::Pod& pod) const;
  CgroupDir SandboxDir(const kube::Pod& pod) const;
  // The root: there is none yet.
  CgroupDir ContainerDir(const kube::Pod& pod, std::string_view container) const;

  // What is read and written, in the kernel's words and without white space around it.
  std::string Get(CgroupFile file, std::string_view dir) const;
  // Past the kernel's checks.
  void Set(CgroupFile file, std::string_view dir, std::string_view text);

 protected:
  const MemoryTree* FindTree(std::string_view name) const;

 private:
  // Null: with empty trees.
  MemoryMachine(std::shared_ptr<const Options> options, const MemoryMachine* model,
                std::unique_ptr<Kernel> kernel);
  void FillSys();
  void FillCpuInfo();
  void SetResources(std::string_view dir, const kube::ResourceList& requests,
                    const kube::ResourceList& limits);
  void SetBurstableShares();

  const std::shared_ptr<const Options> options_;
  int numa_nodes_ = 0;
  MemoryTree* cgroup_ = nullptr;
  MemoryTree* proc_ = nullptr;
  MemoryTree* sys_ = nullptr;
  MemoryTree* resctrl_ = nullptr;
  MemoryTree* kubelet_ = nullptr;
  MemoryTree* var_run_ = nullptr;
  std::unique_ptr<Host> host_;
  std::unique_ptr<CgroupKernel> cgroup_kernel_;
  std::map<std::string, MilliCpu, std::less<>> burstable_;  // requests by pod directory
};

}  // namespace koord::koordlet
