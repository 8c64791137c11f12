#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "koordlet/simulated_kernel/memory_machine.h"
#include "kube/objects/pod.h"
#include "localcluster/nodes/load_model.h"
#include "localcluster/nodes/node_shape.h"
#include "localcluster/nodes/pod_load.h"

namespace koord::localcluster {

// A pod with as many of its containers as koordlet looks at, and so as are worth a cgroup: a pod
// may have ten thousand, which no kubelet could start. The same one where that is all of them.
std::shared_ptr<const kube::Pod> WithinBudget(std::shared_ptr<const kube::Pod> pod);

// The machine of a simulated node, for koordlet: its pods have cgroups, and use what their load
// models say, as far as those cgroups let them. What is written to the cgroups so shows in what is
// used from then on:
//  - all best-effort pods together get what their tier's CPUs and quota allow
//  - a pod or container that wants more than its quota is throttled
//  - where all want more than there is, each gets its part
// Nothing is worked out before somebody reads it, and then at most once in a tenth of a second.
class SimulatedHost {
 public:
  // The clock outlives the host. Hosts of one shape are made like one machine of it, whose files
  // they have in common.
  SimulatedHost(const Clock& clock, const koordlet::MemoryMachine& model, uint64_t seed);
  SimulatedHost(const Clock& clock, const NodeShape& shape, uint64_t seed)
      : SimulatedHost(clock, *MakeModel(shape), seed) {}

  static std::unique_ptr<koordlet::MemoryMachine> MakeModel(const NodeShape& shape);

  koordlet::Host& host() { return machine_.host(); }
  koordlet::MemoryMachine& machine() { return machine_; }

  // Whether best-effort pods would use more CPU than their tier is left, and how often that began.
  bool suppressed() const { return suppressed_; }
  int64_t suppressions() const { return suppressions_; }

  // All that runs there now; those that are not named are gone.
  void SetPods(const std::vector<std::shared_ptr<const kube::Pod>>& pods, const LoadModels& models);

 private:
  // What the kernel counts for one cgroup.
  struct Counters {
    int64_t cpu_nanos = 0;
    koordlet::CpuStat stat;
    int64_t memory = 0;
  };
  struct RunningContainer {
    koordlet::CgroupDir dir;
    double share = 1;  // of its pod
    double quota = 0;  // in cores, as its cgroup says
    Counters counters;
  };
  struct RunningPod {
    std::shared_ptr<const kube::Pod> pod;
    PodLoad load;
    kube::PodQos qos;
    koordlet::CgroupDir dir;
    double quota = 0;  // in cores, as its cgroup says
    Counters counters;
    std::vector<RunningContainer> containers;
    double cores = 0;  // in the step that is worked out
  };

  void Run(const std::shared_ptr<const kube::Pod>& pod, const LoadModels& models);
  void Show(const koordlet::CgroupDir& dir, const Counters& counters);
  void ShowMachine();
  void CatchUp();
  void Step(WallTime time, Duration span);
  void NoteSuppression(double wanted, double left);
  template <class Visit>
  void ForTiersOf(kube::PodQos qos, const Visit& visit);
  void Limit(RunningPod& pod, Duration span);
  // Anew only where something was written to cgroups since.
  void ReadLimits();
  double BestEffortCores() const;
  double QuotaOf(const koordlet::CgroupDir& dir) const;
  std::string StatText();
  koordlet::MemoryStat UsedMemory() const;

  const Clock& clock_;
  const uint64_t seed_;
  koordlet::MemoryMachine machine_;
  std::map<std::string, std::unique_ptr<RunningPod>, std::less<>> pods_;  // by UID
  std::map<kube::PodQos, Counters> tiers_;
  Counters total_;
  double best_effort_cores_ = 0;                // what their tier may have
  std::optional<uint64_t> limits_are_of_ = {};  // the cgroups' state when they were read
  bool suppressed_ = false;
  int64_t suppressions_ = 0;
  WallTime until_;  // up to which all is worked out
};

}  // namespace koord::localcluster
