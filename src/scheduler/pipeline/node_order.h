#pragma once
#include <map>
#include <string>
#include <vector>

#include "scheduler/cluster/ledger.h"

namespace koord::scheduler {

// The order in which nodes are looked at where not all of them are: round-robin over zones, so that
// any stretch of it spreads over the cluster. Zones come in order of their first node, the nodes of
// a zone in order of their arrival.
class NodeOrder final : public LedgerListener {
 public:
  explicit NodeOrder(Ledger& ledger);

  const std::vector<NodeRow>& rows();

  void OnNodeAdded(NodeRow row) override;
  void OnNodeChanged(NodeRow row, const NodeChanges& changes) override;
  void OnNodeRemoved(NodeRow row) override;

 private:
  void Rebuild();

  const NodeTable& nodes_;
  std::vector<NodeRow> arrivals_;
  std::vector<NodeRow> order_;
  bool current_ = false;
};

}  // namespace koord::scheduler
