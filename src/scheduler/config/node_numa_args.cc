#include "scheduler/config/node_numa_args.h"

#include "api/cpu_annotations.h"

namespace koord::scheduler {
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
  CheckAllocatedStrategy(scoring_strategy, "scoring strategy", at.Member("scoringStrategy"));
  CheckAllocatedStrategy(numa_scoring_strategy, "numa scoring strategy",
                         at.Member("numaScoringStrategy"));
}

}  // namespace koord::scheduler
