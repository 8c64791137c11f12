#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/device.h"
#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"
#include "kube/time.h"

// What a node and its pods really use, reported by koordlet under the node's name.
namespace koord::api {

inline constexpr std::string_view kAggregationAverage = "avg";
inline constexpr std::string_view kAggregationP99 = "p99";
inline constexpr std::string_view kAggregationP95 = "p95";
inline constexpr std::string_view kAggregationP90 = "p90";
inline constexpr std::string_view kAggregationP50 = "p50";

struct AggregatePolicy {
  std::vector<Duration> durations;

  static void Fields(auto& self, auto&& field) { field("durations", self.durations); }
  bool operator==(const AggregatePolicy&) const = default;
};

struct MetricCollectPolicy {
  std::optional<int64_t> aggregate_duration_seconds;
  std::optional<int64_t> report_interval_seconds;
  std::optional<AggregatePolicy> node_aggregate_policy;
  // usageWithHotPageCache, usageWithoutPageCache, usageWithPageCache
  std::optional<std::string> node_memory_collect_policy;

  static void Fields(auto& self, auto&& field) {
    field("aggregateDurationSeconds", self.aggregate_duration_seconds);
    field("reportIntervalSeconds", self.report_interval_seconds);
    field("nodeAggregatePolicy", self.node_aggregate_policy);
    field("nodeMemoryCollectPolicy", self.node_memory_collect_policy);
  }
  bool operator==(const MetricCollectPolicy&) const = default;
};

struct NodeMetricSpec {
  std::optional<MetricCollectPolicy> metric_collect_policy;

  static void Fields(auto& self, auto&& field) {
    field("metricCollectPolicy", self.metric_collect_policy);
  }
  bool operator==(const NodeMetricSpec&) const = default;
};

struct ResourceMap {
  kube::ResourceList resources;
  std::vector<DeviceInfo> devices;

  static void Fields(auto& self, auto&& field) {
    field("resources", self.resources);
    field("devices", self.devices);
  }
  bool operator==(const ResourceMap&) const = default;
};

struct AggregatedUsage {
  std::map<std::string, ResourceMap, std::less<>> usage;  // by avg, p99, ...
  Duration duration{};

  static void Fields(auto& self, auto&& field) {
    field("usage", self.usage);
    field("duration", self.duration);
  }
  bool operator==(const AggregatedUsage&) const = default;
};

struct NumaUsage {
  int32_t numa_node_id = 0;
  ResourceMap node_usage;
  ResourceMap system_usage;

  static void Fields(auto& self, auto&& field) {
    field("numaNodeID", kube::Always(self.numa_node_id));
    field("nodeUsage", kube::Always(self.node_usage));
    field("systemUsage", kube::Always(self.system_usage));
  }
  bool operator==(const NumaUsage&) const = default;
};

struct NodeUsage {
  ResourceMap node_usage;
  std::vector<AggregatedUsage> aggregated_node_usages;
  ResourceMap system_usage;  // without pods and host applications
  std::vector<AggregatedUsage> aggregated_system_usages;
  std::vector<NumaUsage> numa_usages;

  static void Fields(auto& self, auto&& field) {
    field("nodeUsage", kube::Always(self.node_usage));
    field("aggregatedNodeUsages", self.aggregated_node_usages);
    field("systemUsage", kube::Always(self.system_usage));
    field("aggregatedSystemUsages", self.aggregated_system_usages);
    field("numaUsages", self.numa_usages);
  }
  bool operator==(const NodeUsage&) const = default;
};

struct PodUsage {
  std::string name;
  std::string ns;
  ResourceMap pod_usage;
  std::string priority;  // "koord-prod", ...
  std::string qos;       // "LS", ...
  kube::Json extensions;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("namespace", self.ns);
    field("podUsage", kube::Always(self.pod_usage));
    field("priority", self.priority);
    field("qos", self.qos);
    field("extensions", self.extensions);
  }
  bool operator==(const PodUsage&) const = default;
};

struct HostApplicationUsage {
  std::string name;
  ResourceMap usage;
  std::string priority;
  std::string qos;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("usage", kube::Always(self.usage));
    field("priority", self.priority);
    field("qos", self.qos);
  }
  bool operator==(const HostApplicationUsage&) const = default;
};

struct ReclaimableMetric {
  ResourceMap resource;

  static void Fields(auto& self, auto&& field) { field("resource", kube::Always(self.resource)); }
  bool operator==(const ReclaimableMetric&) const = default;
};

struct NodeMetricStatus {
  std::optional<WallTime> update_time;
  std::optional<NodeUsage> node_metric;
  std::vector<PodUsage> pods_metric;
  std::vector<HostApplicationUsage> host_application_metric;
  std::optional<ReclaimableMetric> prod_reclaimable_metric;
  std::optional<ReclaimableMetric> prod_peak_metric;

  static void Fields(auto& self, auto&& field) {
    field("updateTime", self.update_time);
    field("nodeMetric", self.node_metric);
    field("podsMetric", self.pods_metric);
    field("hostApplicationMetric", self.host_application_metric);
    field("prodReclaimableMetric", self.prod_reclaimable_metric);
    field("prodPeakMetric", self.prod_peak_metric);
  }
  bool operator==(const NodeMetricStatus&) const = default;
};

struct NodeMetric {
  kube::ObjectMeta metadata;
  NodeMetricSpec spec;
  NodeMetricStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const NodeMetric&) const = default;
};

}  // namespace koord::api

KOORD_DECLARE_CODEC(koord::api::NodeMetricSpec);
KOORD_DECLARE_CODEC(koord::api::NodeMetricStatus);
KOORD_DECLARE_CODEC(koord::api::NodeMetric);
