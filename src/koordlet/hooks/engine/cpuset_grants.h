#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu_set.h"
#include "koordlet/hooks/engine/hook_pod.h"
#include "koordlet/informers/node_state.h"

namespace koord::koordlet::hooks {

// Which pods may have the CPUs that their resource status names.
//
// A pod with CPUs of its own also loses its CPU limit, and anybody can write the annotation. So
// only pods of some classes have them (see MayHaveCpus), and
// only CPUs that are neither reserved for the node nor kept for SYSTEM pods nor another such pod's:
// of two that name the same CPU, the older one has it.
class CpusetGrants {
 public:
  explicit CpusetGrants(bool trust_pod_authors) : trust_pod_authors_(trust_pod_authors) {}

  void Update(const NodeState& state);

  // None: it names no CPUs. An error says why it may not have those that it names.
  StatusOr<std::optional<std::string>> CpusetOf(const HookPod& pod) const;

 private:
  Status Check(const HookPod& pod, const CpuSet& cpus) const;
  const NodePod* OwnerOf(int32_t cpu) const;
  void Claim(const NodePod& pod);

  const bool trust_pod_authors_;
  std::shared_ptr<const NodePods> pods_;
  std::vector<const NodePod*> owner_of_cpu_;  // point into pods_
  CpuSet kept_;                               // for the node or for SYSTEM pods
  bool binds_all_pods_ = false;
};

}  // namespace koord::koordlet::hooks
