#pragma once
#include <absl/container/btree_map.h>

#include <memory>
#include <string_view>
#include <vector>

#include "scheduler/cluster/ledger.h"
#include "scheduler/config/node_resources_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps nodes with scarce resources for the pods that use them: a pod that asks for cpu alone
// should rather not take the room beside a GPU.
//
// Of the resources that a node has and the pod does not ask for, the score is the percentage that
// is not scarce. A node that has nothing scarce beyond what the pod asks for is as good as can be.
//
// Nodes share few sets of resources, so the score is computed once a set; a row costs one lookup.
class ScarceResourceAvoidance final : public ScorePlugin, public LedgerListener {
 public:
  static constexpr std::string_view kName = "ScarceResourceAvoidance";

  ScarceResourceAvoidance(const PluginContext& context, const ScarceResourceAvoidanceArgs& args);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  uint64_t version() const override { return version_; }
  size_t remembered() const override { return ids_.size(); }
  std::optional<int64_t> SameForAll(const PodQuery& query) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;

  void OnNodeAdded(NodeRow row) override;
  void OnNodeChanged(NodeRow row, const NodeChanges& changes) override;
  void OnNodeRemoved(NodeRow row) override;

 private:
  using ResourceSet = std::vector<ResourceId>;  // ascending

  const std::vector<int64_t>& ScoresOfSets(const PodQuery& query) const;
  int64_t ScoreOf(const ResourceSet& set, const PodShape& shape) const;
  uint32_t Use(ResourceSet set);
  void Release(NodeRow row);

  const NodeTable& nodes_;
  std::vector<ResourceId> scarce_;
  absl::btree_map<ResourceSet, uint32_t> ids_;
  std::vector<ResourceSet> sets_;     // by id
  std::vector<size_t> rows_of_set_;   // how many have it
  std::vector<uint32_t> free_sets_;   // that no row has
  std::vector<uint32_t> set_of_row_;  // any, of rows without a node
  std::vector<uint8_t> has_set_;      // by row: is counted in rows_of_set_
  uint64_t version_ = 1;              // moves when an id gets a set
};

}  // namespace koord::scheduler
