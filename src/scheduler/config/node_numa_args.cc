#include "scheduler/config/node_numa_args.h"

#include "api/cpu_annotations.h"

namespace koord::scheduler {
namespace {

void CheckNumaStrategy(const std::optional<ScoringStrategy>& strategy, std::string_view what,
                       const kube::ConfigField& at) {
  if (!strategy) return;
  if (strategy->type != kLeastAllocated && strategy->type != kMostAllocated) {
    at.Member("type").Error("{} {} is not supported", what, strategy->type);
  }
  for (size_t i = 0; i < strategy->resources.size(); ++i) {
    const ResourceWeight& resource = strategy->resources[i];
    if (0 < resource.weight && resource.weight <= 100) continue;
    at.Member("resources")
        .Item(i)
        .Member("weight")
        .Error("resource weight of {} not in valid range (0, 100]", resource.name);
  }
}

}  // namespace

void NodeNumaResourceArgs::SetDefaults() {
  const ScoringStrategy strategy{std::string(kLeastAllocated), DefaultResourceWeights(), {}};
  if (!default_cpu_bind_policy) default_cpu_bind_policy = std::string(api::kCpuBindFullPcpus);
  if (!scoring_strategy) scoring_strategy = strategy;
  if (!numa_scoring_strategy) numa_scoring_strategy = strategy;
}

void NodeNumaResourceArgs::Check(const kube::ConfigField& at) const {
  const std::string& policy = *default_cpu_bind_policy;
  if (!policy.empty() && policy != api::kCpuBindFullPcpus && policy != api::kCpuBindSpreadByPcpus) {
    at.Member("defaultCPUBindPolicy")
        .Error("must specified CPU bind policy FullPCPUs or SpreadByPCPUs");
  }
  CheckNumaStrategy(scoring_strategy, "scoring strategy", at.Member("scoringStrategy"));
  CheckNumaStrategy(numa_scoring_strategy, "numa scoring strategy",
                    at.Member("numaScoringStrategy"));
}

}  // namespace koord::scheduler
