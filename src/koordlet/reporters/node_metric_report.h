#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/node_metric.h"
#include "api/node_slo.h"
#include "base/clock.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/metrics/node_info.h"
#include "koordlet/states/node_pod.h"
#include "kube/json.h"

// The status of a node's NodeMetric: what the node and its pods have used lately.
namespace koord::koordlet {

enum class MemoryPolicy : uint8_t { kWithoutPageCache, kWithHotPages, kWithPageCache };

// How the cluster wants the node to report, with defaults and lower bounds applied.
struct NodeMetricPolicy {
  Duration aggregate = std::chrono::minutes(5);
  Duration interval = std::chrono::minutes(1);
  std::vector<Duration> durations = {std::chrono::minutes(5), std::chrono::minutes(10),
                                     std::chrono::minutes(30)};
  MemoryPolicy memory = MemoryPolicy::kWithoutPageCache;

  bool operator==(const NodeMetricPolicy&) const = default;
};
NodeMetricPolicy NodeMetricPolicyOf(const api::NodeMetricSpec& spec);

// What production pods have asked for and will not use, and what they will use at their peak.
struct PredictedUsage {
  api::ResourceMap reclaimable;          // empty: not known
  std::optional<api::ResourceMap> peak;  // none: not known
};
// cpu in milli-cores, memory in bytes.
api::ResourceMap ResourcesOf(int64_t cpu_milli, int64_t memory);

struct NodeMetricInputs {
  const NodeMetricPolicy& policy;
  const MetricStore& metrics;
  const NodeInfoCache& info;
  const NodePods& pods;
  const api::NodeSloSpec* slo = nullptr;  // for its host applications
  // Asked with the pods that have been measured; null: nothing is predicted.
  std::function<PredictedUsage(std::span<const NodePod* const>)> predict = nullptr;
  bool has_cold_pages = false;  // cold memory is collected
  WallTime now{};
};

api::NodeMetricStatus BuildNodeMetricStatus(const NodeMetricInputs& inputs);

// A merge patch that makes the status this one: members that it does not have are taken away.
kube::Json NodeMetricPatch(const api::NodeMetricStatus& status);

}  // namespace koord::koordlet
