#pragma once
#include <array>
#include <cstdint>

#include "api/node_metric.h"
#include "api/node_slo.h"
#include "api/qos.h"
#include "api/qos_strategy.h"
#include "base/clock.h"

// What holds on a node of which nobody says anything: koord-manager writes it into NodeSLO and
// NodeMetric, and koordlet takes it where they are silent.
namespace koord::api {

ResourceThresholdStrategy DefaultThresholdStrategy();
CpuBurstStrategy DefaultCpuBurstStrategy();

// How nodes measure and report.
inline constexpr Duration kDefaultMetricAggregate = 5min;
inline constexpr Duration kDefaultMetricInterval = 1min;
inline constexpr std::array<Duration, 3> kDefaultMetricDurations = {5min, 10min, 30min};
MetricCollectPolicy DefaultMetricCollectPolicy();

// All of a NodeSLO.
const NodeSloSpec& DefaultNodeSlo();

// What holds for a class whose block is switched off: as if it were not there.
const CpuQos& NoCpuQos();
const ResctrlQos& NoResctrlQos();
const MemoryQos& NoMemoryQos();

// The default of a pod's class, whatever the node says.
const MemoryQos& DefaultMemoryQos(QosClass qos);

// Of members that stay unset where nobody sets them, so that others can tell.
inline constexpr int64_t kDefaultBeUsageThresholdPercent = 90;  // cpuEvictBEUsageThresholdPercent
inline constexpr int64_t kDefaultEvictionDepthPercent = 2;  // from the threshold to the lower bound
inline constexpr int64_t kDefaultIoWeightPercent = 100;
inline constexpr int64_t kDefaultIoLatencyMicros = 3000;
inline constexpr int64_t kDefaultIoLatencyPercent = 95;

}  // namespace koord::api
