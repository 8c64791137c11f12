#pragma once
#include <functional>
#include <memory>

#include "api/device.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "base/event_loop.h"
#include "base/metrics/metrics.h"
#include "base/random.h"
#include "koordlet/agent/koordlet_options.h"
#include "koordlet/agent/node_knowledge.h"
#include "koordlet/agent/reporting.h"
#include "koordlet/agent/start_phases.h"
#include "koordlet/enforcement/enforcement.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/host/host.h"
#include "koordlet/informers/kubelet_client.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/metrics/collectors/metric_advisor.h"
#include "koordlet/metrics/node_info.h"
#include "koordlet/prediction/predictor.h"
#include "kube/client/client.h"

namespace koord::koordlet {

// koordlet without its shell: everything but flags, sockets and most watches, so that the program,
// the nodes of a local cluster and simulations run the same thing. What it knows of the cluster it
// is told (On...); what it does to the machine goes through `host`.
//
// It puts its parts together and does nothing itself: what is known (NodeKnowledge), measured
// (MetricAdvisor, Predictor), done (Enforcement) and reported (Reporting), and in which order that
// begins (StartPhases).
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
  void OnPods(const PodList::Pods& pods);
  // The cgroup of a pod has appeared.
  void OnPodCgroup();

  // One pass of everything that is enabled, now: to look on, not to live by.
  void CollectOnce();
  void EnforceOnce();

  const KoordletOptions& options() const { return options_; }
  NodeState& state() { return knowledge_.state(); }
  MetricStore& metrics() { return metrics_; }
  ResourceExecutor& executor() { return executor_; }
  TopologyReporter& topology_reporter() { return reporting_.topology(); }
  hooks::HookRunner& hook_runner() { return enforcement_.hook_runner(); }  // until Stop
  // Whether it has come so far as to act.
  bool acting() const { return phases_.acting(); }
  Status Healthy() const { return phases_.Healthy(); }

 private:
  QosContext StrategyContext();
  hooks::RuntimeHooks::Surroundings HookSurroundings();
  void StartCollecting();
  void StartActing();

  EventLoop& loop_;
  Host& host_;
  const KoordletOptions options_;
  const Parts parts_;
  metrics::Registry own_internal_, own_external_;
  metrics::Registry& internal_;
  metrics::Registry& external_;
  Random random_;
  NodeInfoCache info_;
  MetricStore metrics_;
  ResourceExecutor executor_;

  NodeKnowledge knowledge_;
  MetricAdvisor advisor_;
  Predictor predictor_;
  Enforcement enforcement_;
  Reporting reporting_;
  StartPhases phases_;
};

}  // namespace koord::koordlet
