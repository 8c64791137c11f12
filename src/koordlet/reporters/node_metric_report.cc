#include "koordlet/reporters/node_metric_report.h"

#include <algorithm>
#include <cmath>

#include "api/extended_resources.h"
#include "base/duration.h"
#include "kube/quantity.h"

namespace koord::koordlet {
namespace {

using api::ResourceMap;
using kube::Quantity;

constexpr Duration kLeastAggregate = 60s;
constexpr Duration kLeastInterval = 30s;

// Which figure of a summary is reported under which name.
struct Figure {
  std::string_view name;
  double MetricSummary::*value;
};
constexpr Figure kFigures[] = {
    {api::kAggregationAverage, &MetricSummary::average},
    {api::kAggregationP50, &MetricSummary::p50},
    {api::kAggregationP90, &MetricSummary::p90},
    {api::kAggregationP95, &MetricSummary::p95},
    {api::kAggregationP99, &MetricSummary::p99},
};

int64_t Whole(double value) {
  if (!(value > 0)) return 0;
  return value >= 9e18 ? INT64_MAX : static_cast<int64_t>(value);
}

Quantity Bytes(double value) { return Quantity(Whole(value), Quantity::Format::kBinarySi); }

ResourceMap UsageOf(double cores, double bytes) {
  return ResourcesOf(MilliCpu(Whole(cores * 1000)), Whole(bytes));
}

struct MemoryMetrics {
  Metric without, hot, with;
};
constexpr MemoryMetrics kNodeMemory{Metric::kNodeMemory, Metric::kNodeMemoryWithHotPages,
                                    Metric::kNodeMemoryWithPageCache};
constexpr MemoryMetrics kPodMemory{Metric::kPodMemory, Metric::kPodMemoryWithHotPages,
                                   Metric::kPodMemoryWithPageCache};
constexpr MemoryMetrics kAppMemory{Metric::kHostAppMemory, Metric::kHostAppMemory,
                                   Metric::kHostAppMemoryWithPageCache};

Metric Chosen(const MemoryMetrics& metrics, const NodeMetricInputs& inputs) {
  switch (inputs.policy.memory) {
    case MemoryPolicy::kWithPageCache:
      return metrics.with;
    case MemoryPolicy::kWithHotPages:
      return inputs.has_cold_pages ? metrics.hot : metrics.without;
    case MemoryPolicy::kWithoutPageCache:
      break;
  }
  return metrics.without;
}

api::DeviceInfo GpuUsage(const GpuDevice& gpu, double core, double memory) {
  api::DeviceInfo device;
  device.type = api::kDeviceGpu;
  device.id = gpu.uuid;
  device.minor = gpu.minor;
  device.resources.emplace(api::kGpuCore, Quantity(Whole(core)));
  device.resources.emplace(api::kGpuMemory, Bytes(memory));
  const double ratio =
      gpu.memory_total > 0 ? 100 * memory / static_cast<double>(gpu.memory_total) : 0;
  device.resources.emplace(api::kGpuMemoryRatio, Quantity(Whole(ratio)));
  return device;
}

class Builder {
 public:
  explicit Builder(const NodeMetricInputs& inputs) : inputs_(inputs) {}

  api::NodeMetricStatus Build() const {
    api::NodeMetricStatus status;
    status.update_time = inputs_.now;
    status.node_metric = Node();
    status.pods_metric = Pods();
    status.host_application_metric = Applications();
    PredictedUsage predicted;
    if (inputs_.predict) predicted = inputs_.predict(Measured(status.pods_metric));
    status.prod_reclaimable_metric = api::ReclaimableMetric{std::move(predicted.reclaimable)};
    if (predicted.peak) status.prod_peak_metric = api::ReclaimableMetric{*predicted.peak};
    return status;
  }

 private:
  std::optional<double> Mean(const MetricKey& key) const {
    const auto summary = inputs_.metrics.Average(key, inputs_.policy.aggregate);
    if (!summary) return std::nullopt;
    return summary->average;
  }

  // Both or nothing: half a usage would be taken for a whole one.
  std::optional<ResourceMap> MeanUsage(const MetricKey& cpu, const MetricKey& memory) const {
    const auto cores = Mean(cpu);
    const auto bytes = Mean(memory);
    if (!cores || !bytes) return std::nullopt;
    return UsageOf(*cores, *bytes);
  }

