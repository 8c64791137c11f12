#include "localcluster/nodes/node_metrics.h"

#include <algorithm>
#include <cmath>

#include "api/qos.h"
#include "base/duration.h"
#include "kube/quantity.h"

namespace koord::localcluster {
namespace {

using api::ResourceMap;
using kube::Quantity;

// What the peak predictor adds to be safe.
constexpr double kSafetyMargin = 1.1;
constexpr Duration kLeastAggregate = 60s;
constexpr Duration kLeastInterval = 30s;

struct Percentile {
  std::string_view name;
  float share;
};
constexpr Percentile kPercentiles[] = {{api::kAggregationP50, 0.5f},
                                       {api::kAggregationP90, 0.9f},
                                       {api::kAggregationP95, 0.95f},
                                       {api::kAggregationP99, 0.99f}};

ResourceMap ToResources(const Usage& usage) {
  ResourceMap map;
  map.resources.emplace("cpu", Quantity::FromMilli(static_cast<int64_t>(usage.cpu * 1000)));
  map.resources.emplace("memory",
                        Quantity(static_cast<int64_t>(usage.memory), Quantity::Format::kBinarySi));
  return map;
}

using Part = Usage UsageSample::*;

Usage Average(const std::vector<UsageSample>& samples, Part part) {
  Usage sum;
  for (const UsageSample& sample : samples) sum += sample.*part;
  const auto count = static_cast<double>(samples.size());
  return {sum.cpu / count, sum.memory / count};
}

Usage At(const std::vector<UsageSample>& samples, Part part, float percentile) {
  std::vector<double> cpu, memory;
  for (const UsageSample& sample : samples) {
    cpu.push_back((sample.*part).cpu);
    memory.push_back((sample.*part).memory);
  }
  return {PercentileOf(std::move(cpu), percentile), PercentileOf(std::move(memory), percentile)};
}

api::AggregatedUsage Aggregate(const ReportInput& input, Duration duration, Part part) {
  api::AggregatedUsage aggregated{.duration = duration};
  const std::vector<UsageSample> samples = input.history.Last(duration, input.now);
  const bool cold = samples.empty() || samples.back().time - samples.front().time < duration / 2;
  const auto put = [&](std::string_view name, auto usage) {
    aggregated.usage[std::string(name)] = cold ? ResourceMap{} : ToResources(usage());
  };
  put(api::kAggregationAverage, [&] { return Average(samples, part); });
  for (const Percentile& each : kPercentiles) {
    put(each.name, [&] { return At(samples, part, each.share); });
  }
  return aggregated;
}

api::NodeUsage NodeUsageOf(const ReportInput& input) {
  api::NodeUsage usage;
  const std::vector<UsageSample> recent = input.history.Last(input.policy.aggregate, input.now);
  if (!recent.empty()) {
    usage.node_usage = ToResources(Average(recent, &UsageSample::node));
    usage.system_usage = ToResources(Average(recent, &UsageSample::system));
  }
  for (Duration duration : input.policy.durations) {
    usage.aggregated_node_usages.push_back(Aggregate(input, duration, &UsageSample::node));
    usage.aggregated_system_usages.push_back(Aggregate(input, duration, &UsageSample::system));
  }
  return usage;
}

std::vector<api::PodUsage> PodUsagesOf(const ReportInput& input) {
  std::vector<api::PodUsage> usages;
  for (const MeasuredPod& each : input.pods) {
    const auto usage = AverageOf(each.load, input.policy.aggregate, input.now);
    if (!usage) continue;
    usages.push_back({.name = each.pod->metadata.name,
                      .ns = each.pod->metadata.ns,
                      .pod_usage = ToResources(*usage),
                      .priority = std::string(api::ToString(each.load.band())),
                      .qos = std::string(api::ToString(api::QosClassOf(*each.pod)))});
  }
  return usages;
}

// What production has asked for beyond its probable peak, as far as the node has it.
double Reclaimable(double allocatable, double requested, double peak) {
  return std::min(std::max(allocatable - peak, 0.0), std::max(requested - peak, 0.0));
}

ResourceMap ProdReclaimable(const ReportInput& input) {
  const std::vector<UsageSample> samples = input.history.Last(input.policy.Longest(), input.now);
  if (samples.empty()) return {};
  Usage requested;
  for (const MeasuredPod& each : input.pods) {
    const api::PriorityBand band = each.load.band();
    const bool prod = band == api::PriorityBand::kProd || band == api::PriorityBand::kNone;
    if (prod) requested += each.load.requested();
  }
  Usage peak{At(samples, &UsageSample::prod, 0.95f).cpu,
             At(samples, &UsageSample::prod, 0.98f).memory};
  peak += At(samples, &UsageSample::system, 0.95f);
  return ToResources(
      {Reclaimable(input.allocatable.cpu, requested.cpu, peak.cpu * kSafetyMargin),
       Reclaimable(input.allocatable.memory, requested.memory, peak.memory * kSafetyMargin)});
}

}  // namespace

Duration ReportPolicy::Longest() const {
  Duration longest = aggregate;
  for (Duration duration : durations) longest = std::max(longest, duration);
  return longest;
}

ReportPolicy PolicyOf(const api::NodeMetricSpec& spec) {
  ReportPolicy policy;
  if (!spec.metric_collect_policy) return policy;
  const api::MetricCollectPolicy& given = *spec.metric_collect_policy;
  if (given.aggregate_duration_seconds) {
    policy.aggregate =
        std::max<Duration>(BoundedSeconds(*given.aggregate_duration_seconds), kLeastAggregate);
  }
  if (given.report_interval_seconds) {
    policy.interval =
        std::max<Duration>(BoundedSeconds(*given.report_interval_seconds), kLeastInterval);
  }
  if (given.node_aggregate_policy) policy.durations = given.node_aggregate_policy->durations;
  return policy;
}

double PercentileOf(std::vector<double> samples, float percentile) {
  if (samples.empty()) return 0;
  const auto count = static_cast<float>(samples.size());
  const auto index = std::max<int64_t>(static_cast<int64_t>(count * percentile) - 1, 0);
  std::nth_element(samples.begin(), samples.begin() + index, samples.end());
  return samples[static_cast<size_t>(index)];
}

api::NodeMetricStatus NodeMetricStatusOf(const ReportInput& input) {
  api::NodeMetricStatus status;
  status.update_time = input.now;
  status.node_metric = NodeUsageOf(input);
  status.pods_metric = PodUsagesOf(input);
  status.prod_reclaimable_metric = api::ReclaimableMetric{ProdReclaimable(input)};
  return status;
}

kube::Json StatusReplacement(const api::NodeMetricStatus& status) {
  kube::Json encoded = kube::Encode(status);
  for (const char* member : {"podsMetric", "hostApplicationMetric", "prodPeakMetric"}) {
    encoded.as_object().emplace(member, nullptr);
  }
  return {{"status", std::move(encoded)}};
}

}  // namespace koord::localcluster
