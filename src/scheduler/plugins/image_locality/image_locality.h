#pragma once
#include <memory>
#include <string_view>

#include "scheduler/cluster/ledger.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/image_locality/image_index.h"

namespace koord::scheduler {

// Prefers nodes that have the images of a pod's containers already, so that it starts sooner.
//
// A node's score grows with the bytes it would not have to fetch, each image counted in proportion
// to how many of all nodes have it: otherwise the one node that has a rare image would attract
// every pod that uses it. Less than 23Mi count for nothing, more than 1000Mi a container for no
// more.
//
// So a node's score depends on what other nodes have. version() moves when the number of nodes that
// have an image of some known pod changes, or the number of nodes.
class ImageLocality final : public ScorePlugin, public LedgerListener {
 public:
  static constexpr std::string_view kName = "ImageLocality";

  explicit ImageLocality(const PluginContext& context);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  uint64_t version() const override { return images_.version() + node_count_version_; }
  size_t remembered() const override { return images_.size(); }
  std::optional<int64_t> SameForAll(const PodQuery& query) override;
  void Score(const PodQuery& query, RowRange rows, int64_t* scores) override;

  void OnNodeAdded(NodeRow row) override;
  void OnNodeChanged(NodeRow row, const NodeChanges& changes) override;
  void OnNodeRemoved(NodeRow row) override;

 private:
  const NodeTable& nodes_;
  ImageIndex images_;
  uint64_t node_count_version_ = 0;
};

}  // namespace koord::scheduler