  api::NodeUsage Node() const {
    const Metric memory = Chosen(kNodeMemory, inputs_);
    api::NodeUsage usage;
    usage.node_usage = MeanUsage({Metric::kNodeCpu}, {memory}).value_or(ResourceMap{});
    if (!usage.node_usage.resources.empty()) usage.node_usage.devices = NodeGpus();
    usage.system_usage =
        MeanUsage({Metric::kSystemCpu}, {Metric::kSystemMemory}).value_or(ResourceMap{});
    for (const Duration duration : inputs_.policy.durations) {
      usage.aggregated_node_usages.push_back(
          Aggregate(duration, Metric::kNodeCpu, memory, /*with_gpus=*/true));
      usage.aggregated_system_usages.push_back(
          Aggregate(duration, Metric::kSystemCpu, Metric::kSystemMemory, /*with_gpus=*/false));
    }
    usage.numa_usages = NumaNodes();
    return usage;
  }

  // Figures of less than half of the time would say little about it.
  std::optional<MetricSummary> Warm(const MetricKey& key, Duration duration) const {
    auto summary = inputs_.metrics.Summarize(key, duration);
    if (summary && summary->newest - summary->oldest < duration / 2) return std::nullopt;
    return summary;
  }

  api::AggregatedUsage Aggregate(Duration duration, Metric cpu, Metric memory,
                                 bool with_gpus) const {
    api::AggregatedUsage aggregated;
    aggregated.duration = duration;
    const auto cores = Warm({cpu}, duration);
    const auto bytes = Warm({memory}, duration);
    for (const Figure& figure : kFigures) {
      ResourceMap& map = aggregated.usage[std::string(figure.name)];
      if (!cores || !bytes) continue;
      map = UsageOf((*cores).*figure.value, (*bytes).*figure.value);
      if (with_gpus) map.devices = Gpus(duration, figure);
    }
    return aggregated;
  }

  std::vector<api::DeviceInfo> Gpus(Duration duration, const Figure& figure) const {
    std::vector<api::DeviceInfo> devices;
    if (inputs_.info.gpus() == nullptr) return devices;
    for (const GpuDevice& gpu : inputs_.info.gpus()->gpus) {
      const auto core = inputs_.metrics.Summarize({Metric::kNodeGpuCore, gpu.uuid}, duration);
      const auto memory = inputs_.metrics.Summarize({Metric::kNodeGpuMemory, gpu.uuid}, duration);
      if (!core || !memory) continue;
      devices.push_back(GpuUsage(gpu, (*core).*figure.value, (*memory).*figure.value));
    }
    return devices;
  }

  std::vector<api::DeviceInfo> NodeGpus() const {
    return Gpus(inputs_.policy.aggregate, kFigures[0]);
  }

  std::vector<api::DeviceInfo> PodGpus(std::string_view uid) const {
    std::vector<api::DeviceInfo> devices;
    if (inputs_.info.gpus() == nullptr) return devices;
    for (const GpuDevice& gpu : inputs_.info.gpus()->gpus) {
      const auto core = Mean({Metric::kPodGpuCore, uid, gpu.uuid});
      const auto memory = Mean({Metric::kPodGpuMemory, uid, gpu.uuid});
      if (core && memory) devices.push_back(GpuUsage(gpu, *core, *memory));
    }
    return devices;
  }

  std::vector<api::NumaUsage> NumaNodes() const {
    std::vector<api::NumaUsage> usages;
    if (inputs_.info.numa() == nullptr) return usages;
    for (const NumaNode& numa : *inputs_.info.numa()) {
      const std::string id = std::to_string(numa.id);
      auto usage = MeanUsage({Metric::kNodeNumaCpu, {}, id}, {Metric::kNodeNumaMemory, {}, id});
      if (!usage) continue;
      usages.push_back(
          {numa.id, *std::move(usage),
           MeanUsage({Metric::kSystemNumaCpu, {}, id}, {Metric::kSystemNumaMemory, {}, id})
               .value_or(ResourceMap{})});
    }
    return usages;
  }

