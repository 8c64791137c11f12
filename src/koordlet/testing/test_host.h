#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "koordlet/host/host.h"
#include "koordlet/host/memory_tree.h"
#include "koordlet/testing/cgroup_kernel.h"
#include "koordlet/testing/fake_kernel.h"
#include "koordlet/testing/resctrl_kernel.h"
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

// A machine in memory with a kernel that behaves (see CgroupKernel and ResctrlKernel) and a kubelet
// that has made the cgroups of its pods. What runs on it is up to the test: usage that is added to
// a cgroup counts for all above it and for the machine.
class TestHost {
 public:
  struct Options {
    CgroupVersion version = CgroupVersion::kV2;
    CgroupDriver driver = CgroupDriver::kSystemd;
    MachineShape shape;
    std::vector<Processor> processors;  // instead of a shape
    int64_t memory = int64_t{32} << 30;
    ResctrlFlavour resctrl = ResctrlFlavour::kNone;
    bool anolis = false;
  };

  TestHost() : TestHost(Options()) {}
  explicit TestHost(Options options);
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  Host& host() { return *host_; }
  FakeKernel& kernel() { return *kernel_; }
  CgroupKernel& cgroup_kernel() { return *cgroup_kernel_; }
  ResctrlKernel& resctrl_kernel() { return *resctrl_kernel_; }
  MemoryTree& cgroup() { return *cgroup_; }
  MemoryTree& proc() { return *proc_; }
  MemoryTree& sys() { return *sys_; }
  MemoryTree& resctrl() { return *resctrl_; }
  MemoryTree& kubelet() { return *kubelet_; }
  MemoryTree& var_run() { return *var_run_; }
  const std::vector<Processor>& processors() const { return options_.processors; }

  // Makes the cgroups of a pod, of a sandbox and of its containers with an id, with the values that
  // the kubelet and the runtime give them.
  void AddPod(const kube::Pod& pod);
  void RemovePod(const kube::Pod& pod);
  std::string PodDir(const kube::Pod& pod) const;
  std::string SandboxDir(const kube::Pod& pod) const;
  std::string ContainerDir(const kube::Pod& pod, std::string_view container) const;

  // What is read and written, in the kernel's words and without white space around it.
  std::string Get(CgroupFile file, std::string_view dir) const;
  // Past the kernel's checks.
  void Set(CgroupFile file, std::string_view dir, std::string_view text);

  // CPU time that somebody in the cgroup has used; "" is the machine itself, any name a cgroup of
  // the system. Of the processors all have the same share, or it is one's.
  void UseCpu(std::string_view dir, Duration time, std::optional<int32_t> cpu = std::nullopt);
  void Throttle(std::string_view dir, int64_t periods, int64_t throttled);  // more of them
  // From now on. Free and available memory of the machine follow.
  void SetMemory(std::string_view dir, const MemoryStat& memory);
  void SetPressure(CgroupFile file, std::string_view dir, const Pressure& pressure);
  // Processes of one thread each, which appear in /proc.
  void SetProcesses(std::string_view dir, std::span<const int32_t> pids);

  // All files of a tree ("cgroup", "proc", "sys", "resctrl", "kubelet", "var_run") as
  // "path: text", lines of longer ones indented.
  std::string Dump(std::string_view tree = "cgroup") const;
  // The machine as a directory that can stand for "/".
  Status WriteTo(const std::string& directory) const;

 private:
  struct Usage {
    int64_t cpu_nanos = 0;
    CpuStat stat;
    MemoryStat memory;
  };

  const MemoryTree* FindTree(std::string_view name) const;
  void FillSys();
  void FillCpuInfo();
  void SetResources(std::string_view dir, const kube::ResourceList& requests,
                    const kube::ResourceList& limits);
  void SetBurstableShares();
  void ForEachAbove(std::string_view dir, const std::function<void(const std::string&)>& visit);
  void PublishCpu(const std::string& dir);
  void PublishMemory(const std::string& dir);
  void PublishProcStat();
  void PublishMemInfo();

  Options options_;
  MemoryTree* cgroup_ = nullptr;
  MemoryTree* proc_ = nullptr;
  MemoryTree* sys_ = nullptr;
  MemoryTree* resctrl_ = nullptr;
  MemoryTree* kubelet_ = nullptr;
  MemoryTree* var_run_ = nullptr;
  FakeKernel* kernel_ = nullptr;
  std::unique_ptr<Host> host_;
  std::unique_ptr<CgroupKernel> cgroup_kernel_;
  std::unique_ptr<ResctrlKernel> resctrl_kernel_;
  std::map<std::string, Usage, std::less<>> usage_;        // by directory
  std::map<int32_t, int64_t> cpu_nanos_;                   // by processor
  std::map<std::string, int64_t, std::less<>> burstable_;  // milli-CPUs by pod directory
};

}  // namespace koord::koordlet
