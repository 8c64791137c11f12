#include "scheduler/plugins/node_numa_resource/pod_cpus.h"

#include <algorithm>

#include "api/cpu_annotations.h"
#include "api/priority.h"
#include "api/qos.h"
#include "scheduler/books/cpu_book.h"

namespace koord::scheduler {
namespace {

bool MayBind(const PodShape& shape) {
  const api::QosClass qos = api::RawQosClass(shape.labels());
  return (qos == api::QosClass::kLse || qos == api::QosClass::kLsr) &&
         shape.band == api::PriorityBand::kProd;
}

std::optional<model::CpuBindPolicy> ParseBindPolicy(std::string_view text) {
  if (text == api::kCpuBindFullPcpus) return model::CpuBindPolicy::kFullPcpus;
  if (text == api::kCpuBindSpreadByPcpus) return model::CpuBindPolicy::kSpreadByPcpus;
  return {};
}

void DecideOnBinding(const api::ResourceSpec& spec, std::string_view by_default, PodCpus& pod) {
  const auto resolved = [&](std::string_view policy) {
    return policy == api::kCpuBindDefault ? by_default : policy;
  };
  const std::string_view required = resolved(spec.required_cpu_bind_policy);
  std::string_view preferred = resolved(spec.preferred_cpu_bind_policy);
  if (preferred.empty()) preferred = by_default;
  const auto policy = ParseBindPolicy(required.empty() ? preferred : required);
  if (!policy) return;  // ConstrainedBurst, or what nobody knows
  if (!pod.is_integer()) {
    pod.verdict = Verdict::Unresolvable(std::string(kMustBeInteger));
    return;
  }
  pod.binds = pod.milli_cpu > 0;
  pod.preferred = *policy;
  if (!required.empty()) pod.required = policy;
}

}  // namespace

PodCpus PodCpusOf(const PodShape& shape, std::string_view default_bind_policy) {
  PodCpus pod;
  const bool asks = std::ranges::any_of(shape.requests,
                                        [](const ResourceAmount& each) { return each.amount > 0; });
  if (!asks) {
    pod.verdict = Verdict::Skip();
    return pod;
  }
  pod.milli_cpu = AmountOf(shape.requests, kCpuId);
  const auto spec = api::ResourceSpecOf(shape.sample->metadata.annotations);
  const auto numa = api::NumaTopologySpecOf(shape.sample->metadata.annotations);
  for (const Status& status : {spec.status(), numa.status()}) {
    if (status.ok()) continue;
    pod.verdict = Verdict::Error(std::string(Message(status)));
    return pod;
  }
  if (*numa) {
    pod.policy = model::ParseNumaPolicy((*numa)->numa_topology_policy);
    const std::string& exclusive = (*numa)->single_numa_node_exclusive;
    pod.exclusive_numa_nodes =
        exclusive.empty() ? pod.policy != model::NumaPolicy::kNone : exclusive == "Required";
  }
  if (MayBind(shape)) {
    DecideOnBinding(spec->value_or(api::ResourceSpec()), default_bind_policy, pod);
  }
  if (pod.binds) pod.exclusive = ExclusivePolicyOf(*shape.sample);
  return pod;
}

}  // namespace koord::scheduler
