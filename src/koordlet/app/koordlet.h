#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/device.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "base/random.h"
#include "koordlet/app/koordlet_options.h"
#include "koordlet/app/restorer.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/hooks/runtime_hooks.h"
#include "koordlet/host/host.h"
#include "koordlet/metrics/collectors/metric_advisor.h"
#include "koordlet/metrics/node_info.h"
#include "koordlet/qos/qos_manager.h"
#include "koordlet/reporters/device_reporter.h"
#include "koordlet/reporters/node_metric_reporter.h"
#include "koordlet/reporters/topology_reporter.h"
#include "koordlet/states/kubelet_client.h"
#include "koordlet/states/kubelet_pods.h"
#include "koordlet/states/node_state.h"
#include "koordlet/states/pod_book.h"
#include "kube/client/client.h"

namespace koord::koordlet {

// koordlet without its shell: everything but flags, sockets and watches, so that the program, the
// nodes of a local cluster and simulations run the same thing. What it knows of the cluster it is
// told (On...); what it does to the machine goes through `host`.
//
// Nothing is done before the Node and its pods are known, and nothing enforced before usage has
// been measured.
class Koordlet {
 public:
  struct Parts {
    PodEvictor* evictor = nullptr;        // null: nobody is evicted
    Auditor* auditor = nullptr;           // null: nobody listens
    GpuDevices* gpus = nullptr;           // null: this machine has none
    const FileTree* xpu_files = nullptr;  // lists of devices; null: there are none
    KubeletClient* kubelet = nullptr;     // null: pods are told by OnPods
    hooks::HookTools hook_tools = {};
    // Makes an empty directory of the host; null: cannot.
    decltype(hooks::HookEnv::recreate_directory) recreate_directory = nullptr;
    // The volume that a claim is bound to, or ""; null: nobody knows.
    decltype(QosContext::volume_of_claim) volume_of_claim = nullptr;
    // Tells the users of a pod what was done to it; null: nobody listens.
    decltype(hooks::HookEnv::record_event) record_event = nullptr;
    std::function<void(const QosDecision&)> on_decision = nullptr;  // null: nobody looks on
    metrics::Registry* internal = nullptr;                          // null: nobody looks
    metrics::Registry* external = nullptr;
  };

  Koordlet(EventLoop& loop, Host& host, kube::Client& client, KoordletOptions options, Parts parts);
  ~Koordlet();
  Koordlet(const Koordlet&) = delete;
  Koordlet& operator=(const Koordlet&) = delete;

  // `ready` once it acts.
  void Start(Task ready = [] {});
  // Enforces and reports nothing any more. What best-effort pods were limited to stays, which is
  // the safe side; what was learned and measured is written for the next start.
  void Stop();

  // News of the node's objects; null: there is none (any more).
  void OnNode(std::shared_ptr<const kube::Node> node);
  void OnNodeSlo(const std::shared_ptr<const api::NodeSlo>& slo);
  void OnNodeMetric(const std::shared_ptr<const api::NodeMetric>& metric);
  void OnTopology(std::shared_ptr<const api::NodeResourceTopology> topology);
  void OnDevice(std::shared_ptr<const api::Device> device);
  // All pods of the node.
  void OnPods(const PodListReader::Pods& pods);
  // The cgroup of a pod has appeared.
  void OnPodCgroup();

  // One pass of everything that is enabled, now: to look on, not to live by.
  void CollectOnce();
  void EnforceOnce();

  const KoordletOptions& options() const { return options_; }
  NodeState& state() { return state_; }
  MetricStore& metrics() { return metrics_; }
  NodeInfoCache& info() { return info_; }
  ResourceExecutor& executor() { return executor_; }
  TopologyReporter& topology_reporter() { return topology_reporter_; }
  hooks::HookRunner& hook_runner() { return hooks_->runner(); }  // until Stop
  // Whether it has come so far as to act.
  bool acting() const { return phase_ == Phase::kActing; }
  Status Healthy() const;

 private:
  enum class Phase : uint8_t { kNew, kSyncing, kCollecting, kActing, kStopped };

  QosContext StrategyContext();
  hooks::RuntimeHooks::Surroundings HookSurroundings();
  // Puts back what is switched off now and was not when koordlet ran before.
  void Restore();
  void Advance();
  void StartCollecting();
  void StartActing();
  void UpdateBounds();
  void KeepBounds();
  void SetPods(std::shared_ptr<const NodePods> pods);
  api::NodeMetricStatus BuildNodeMetric(const NodeMetricPolicy& policy);

  EventLoop& loop_;
  Host& host_;
  const KoordletOptions options_;
  const Parts parts_;
  metrics::Registry own_internal_, own_external_;
  metrics::Registry& internal_;
  metrics::Registry& external_;
  Random random_;
  NodeState state_;
  NodeInfoCache info_;
  MetricStore metrics_;
  ResourceExecutor executor_;
  PodBook pods_;
  Footprint footprint_;
  Complaints slo_complaints_;
  bool slo_known_ = false;  // whether there is one was heard

  MetricAdvisor advisor_;
  std::unique_ptr<PodEvictor> no_evictor_;
  QosManager qos_;
  std::unique_ptr<hooks::RuntimeHooks> hooks_;
  std::unique_ptr<Restorer> restorer_;  // while there is something to put back
  Predictor predictor_;

  std::unique_ptr<KubeletPods> kubelet_pods_;
  NodeMetricReporter metric_reporter_;
  TopologyReporter topology_reporter_;
  DeviceReporter device_reporter_;
  Timer bounds_timer_;
  Timer phase_timer_;
  Task ready_;
  Phase phase_ = Phase::kNew;
};

}  // namespace koord::koordlet
