#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/cpu_set.h"
#include "base/string_map.h"
#include "koordlet/hooks/engine/hook_runner.h"

namespace koord::koordlet::hooks {

// Keeps the cgroups of the node as the hooks want them, so that they hold without any help from the
// container runtime, for pods that were there before koordlet, and after somebody else wrote there.
//
// A pod is looked at again when it, or something that a plugin goes by, has changed, when something
// could not be written, and once in a while; otherwise a pass costs next to nothing.
class Reconciler {
 public:
  explicit Reconciler(HookRunner& runner);

  // NodeSLO, topology or node have changed: if that changes what a plugin wants, everything is
  // written anew at once. True if so.
  bool OnStateChange();
  void ReconcilePods();
  // The directories of Kubernetes' classes, and the applications of the host.
  void ReconcileDirs();

 private:
  struct Record {
    HookPod pod;
    CpuSet cpus;  // that the node's policy left it; others may change that
    std::vector<HookContainer> containers;
    std::optional<HookContainer> sandbox;
    uint64_t generation = 0;  // of what plugins go by, when it was written
    bool is_settled = false;  // everything could be written
    SteadyTime written_at{};
    uint64_t seen = 0;  // the pass
  };

  void PassOverPods();
  Record& RecordOf(const NodePod& pod);
  void GrantCpus(Record& record);
  bool IsDue(const Record& record) const;
  void Write(Record& record, const NodePod& node_pod);
  void FindSandbox(Record& record, const NodePod& node_pod);
  bool WritePod(const HookPod& pod);
  bool WriteContainer(const HookContainer& container);
  bool AllDirsExist(const Record& record, const NodePod& node_pod) const;
  void ForgetGonePods();
  void Report(std::string_view object, std::string_view kind, const Status& status, bool& ok);

  HookRunner& runner_;
  const HookEnv& env_;
  StringMap<std::unique_ptr<Record>> records_;  // by uid
  uint64_t generation_ = 1;
  uint64_t pass_ = 0;
};

}  // namespace koord::koordlet::hooks
