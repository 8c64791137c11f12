#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/default_strategies.h"
#include "api/node_metric.h"
#include "api/node_slo.h"
#include "base/clock.h"
#include "base/milli_cpu.h"
#include "koordlet/informers/node_pod.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/metrics/node_info.h"
#include "kube/json.h"

// The status of a node's NodeMetric: what the node and its pods have used lately.
namespace koord::koordlet {

enum class MemoryPolicy : uint8_t { kWithoutPageCache, kWithHotPages, kWithPageCache };

// How the cluster wants the node to report, with defaults and lower bounds applied.
struct NodeMetricPolicy {
  Duration aggregate = api::kDefaultMetricAggregate;
  Duration interval = api::kDefaultMetricInterval;
  std::vector<Duration> durations{api::kDefaultMetricDurations.begin(),
                                  api::kDefaultMetricDurations.end()};
  MemoryPolicy memory = MemoryPolicy::kWithoutPageCache;

  bool operator==(const NodeMetricPolicy&) const = default;
};
NodeMetricPolicy NodeMetricPolicyOf(const api::NodeMetricSpec& spec);

// What production pods have asked for and will not use, and what they will use at their peak.
struct PredictedUsage {
  api::ResourceMap reclaimable;          // empty: not known
  std::optional<api::ResourceMap> peak;  // none: not known
};
api::ResourceMap ResourcesOf(MilliCpu cpu, int64_t memory_bytes);

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
