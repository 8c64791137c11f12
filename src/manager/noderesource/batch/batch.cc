#include "manager/noderesource/batch/batch.h"

#include <algorithm>

#include "api/cpu_annotations.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/node_annotations.h"

namespace koord::manager {
namespace {

using kube::Quantity;

// What pods above batch use, have asked for, and the more of both for each.
struct PodSums {
  CpuMemory used, request, max;

  void Add(const PodSums& other) {
    used += other.used;
    request += other.request;
    max += other.max;
  }
};

// A pod that is not measured yet counts as using what it asks for; one with CPUs of its own always
// uses all of them.
PodSums SumsOf(const HostedPod& pod) {
  if (pod.usage == nullptr) return {pod.request, pod.request, pod.request};
  const CpuMemory usage = CpuMemoryOf(pod.usage->pod_usage.resources);
  PodSums sums{usage, pod.request, Max(pod.request, usage)};
  if (pod.qos == api::QosClass::kLse) sums.used.cpu = pod.request.cpu;
  return sums;
}

PodSums SumsOf(const api::PodUsage& dangling) {
  const CpuMemory usage = CpuMemoryOf(dangling.pod_usage.resources);
  return {usage, {}, usage};
}

PodSums SumsOn(const NodePods& pods) {
  PodSums sums;
  for (const HostedPod& pod : pods.pods) {
    if (pod.high_priority()) sums.Add(SumsOf(pod));
  }
  for (const api::PodUsage* usage : pods.dangling) {
    if (IsHighPriority(*usage)) sums.Add(SumsOf(*usage));
  }
  return sums;
}

PodSums Part(const PodSums& sums, int64_t parts) {
  return {Divide(sums.used, parts), Divide(sums.request, parts), Divide(sums.max, parts)};
}

// The zones that the scheduler has put a pod into; all if it did not say.
std::vector<size_t> ZonesOf(const kube::Pod& pod, size_t count) {
  std::vector<size_t> zones;
  const auto status = api::ResourceStatusOf(pod.metadata.annotations);
  if (status.ok() && *status) {
    for (const api::NumaNodeResource& each : (*status)->numa_node_resources) {
      if (each.node >= 0 && static_cast<size_t>(each.node) < count) {
        zones.push_back(static_cast<size_t>(each.node));
      }
    }
  }
  if (!zones.empty()) return zones;
  for (size_t i = 0; i < count; ++i) zones.push_back(i);
  return zones;
}

std::vector<PodSums> SumsByZone(const NodePods& pods, size_t count) {
  std::vector<PodSums> sums(count);
  for (const HostedPod& pod : pods.pods) {
    if (!pod.high_priority()) continue;
    const std::vector<size_t> zones = ZonesOf(*pod.pod, count);
    const PodSums part = Part(SumsOf(pod), static_cast<int64_t>(zones.size()));
    for (const size_t zone : zones) sums[zone].Add(part);
  }
  for (const api::PodUsage* usage : pods.dangling) {
    if (!IsHighPriority(*usage)) continue;
    const PodSums part = Part(SumsOf(*usage), static_cast<int64_t>(count));
    for (PodSums& zone : sums) zone.Add(part);
  }
  return sums;
}

double Share(int64_t percent) { return static_cast<double>(percent) / 100.0; }

CpuMemory MarginOf(const CpuMemory& capacity, const ColocationStrategy& strategy) {
  const int64_t cpu = ValueOrDefault(strategy, &ColocationStrategy::cpu_reclaim_threshold_percent);
  const int64_t memory =
      ValueOrDefault(strategy, &ColocationStrategy::memory_reclaim_threshold_percent);
  return {ScaleMilli(capacity.cpu, Share(100 - cpu)),
          ScaleInt(capacity.memory, Share(100 - memory))};
}

std::string_view CpuPolicy(const ColocationStrategy& strategy) {
  return strategy.cpu_calculate_policy == kPolicyMaxUsageRequest ? kPolicyMaxUsageRequest
                                                                 : kPolicyUsage;
}

std::string_view MemoryPolicy(const ColocationStrategy& strategy) {
  const auto& policy = strategy.memory_calculate_policy;
  if (policy == kPolicyRequest) return kPolicyRequest;
  return policy == kPolicyMaxUsageRequest ? kPolicyMaxUsageRequest : kPolicyUsage;
}

const CpuMemory& ByPolicy(const BatchTerms& terms, std::string_view policy) {
  if (policy == kPolicyRequest) return terms.by_request;
  return policy == kPolicyMaxUsageRequest ? terms.by_max : terms.by_usage;
}

BatchTerms Evaluate(const CpuMemory& capacity, const CpuMemory& reserved,
                    const CpuMemory& system_used, const PodSums& pods,
                    const ColocationStrategy& strategy) {
  BatchTerms terms;
  terms.capacity = capacity;
  terms.margin = MarginOf(capacity, strategy);
  terms.reserved = reserved;
  terms.system_used = system_used;
  terms.system = Max(system_used, reserved);
  terms.hp_used = pods.used;
  terms.hp_request = pods.request;
  terms.hp_max = pods.max;
  const CpuMemory lendable = capacity - terms.margin;
  terms.by_usage = AtLeastZero(lendable - terms.system - pods.used);
  terms.by_request = AtLeastZero(lendable - reserved - pods.request);
  terms.by_max = AtLeastZero(lendable - terms.system - pods.max);
  terms.cpu_policy = CpuPolicy(strategy);
  terms.memory_policy = MemoryPolicy(strategy);
  terms.result = {ByPolicy(terms, terms.cpu_policy).cpu,
                  ByPolicy(terms, terms.memory_policy).memory};
  if (strategy.batch_cpu_threshold_percent) {
    terms.cpu_cap = ScaleMilli(capacity.cpu, Share(*strategy.batch_cpu_threshold_percent));
    terms.result.cpu = std::min(terms.result.cpu, *terms.cpu_cap);
  }
  if (strategy.batch_memory_threshold_percent) {
    terms.memory_cap = ScaleInt(capacity.memory, Share(*strategy.batch_memory_threshold_percent));
    terms.result.memory = std::min(terms.result.memory, *terms.memory_cap);
  }
  return terms;
}

CpuMemory AllocatableOf(const api::TopologyZone& zone) {
  CpuMemory amounts;
  for (const api::ZoneResource& resource : zone.resources) {
    if (resource.name == kube::kCpu) amounts.cpu = resource.allocatable;
    if (resource.name == kube::kMemory) amounts.memory = resource.allocatable;
  }
  return amounts;
}

std::vector<BatchTerms> EvaluateZones(const BatchInput& input, const BatchTerms& node) {
  std::vector<BatchTerms> zones;
  if (input.topology == nullptr || !HasZoneResources(*input.topology)) return zones;
  const size_t count = input.topology->zones.size();
  const auto parts = static_cast<int64_t>(count);
  const CpuMemory reserved = Divide(node.reserved, parts);
  const CpuMemory system_used = Divide(node.system_used, parts);
  const std::vector<PodSums> pods = SumsByZone(input.pods, count);
  for (size_t i = 0; i < count; ++i) {
    zones.push_back(Evaluate(AllocatableOf(input.topology->zones[i]), reserved, system_used,
                             pods[i], input.strategy));
  }
  return zones;
}

// In milli-cores, at the value that the node's CPUs have.
Quantity BatchCpu(const Quantity& cores, std::optional<double> cpu_ratio) {
  const Quantity milli(cores.MilliValue());
  if (!cpu_ratio || *cpu_ratio <= 1) return milli;
  return RoundUp(ScaleMilli(milli, *cpu_ratio));
}

// What there is before third parties take theirs, beside whatever else is noted there.
std::string OriginAnnotation(const kube::Node& node, const Quantity& cpu, const Quantity& memory) {
  kube::ResourceList origin;
  if (auto noted = api::OriginExtendedAllocatableOf(node.metadata.annotations);
      noted.ok() && *noted) {
    origin = **std::move(noted);
  }
  origin.insert_or_assign(std::string(api::kBatchCpu), cpu);
  origin.insert_or_assign(std::string(api::kBatchMemory), memory);
  return api::EncodeOriginExtendedAllocatable(origin);
}

NodePlan WithoutBatch(const kube::Node& node) {
  NodePlan plan;
  plan.resources.emplace(api::kBatchCpu, std::nullopt);
  plan.resources.emplace(api::kBatchMemory, std::nullopt);
  // Third parties must not go on by what there once was.
  const kube::Annotations& annotations = node.metadata.annotations;
  if (annotations.contains(api::kAnnotationOriginExtendedAllocatable) ||
      annotations.contains(api::kAnnotationThirdPartyAllocations)) {
    plan.annotations.emplace(api::kAnnotationOriginExtendedAllocatable,
                             OriginAnnotation(node, Quantity(0), Quantity(0)));
  }
  return plan;
}

Quantity Less(const Quantity& amount, const Quantity& taken) {
  const Quantity rest = amount - taken;
  return rest.Sign() < 0 ? Quantity(0, amount.format()) : rest;
}

bool SetAmounts(api::ZoneResource& resource, const Quantity& amount, double threshold) {
  bool changed = false;
  for (Quantity* each : {&resource.capacity, &resource.allocatable, &resource.available}) {
    if (!IsResourceDifferent(*each, amount, threshold)) continue;
    *each = amount;
    changed = true;
  }
  return changed;
}

bool SetZoneResource(api::TopologyZone& zone, std::string_view name, const Quantity& amount,
                     double threshold) {
  for (api::ZoneResource& resource : zone.resources) {
    if (resource.name == name) return SetAmounts(resource, amount, threshold);
  }
  zone.resources.push_back({std::string(name), amount, amount, amount});
  std::sort(zone.resources.begin(), zone.resources.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return true;
}

}  // namespace

bool HasZoneResources(const api::NodeResourceTopology& topology) {
  for (const api::TopologyZone& zone : topology.zones) {
    for (const api::ZoneResource& resource : zone.resources) {
      if (resource.name == kube::kCpu || resource.name == kube::kMemory) return true;
    }
  }
  return false;
}

BatchResult CalculateBatch(const BatchInput& input) {
  BatchResult result;
  result.degraded = WhyStale(input.metric, DegradeTime(input.strategy), input.now);
  if (result.degraded) return result;
  const api::NodeMetricStatus& metric = input.metric->status;
  result.reserved = ReservedOn(input.node);
  const CpuMemory system_used = CpuMemoryOf(metric.node_metric->system_usage.resources) +
                                HostApplicationsAbove(api::PriorityBand::kBatch, metric);
  result.node = Evaluate(CpuMemoryOf(input.node.status.capacity), result.reserved.total,
                         system_used, SumsOn(input.pods), input.strategy);
  result.zones = EvaluateZones(input, result.node);
  return result;
}

StatusOr<NodePlan> PlanBatch(const BatchResult& result, const kube::Node& node,
                             std::optional<double> cpu_ratio) {
  if (result.degraded) return WithoutBatch(node);
  ASSIGN_OR_RETURN(const auto third_parties,
                   api::ThirdPartyAllocationsOf(node.metadata.annotations));
  const Quantity cpu = BatchCpu(result.node.result.cpu, cpu_ratio);
  const Quantity memory = RoundUp(result.node.result.memory);
  const kube::ResourceList taken =
      api::SumOf(third_parties, api::ToString(api::PriorityBand::kBatch));
  NodePlan plan;
  plan.annotations.emplace(api::kAnnotationOriginExtendedAllocatable,
                           OriginAnnotation(node, cpu, memory));
  plan.resources.emplace(api::kBatchCpu, Less(cpu, kube::AmountOf(taken, api::kBatchCpu)));
  plan.resources.emplace(api::kBatchMemory, Less(memory, kube::AmountOf(taken, api::kBatchMemory)));
  return plan;
}

std::optional<std::vector<api::TopologyZone>> PlanZones(const BatchResult& result,
                                                        const api::NodeResourceTopology& topology,
                                                        std::optional<double> cpu_ratio,
                                                        double diff_threshold) {
  if (result.degraded || result.zones.size() != topology.zones.size()) return std::nullopt;
  std::vector<api::TopologyZone> zones = topology.zones;
  bool changed = false;
  for (size_t i = 0; i < zones.size(); ++i) {
    const CpuMemory& amounts = result.zones[i].result;
    changed |=
        SetZoneResource(zones[i], api::kBatchCpu, BatchCpu(amounts.cpu, cpu_ratio), diff_threshold);
    changed |=
        SetZoneResource(zones[i], api::kBatchMemory, RoundUp(amounts.memory), diff_threshold);
  }
  if (!changed) return std::nullopt;
  return zones;
}

}  // namespace koord::manager
