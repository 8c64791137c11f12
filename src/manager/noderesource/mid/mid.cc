#include "manager/noderesource/mid/mid.h"

#include <algorithm>

#include "api/extended_resources.h"

namespace koord::manager {
namespace {

using kube::Quantity;

double Share(std::optional<int64_t> percent, int64_t otherwise) {
  return static_cast<double>(percent.value_or(otherwise)) / 100.0;
}

// Milli-cores and whole bytes are what these formulas count in.
CpuMemory Scale(const CpuMemory& amounts, double cpu, double memory) {
  return {ScaleMilli(amounts.cpu, cpu), ScaleInt(amounts.memory, memory)};
}

CpuMemory Whole(const CpuMemory& amounts) {
  return {Quantity::FromMilli(amounts.cpu.MilliValue()),
          Quantity(amounts.memory.Value(), Quantity::Format::kBinarySi)};
}

CpuMemory Min(const CpuMemory& a, const CpuMemory& b) {
  return {std::min(a.cpu, b.cpu), std::min(a.memory, b.memory)};
}

bool IsProduction(const HostedPod& pod) {
  return pod.high_priority() && pod.band != api::PriorityBand::kMid;
}

CpuMemory RequestedByProduction(const NodePods& pods) {
  CpuMemory sum;
  for (const HostedPod& pod : pods.pods) {
    if (IsProduction(pod)) sum += pod.request;
  }
  return sum;
}

// A node that does not say what it uses of both has nothing to spare.
CpuMemory UnusedOf(const CpuMemory& capacity, const kube::ResourceList& usage) {
  if (!usage.contains(kube::kCpu) || !usage.contains(kube::kMemory)) return {};
  return capacity - CpuMemoryOf(usage);
}

void EvaluateStatic(MidTerms& terms, const ColocationStrategy& strategy) {
  terms.is_static = true;
  terms.base = Scale(terms.capacity, Share(strategy.mid_static_cpu_reserved_percent, 0),
                     Share(strategy.mid_static_memory_reserved_percent, 0));
}

void EvaluateReclaimable(MidTerms& terms, const MidInput& input) {
  const api::NodeMetricStatus& metric = input.metric->status;
  const CpuMemory used = CpuMemoryOf(metric.node_metric->system_usage.resources) +
                         HostApplicationsAbove(api::PriorityBand::kMid, metric);
  terms.system = Max(used, ReservedOn(input.node).total);
  terms.allocated = RequestedByProduction(input.pods);
  terms.unallocated = AtLeastZero(terms.capacity - terms.system - terms.allocated);
  terms.unused = UnusedOf(terms.capacity, metric.node_metric->node_usage.resources);
  if (metric.prod_reclaimable_metric) {
    terms.reclaimable = CpuMemoryOf(metric.prod_reclaimable_metric->resource.resources);
  }
  terms.base = AtLeastZero(Min(Whole(terms.reclaimable), Whole(terms.unused)));
  const double share = Share(input.strategy.mid_unallocated_percent, 0);
  terms.of_unallocated = Scale(terms.unallocated, share, share);
}

}  // namespace

MidResult CalculateMid(const MidInput& input) {
  MidResult result;
  const ColocationStrategy& strategy = input.strategy;
  result.degraded = WhyStale(input.metric, DegradeTime(strategy), input.now);
  if (result.degraded) return result;
  MidTerms& terms = result.node;
  terms.capacity = CpuMemoryOf(input.node.status.capacity);
  if (strategy.mid_reclaim_mode == kMidReclaimStatic) {
    EvaluateStatic(terms, strategy);
  } else {
    EvaluateReclaimable(terms, input);
  }
  terms.cap = Scale(terms.capacity, Share(strategy.mid_cpu_threshold_percent, 100),
                    Share(strategy.mid_memory_threshold_percent, 100));
  terms.result = Min(terms.base + terms.of_unallocated, terms.cap);
  return result;
}

NodePlan PlanMid(const MidResult& result) {
  NodePlan plan;
  auto& cpu = plan.resources[std::string(api::kMidCpu)];
  auto& memory = plan.resources[std::string(api::kMidMemory)];
  if (result.degraded) return plan;
  cpu = Quantity(result.node.result.cpu.MilliValue());
  memory = Quantity(result.node.result.memory.Value(), Quantity::Format::kBinarySi);
  return plan;
}

}  // namespace koord::manager
