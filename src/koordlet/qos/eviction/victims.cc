#include "koordlet/qos/eviction/victims.h"

#include <algorithm>
#include <tuple>

#include "api/default_strategies.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/setting_rules.h"
#include "koordlet/qos/framework/amounts.h"
#include "koordlet/qos/framework/node_inputs.h"

namespace koord::koordlet {
namespace {

int64_t SubPriorityOf(const NodePod& pod, int32_t otherwise) {
  const auto& labels = pod.pod->metadata.labels;
  if (kube::ValueOf(labels, api::kLabelPriority).empty()) return otherwise;
  const auto sub_priority = api::SubPriority(labels);
  return sub_priority.ok() ? *sub_priority : otherwise;
}

bool MayBeEvicted(const NodePod& pod, std::string_view feature) {
  const auto& meta = pod.pod->metadata;
  return pod.is_active && kube::ValueOf(meta.labels, api::kLabelEvictionEnabled) == "true" &&
         api::MayBeEvictedBy(meta.annotations, feature);
}

bool ComesBefore(const Candidate& a, const Candidate& b, LargestFirst by) {
  const auto rank = [](const Candidate& c) {
    return std::tie(c.eviction_priority, c.priority, c.sub_priority);
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return by == LargestFirst::kUsed ? a.used > b.used : a.requested > b.requested;
}

// Milli-cores or bytes.
std::optional<int64_t> AmountIn(const kube::ResourceList& list, std::string_view resource) {
  if (resource != kube::kCpu) return ValueOf(list, resource);
  const auto cpu = CpuOf(list);
  return cpu ? std::optional(cpu->value()) : std::nullopt;
}

int64_t AmountUsed(Metric metric, double value) {
  return metric == Metric::kPodCpu ? MilliCpu::OfCores(value).value() : Truncate(value);
}

Metric MetricOf(std::string_view native) {
  return native == kube::kCpu ? Metric::kPodCpu : Metric::kPodMemory;
}

}  // namespace

std::string_view ResourceOfBand(api::PriorityBand band, std::string_view native) {
  const bool cpu = native == kube::kCpu;
  switch (band) {
    case api::PriorityBand::kMid:
      return cpu ? api::kMidCpu : api::kMidMemory;
    case api::PriorityBand::kBatch:
      return cpu ? api::kBatchCpu : api::kBatchMemory;
    default:
      return cpu ? kube::kCpu : kube::kMemory;
  }
}

int64_t RequestOf(const NodePod& pod, std::string_view resource) {
  return std::max<int64_t>(AmountIn(pod.requests, resource).value_or(0), 0);
}

std::vector<Candidate> EvictionCandidates(const QosContext& context, std::string_view feature,
                                          int32_t max_priority, Metric metric, LargestFirst by) {
  const std::string_view native = metric == Metric::kPodCpu ? kube::kCpu : kube::kMemory;
  std::vector<Candidate> candidates;
  for (const NodePod& pod : *context.state.pods()) {
    if (!MayBeEvicted(pod, feature)) continue;
    const int32_t priority = api::PriorityValueOf(*pod.pod);
    if (priority > max_priority) continue;
    const auto used = context.metrics.Last({metric, pod.uid()}, 2 * context.collect_interval);
    if (!used) continue;
    candidates.push_back(
        {.pod = &pod,
         .eviction_priority = api::EvictionPriorityOf(pod.pod->metadata.annotations),
         .priority = priority,
         .sub_priority = SubPriorityOf(pod, priority),
         .used = AmountUsed(metric, *used),
         .requested = RequestOf(pod, ResourceOfBand(pod.band, native))});
  }
  // Pods are in the order of their names, which decides what is equal otherwise.
  std::stable_sort(candidates.begin(), candidates.end(),
                   [by](const auto& a, const auto& b) { return ComesBefore(a, b, by); });
  return candidates;
}

std::optional<AllocatableLimits> CheckAllocatableLimits(std::optional<int64_t> threshold,
                                                        std::optional<int64_t> lower,
                                                        std::optional<int32_t> max_priority) {
  if (!threshold || !lower || !max_priority || *threshold < 0 || *lower >= *threshold ||
      *max_priority > api::kMaxAllocatableEvictPriority) {
    return std::nullopt;
  }
  return AllocatableLimits{*threshold, *lower};
}

Amounts AllocatableRelease(const Amounts& requests, const Amounts& allocatable,
                           const AllocatableLimits& limits) {
  Amounts release;
  for (const auto& [resource, requested] : requests) {
    if (requested <= 0) continue;
    const auto it = allocatable.find(resource);
    const int64_t have = it == allocatable.end() ? 0 : it->second;
    if (have <= 0) {
      release[resource] = requested;
      continue;
    }
    const auto hundredfold = static_cast<__int128>(requested) * 100;
    if (hundredfold <= static_cast<__int128>(have) * limits.threshold) continue;
    const int64_t amount =
        Saturate((hundredfold - static_cast<__int128>(have) * limits.lower) / 100);
    if (amount > 0) release[resource] = amount;
  }
  return release;
}

std::optional<EvictionTask> AllocatableTask(const QosContext& context, std::string_view feature,
                                            std::string_view native,
                                            const AllocatableLimits& limits, int32_t max_priority) {
  Amounts requests, allocatable;
  for (const NodePod& pod : *context.state.pods()) {
    if (api::PriorityValueOf(*pod.pod) > max_priority) continue;
    const std::string_view resource = ResourceOfBand(pod.band, native);
    int64_t& sum = requests[resource];
    sum = Plus(sum, RequestOf(pod, resource));
  }
  const auto& of_node = context.state.node()->status.allocatable;
  for (const auto& [resource, requested] : requests) {
    allocatable[resource] = AmountIn(of_node, resource).value_or(0);
  }
  EvictionTask task{.feature = feature,
                    .counts = EvictionTask::Counts::kRequested,
                    .release = AllocatableRelease(requests, allocatable, limits),
                    .victims = {}};
  if (task.release.empty()) return std::nullopt;
  for (const Candidate& c : EvictionCandidates(context, feature, max_priority, MetricOf(native),
                                               LargestFirst::kRequested)) {
    Victim victim{c.pod, {}};
    const std::string_view resource = ResourceOfBand(c.pod->band, native);
    if (resource != native && task.release.contains(resource)) {
      victim.frees[resource] = c.requested;
    }
    task.victims.push_back(std::move(victim));
  }
  return task;
}

EvictionTask UsedTask(const QosContext& context, std::string_view feature, std::string_view native,
                      int64_t release, int32_t max_priority) {
  EvictionTask task{.feature = feature, .release = {{native, release}}, .victims = {}};
  for (const Candidate& c :
       EvictionCandidates(context, feature, max_priority, MetricOf(native), LargestFirst::kUsed)) {
    task.victims.push_back({c.pod, {{native, c.used}}});
  }
  return task;
}

std::optional<UsageLimits> CheckUsageLimits(std::optional<int64_t> threshold,
                                            std::optional<int64_t> lower) {
  if (!threshold || *threshold < 0) return std::nullopt;
  const UsageLimits limits{*threshold,
                           lower.value_or(*threshold - api::kDefaultEvictionDepthPercent)};
  if (limits.lower >= limits.threshold) return std::nullopt;
  return limits;
}

std::optional<int64_t> UsageRelease(int64_t used, int64_t capacity, const UsageLimits& limits) {
  if (capacity <= 0) return std::nullopt;
  const int64_t percent = Scale(used, 100, capacity);
  if (percent < limits.threshold) return std::nullopt;
  const int64_t release = PercentOf(capacity, Minus(percent, limits.lower));
  if (release <= 0) return std::nullopt;
  return release;
}

}  // namespace koord::koordlet
