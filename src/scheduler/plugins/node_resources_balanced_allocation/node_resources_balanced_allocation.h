#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "scheduler/config/node_resources_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Prefers nodes whose resources would be used alike, so that none runs out of cpu with memory left,
// or the other way round.
//
// For each configured resource, the fraction of what is allocatable that would be requested with
// the pod there, at most 1; the score is the higher the less the fractions deviate from each other.
// Only what pods really request counts, and a pod that requests none of the resources is not
// scored.
class NodeResourcesBalancedAllocation final : public ScorePlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesBalancedAllocation";

  NodeResourcesBalancedAllocation(const PluginContext& context,
                                  NodeResourcesBalancedAllocationArgs args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  Verdict PreScore(PodQuery& query, std::span<const uint8_t> feasible) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  int64_t ScoreRow(const PodQuery& query, const RowView& row) override;

 private:
  std::vector<ResourceId> balanced_;
};

}  // namespace koord::scheduler
