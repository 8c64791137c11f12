#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/qos_strategy.h"
#include "base/clock.h"
#include "base/feature_gates.h"
#include "base/metrics/metrics.h"
#include "base/problem_log.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/hooks/engine/hook_pod.h"
#include "koordlet/hooks/engine/hook_stage.h"
#include "koordlet/host/host.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/undo/undo_file.h"

// One set of plugins serves three callers: the reconciler, which writes cgroups itself; the hook
// server, which answers the runtime proxy; and NRI. A plugin looks at a pod or container and says
// what should be set; how that gets there is the caller's business.
namespace koord::koordlet::hooks {

struct HookOptions {
  FailurePolicy plugin_failure_policy = FailurePolicy::kIgnore;
  HookStages disabled_stages;
  std::string default_runtime = "containerd";
  Duration reconcile_interval = std::chrono::seconds(10);
  Duration force_update_after = std::chrono::seconds(60);  // values are put right that often
  bool disable_unset_cpu_quota = false;
  bool enable_pod_task_ids = false;
  bool dry_run = false;  // whatever does not go through the executor is left out
  // The gates of the plugins are off: they are only there to put back what an earlier run has done.
  bool is_restoring = false;
  TrustPolicy trust;
  std::string node_name;
  std::string hami_library = "/usr/local/vgpu/libvgpu.so";
};

// What plugins work with. All of it outlives them.
struct HookEnv {
  Host& host;
  ResourceExecutor& executor;
  const NodeState& state;
  const Clock& clock;
  const FeatureGates& gates;
  metrics::Registry& registry;
  ProblemLog& problems;
  const HookOptions& options;
  UndoFile& undo;
  // Tells the users of a pod what was done; null: nobody listens.
  std::function<void(const HookPod& pod, std::string_view reason, std::string_view message)>
      record_event = nullptr;
  // Makes an empty directory of the host that everybody may write to, in the place of whatever is
  // there; null: cannot.
  std::function<Status(const std::string& path)> recreate_directory = nullptr;
};

// A part of the caches and memory bandwidth that a pod has for itself.
struct ResctrlGroup {
  std::string name;  // "koordlet-<uid>"
  std::string l3;    // "L3:0=f;1=f;\n"; empty: left alone
  std::string mb;
  bool operator==(const ResctrlGroup&) const = default;
};

// Where a member is none, nobody has an opinion, and what is there stays.
struct PodResult {
  std::optional<int64_t> bvt;
  std::optional<bool> idle;
  std::optional<int64_t> shares;
  std::optional<Limit> quota;
  std::optional<Limit> memory;
  std::optional<uint32_t> net_class;
  std::optional<ResctrlGroup> resctrl;
  bool operator==(const PodResult&) const = default;
};

struct HookMount {
  std::string source;
  std::string destination;
  std::string type = "bind";
  std::vector<std::string> options;
  bool operator==(const HookMount&) const = default;
};
struct HookDevice {
  std::string path;
  char type = 'c';
  int64_t major = 0;
  int64_t minor = 0;
  uint32_t mode = 0666;
  bool operator==(const HookDevice&) const = default;
};

struct ContainerResult {
  std::optional<int64_t> bvt;
  std::optional<int64_t> shares;
  std::optional<std::string> cpuset;  // empty: the runtime shall not set any
  std::optional<Limit> quota;
  std::optional<Limit> memory;
  std::map<std::string, std::string, std::less<>> envs;
  std::vector<HookMount> mounts;
  std::vector<HookDevice> devices;
  std::string rdt_class;
  bool operator==(const ContainerResult&) const = default;
};

// Of a directory that is no pod's: of a Kubernetes class, or of an application of the host.
struct DirResult {
  std::optional<int64_t> bvt;
  std::optional<bool> idle;
  std::optional<std::string> cpuset;
  bool operator==(const DirResult&) const = default;
};

// A pod in a pass of the reconciler.
struct ReconciledPod {
  const HookPod& pod;
  const NodePod& node_pod;
  std::span<const HookContainer> containers;
  const HookContainer* sandbox;  // null: not found
};

class HookPlugin {
 public:
  virtual ~HookPlugin() = default;

  // Hooks of a stage run in the order of their names.
  virtual std::string_view name() const = 0;
  // Where runtimes call it. The reconciler calls all plugins.
  virtual HookStages stages() const { return {}; }

  virtual Status OnPod(HookStage, const HookPod&, PodResult&) { return absl::OkStatus(); }
  virtual Status OnContainer(HookStage, const HookContainer&, ContainerResult&) {
    return absl::OkStatus();
  }
  virtual Status OnQosDir(kube::PodQos, DirResult&) { return absl::OkStatus(); }
  virtual Status OnHostApplication(const api::HostApplication&, DirResult&) {
    return absl::OkStatus();
  }

  // Something about the node has changed. True: what it would set differs from before, so that all
  // pods are looked at again.
  virtual bool OnStateChange() { return false; }
  // All pods have been looked at because of that.
  virtual void AfterRewrite() {}
  // After each pass over all pods: for whatever is no value of a cgroup.
  virtual void OnPass(std::span<const ReconciledPod>) {}
};

}  // namespace koord::koordlet::hooks