  std::vector<api::PodUsage> Pods() const {
    const Metric memory = Chosen(kPodMemory, inputs_);
    std::vector<api::PodUsage> usages;
    for (const NodePod& pod : inputs_.pods) {
      auto usage = MeanUsage({Metric::kPodCpu, pod.uid()}, {memory, pod.uid()});
      if (!usage) continue;
      usage->devices = PodGpus(pod.uid());
      usages.push_back({.name = pod.pod->metadata.name,
                        .ns = pod.pod->metadata.ns,
                        .pod_usage = *std::move(usage),
                        .priority = std::string(api::ToString(pod.band)),
                        .qos = std::string(api::ToString(pod.qos)),
                        .extensions = {}});
    }
    return usages;
  }

  // Both are in the order of namespace and name.
  std::vector<const NodePod*> Measured(const std::vector<api::PodUsage>& usages) const {
    std::vector<const NodePod*> measured;
    auto usage = usages.begin();
    for (const NodePod& pod : inputs_.pods) {
      if (usage == usages.end()) break;
      const kube::ObjectMeta& meta = pod.pod->metadata;
      if (meta.ns != usage->ns || meta.name != usage->name) continue;
      measured.push_back(&pod);
      ++usage;
    }
    return measured;
  }

  std::vector<api::HostApplicationUsage> Applications() const {
    std::vector<api::HostApplicationUsage> usages;
    if (inputs_.slo == nullptr) return usages;
    const Metric memory = Chosen(kAppMemory, inputs_);
    for (const api::HostApplication& app : inputs_.slo->host_applications) {
      auto usage = MeanUsage({Metric::kHostAppCpu, app.name}, {memory, app.name});
      if (usage) usages.push_back({app.name, *std::move(usage), app.priority, app.qos});
    }
    std::sort(usages.begin(), usages.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return usages;
  }

  const NodeMetricInputs& inputs_;
};

}  // namespace

api::ResourceMap ResourcesOf(MilliCpu cpu, int64_t memory_bytes) {
  ResourceMap map;
  map.resources.emplace(kube::kCpu, Quantity::FromMilli(cpu.value()));
  map.resources.emplace(kube::kMemory, Quantity(memory_bytes, Quantity::Format::kBinarySi));
  return map;
}

NodeMetricPolicy NodeMetricPolicyOf(const api::NodeMetricSpec& spec) {
  NodeMetricPolicy policy;
  if (!spec.metric_collect_policy) return policy;
  const api::MetricCollectPolicy& given = *spec.metric_collect_policy;
  const auto at_least = [](int64_t seconds, Duration least) {
    return std::max<Duration>(BoundedSeconds(seconds), least);
  };
  if (given.aggregate_duration_seconds) {
    policy.aggregate = at_least(*given.aggregate_duration_seconds, kLeastAggregate);
  }
  if (given.report_interval_seconds) {
    policy.interval = at_least(*given.report_interval_seconds, kLeastInterval);
  }
  if (given.node_aggregate_policy) policy.durations = given.node_aggregate_policy->durations;
  std::erase_if(policy.durations, [](Duration duration) { return duration <= Duration::zero(); });
  const std::string_view memory =
      given.node_memory_collect_policy ? *given.node_memory_collect_policy : std::string_view();
  if (memory == "usageWithPageCache") policy.memory = MemoryPolicy::kWithPageCache;
  if (memory == "usageWithHotPageCache") policy.memory = MemoryPolicy::kWithHotPages;
  return policy;
}

api::NodeMetricStatus BuildNodeMetricStatus(const NodeMetricInputs& inputs) {
  return Builder(inputs).Build();
}

kube::Json NodeMetricPatch(const api::NodeMetricStatus& status) {
  kube::Json encoded = kube::Encode(status);
  for (const char* member : {"podsMetric", "hostApplicationMetric", "prodPeakMetric"}) {
    encoded.as_object().emplace(member, nullptr);
  }
  kube::Json* node = kube::Find(encoded, {"nodeMetric"});
  if (node != nullptr && node->is_object()) {
    for (const char* member : {"aggregatedNodeUsages", "aggregatedSystemUsages", "numaUsages"}) {
      node->as_object().emplace(member, nullptr);
    }
  }
  return {{"status", std::move(encoded)}};
}

}  // namespace koord::koordlet
