#pragma once
#include <memory>

#include "api/device.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "base/event_loop.h"
#include "koordlet/agent/koordlet_options.h"
#include "koordlet/host/host.h"
#include "koordlet/informers/kubelet_client.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/metrics/node_info.h"
#include "koordlet/prediction/predictor.h"
#include "koordlet/reporters/device_reporter.h"
#include "koordlet/reporters/node_metric_reporter.h"
#include "koordlet/reporters/topology_reporter.h"
#include "kube/client/client.h"

namespace koord::koordlet {

// What the API server hears of the node: its usage, its processors and, where their gates are on,
// its devices.
class Reporting {
 public:
  // What is reported; all of it outlives this.
  struct Sources {
    const Host& host;
    NodeState& state;  // koordlet's own view of the topology is kept there
    const NodeInfoCache& info;
    const MetricStore& metrics;
    Predictor& predictor;
    KubeletClient* kubelet = nullptr;     // null: it is not asked for its configuration
    const FileTree* xpu_files = nullptr;  // lists of devices; null: there are none
  };

  Reporting(EventLoop& loop, kube::Client& client, const Sources& sources,
            const KoordletOptions& options, uint64_t seed);

  // The objects as they are in the cluster; null: there is none.
  void SetNodeMetric(const std::shared_ptr<const api::NodeMetric>& metric);
  void SetTopology(std::shared_ptr<const api::NodeResourceTopology> topology);
  void SetDevice(std::shared_ptr<const api::Device> device);

  void Start();
  void Stop();

  TopologyReporter& topology() { return topology_; }

 private:
  api::NodeMetricStatus BuildNodeMetric(const NodeMetricPolicy& policy);

  const Clock& clock_;
  const Sources sources_;
  const KoordletOptions& options_;
  NodeMetricReporter metric_;
  TopologyReporter topology_;
  DeviceReporter device_;
};

}  // namespace koord::koordlet
