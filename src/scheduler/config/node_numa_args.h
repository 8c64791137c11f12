#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/config/node_resources_args.h"

namespace koord::scheduler {

struct NodeNumaResourceArgs {
  static constexpr std::string_view kPlugin = "NodeNUMAResource";

  // For LSE and LSR pods that do not say; "": they are not bound.
  std::optional<std::string> default_cpu_bind_policy;
  std::optional<ScoringStrategy> scoring_strategy;       // of nodes
  std::optional<ScoringStrategy> numa_scoring_strategy;  // of NUMA nodes; its weights are not used

  static void Fields(auto& self, auto&& field) {
    field("defaultCPUBindPolicy", self.default_cpu_bind_policy);
    field("scoringStrategy", self.scoring_strategy);
    field("numaScoringStrategy", self.numa_scoring_strategy);
  }
  bool operator==(const NodeNumaResourceArgs&) const = default;

  void SetDefaults();
  void Check(const kube::ConfigField& at) const;
};

}  // namespace koord::scheduler
