#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "api/node_metric.h"
#include "base/clock.h"
#include "kube/json.h"
#include "kube/objects/pod.h"
#include "localcluster/nodes/usage_history.h"

// The NodeMetric that koordlet would report.
namespace koord::localcluster {

// How a node is to measure and report, with koordlet's defaults and lower bounds applied.
struct ReportPolicy {
  Duration interval = std::chrono::seconds(60);
  Duration aggregate = std::chrono::minutes(5);
  std::vector<Duration> durations = {std::chrono::minutes(5), std::chrono::minutes(10),
                                     std::chrono::minutes(30)};

  Duration Longest() const;
  bool operator==(const ReportPolicy&) const = default;
};
ReportPolicy PolicyOf(const api::NodeMetricSpec& spec);

struct MeasuredPod {
  std::shared_ptr<const kube::Pod> pod;
  PodLoad load;
};

struct ReportInput {
  const ReportPolicy& policy;
  const UsageHistory& history;
  const std::vector<MeasuredPod>& pods;  // in order of namespace and name
  Usage allocatable;
  WallTime now;
};

// Averages over the policy's aggregate duration for the node, what is not pods, and each pod;
// percentiles of node and system for each of its durations, empty while less than half of the
// duration has been measured; and what production pods have asked for and will probably not use.
api::NodeMetricStatus NodeMetricStatusOf(const ReportInput& input);

// A merge patch that makes the status what it should be: absent members are taken away.
kube::Json StatusReplacement(const api::NodeMetricStatus& status);

// The sample at a percentile, as koordlet picks it. Samples need not be sorted; none gives 0.
double PercentileOf(std::vector<double> samples, float percentile);

}  // namespace koord::localcluster
