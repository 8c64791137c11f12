#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "scheduler/config/node_resources_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/scoring/percent.h"

namespace koord::scheduler {

// Prefers nodes by how full they would be, with a direction of its own for each resource: pack pods
// that use GPUs, say, and spread the others by cpu and memory.
//
// The score is the weighted mean, over the configured resources that the pod requests, of what
// would be free (LeastAllocated) or used (MostAllocated) with the pod there. A node that lacks one
// of them gets nothing for it. Pods that request none of them find all nodes equally good.
class NodeResourcesFitPlus final : public ScorePlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesFitPlus";

  NodeResourcesFitPlus(const PluginContext& context, const NodeResourcesFitPlusArgs& args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;
  int64_t ScoreRow(const PodQuery& query, const RowView& row) override;

 private:
  struct Configured {
    ResourceId id;
    std::string name;
    ResourceStrategy strategy;
  };

  std::vector<Configured> configured_;
};

}  // namespace koord::scheduler
