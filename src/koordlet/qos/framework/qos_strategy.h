#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/feature_gates.h"
#include "base/metrics/metrics.h"
#include "base/random.h"
#include "koordlet/audit/auditor.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/host/host.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/metrics/node_info.h"
#include "koordlet/undo/undo_file.h"

namespace koord::koordlet {

// Makes a pod leave the node.
class PodEvictor {
 public:
  virtual ~PodEvictor() = default;
  // True: it goes, or was told to go a short while ago (`is_new` false then).
  struct Result {
    bool ok = false;
    bool is_new = false;
  };
  virtual Result Evict(const NodePod& pod, std::string_view reason, std::string_view message) = 0;
  // Whether the pod may stay after all, as was heard after Evict had returned.
  virtual bool WasRefused(std::string_view uid) const = 0;
};

// How often strategies run, and how long they pause after they have evicted somebody.
struct QosOptions {
  Duration cpu_suppress_interval = std::chrono::seconds(1);
  Duration cpu_evict_interval = std::chrono::seconds(1);
  Duration cpu_evict_cool_time = std::chrono::seconds(20);
  Duration memory_evict_interval = std::chrono::seconds(1);
  Duration memory_evict_cool_time = std::chrono::seconds(4);
  std::string kubelet_dir = "/var/lib/kubelet";  // on the node, without a slash at its end
};

// What a strategy has made up its mind to, and why, for those who look on.
struct QosDecision {
  std::string_view strategy;
  std::string object;  // a directory of cgroups, or "namespace/pod/container"
  std::string text;
};

// What a strategy works with. All of it outlives the strategy.
struct QosContext {
  Host& host;
  ResourceExecutor& executor;
  const NodeState& state;
  const MetricStore& metrics;
  const NodeInfoCache& info;
  const Clock& clock;
  const FeatureGates& gates;
  PodEvictor& evictor;
  Auditor* auditor;  // null: nobody listens
  metrics::Registry& registry;
  Random& random;
  Duration collect_interval = std::chrono::seconds(1);  // of usage
  Duration reconcile_interval = std::chrono::seconds(1);
  QosOptions options = {};
  std::string node_name = {};  // in metrics
  // The volume that a claim is bound to, or "". Null: nobody knows.
  std::function<std::string(std::string_view ns, std::string_view claim)> volume_of_claim = nullptr;
  std::function<void(const QosDecision&)> on_decision = nullptr;  // null: nobody looks on
  UndoFile* undo = nullptr;  // null: what was before is not known after a restart
  // Its gate is off: it is only there to put back what an earlier run has done.
  bool is_restoring = false;
  bool trust_pod_authors = false;
};

// One way in which the node is kept safe. Holds no state that it could not find again in the
// machine or do without after a restart.
class QosStrategy {
 public:
  virtual ~QosStrategy() = default;
  virtual std::string_view name() const = 0;
  virtual Duration interval() const = 0;
  // One cycle. Problems are logged, once for each object and kind, and leave the rest alone.
  virtual void Run() = 0;
};

}  // namespace koord::koordlet
