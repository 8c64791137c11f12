#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "koordlet/simulated_kernel/memory_machine.h"
#include "koordlet/testing/fake_kernel.h"
#include "koordlet/testing/resctrl_kernel.h"
#include "kube/objects/pod.h"

namespace koord::koordlet {

// A machine in memory (see MemoryMachine) with a ResctrlKernel. What runs on it is up to the test:
// usage that is added to a cgroup counts for all above it and for the machine.
class TestHost : public MemoryMachine {
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
  explicit TestHost(const Options& options);

  FakeKernel& kernel() { return *kernel_; }
  ResctrlKernel& resctrl_kernel() { return *resctrl_kernel_; }

  void RemovePod(const kube::Pod& pod);

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

  void ForEachAbove(std::string_view dir, const std::function<void(const std::string&)>& visit);
  void PublishCpu(const std::string& dir);
  void PublishMemory(const std::string& dir);
  void PublishProcStat();
  void PublishMemInfo();

  FakeKernel* const kernel_;
  std::unique_ptr<ResctrlKernel> resctrl_kernel_;
  std::map<std::string, Usage, std::less<>> usage_;  // by directory
  std::map<int32_t, int64_t> cpu_nanos_;             // by processor
};

}  // namespace koord::koordlet
