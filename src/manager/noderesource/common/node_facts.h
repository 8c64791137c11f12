#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/node_metric.h"
#include "api/priority.h"
#include "base/clock.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "manager/noderesource/common/cpu_memory.h"

// What the formulas need to know about a node, gathered once for all of them.
namespace koord::manager {

// A pod that holds resources of its node: it runs, or is about to.
struct HostedPod {
  std::shared_ptr<const kube::Pod> pod;
  api::PriorityBand band = api::PriorityBand::kNone;  // with its default
  api::QosClass qos = api::QosClass::kNone;           // likewise
  CpuMemory request;
  const api::PodUsage* usage = nullptr;  // null: not measured yet

  // Whether idle resources are taken from what it leaves, or given to it.
  bool high_priority() const {
    return band != api::PriorityBand::kBatch && band != api::PriorityBand::kFree;
  }
};

struct NodePods {
  std::vector<HostedPod> pods;
  std::vector<const api::PodUsage*> dangling;  // measured, but there is no such pod (any more)
};

// Points into `metric`, which may be null.
NodePods JoinPods(const std::vector<std::shared_ptr<const kube::Pod>>& pods,
                  const api::NodeMetric* metric);
bool IsHighPriority(const api::PodUsage& dangling);

// What is kept from pods: by the kubelet (capacity that is not allocatable) and by the node's
// annotation. The larger of both counts.
struct NodeReserved {
  CpuMemory kubelet, annotation, total;
};
NodeReserved ReservedOn(const kube::Node& node);

// What processes outside of pods use that are more important than `band`.
CpuMemory HostApplicationsAbove(api::PriorityBand band, const api::NodeMetricStatus& metric);

// Why the metric says nothing about now; nothing if it does.
std::optional<std::string> WhyStale(const api::NodeMetric* metric, Duration degrade_time,
                                    WallTime now);

}  // namespace koord::manager
