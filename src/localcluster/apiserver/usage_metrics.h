#pragma once
#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"

namespace koord::apiserver {

inline constexpr std::string_view kMetricsGroup = "metrics.k8s.io";

// Answers for metrics.k8s.io, by which `kubectl top` works: what nodes and pods use according to
// the NodeMetrics that koordlet reports. What nobody has reported is not there. A NodeMetric does
// not tell a pod's containers apart: one entry stands for all, with their names.
void RespondUsage(Core& core, Request& request);

}  // namespace koord::apiserver
