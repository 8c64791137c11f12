#pragma once
#include <string>

#include "scheduler/core/scheduler.h"

namespace koord::scheduler {

// kube_pod_resource_request and kube_pod_resource_limit of every pod that has not ended, in
// Prometheus' text format.
std::string ResourceMetrics(const Scheduler& scheduler);

}  // namespace koord::scheduler
