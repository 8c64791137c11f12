#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/pod_info.h"
#include "scheduler/framework/row_view.h"

namespace koord::scheduler {

// Pods that are promised a node, mostly by preemption, and do not hold it yet. Others see the node
// as if the more important of them were there already.
//
// How a row looks to whom is worked out when a promise is made, not when a pod is placed: there may
// be thousands of promises, and every pod meets all of them.
class NominatedRows final : private LedgerListener {
 public:
  explicit NominatedRows(Ledger& ledger) : ledger_(ledger) { ledger.AddListener(*this); }

  // All that are promised this node, which need not exist.
  void Set(std::string_view node, std::span<const std::shared_ptr<const kube::Pod>> pods);

  bool empty() const { return node_of_.empty(); }
  // Where a pod is promised room; "" if nowhere.
  const std::string& NodeOf(std::string_view uid) const;
  // The rows that are promised to anybody, in no order that matters.
  std::span<const NodeRow> rows() const { return rows_; }
  bool Has(NodeRow row) const { return row < by_row_.size() && by_row_[row] != nullptr; }
  // The row as a pod of this priority sees it, to which it is not promised: with everybody there
  // who is at least as important. Null: as it is. Good until the promises of the row change.
  const RowDelta* DeltaAt(NodeRow row, int32_t priority) const;
  // Those of at least this priority, except for one pod.
  std::vector<const PodInfo*> On(NodeRow row, int32_t priority, std::string_view except_uid) const;

 private:
  struct Promises {
    // The row as pods of up to `priority` see it.
    struct Look {
      int32_t priority;
      RowDelta delta;
    };
    std::vector<std::unique_ptr<PodInfo>> pods;
    std::vector<Look> looks;  // the most important first: each has the pods of the one before
  };

  void OnNodeAdded(NodeRow row) override;
  void OnNodeRemoved(NodeRow row) override;
  std::unique_ptr<Promises> MakePromises(std::string_view node,
                                         std::span<const std::shared_ptr<const kube::Pod>> pods);
  void Place(NodeRow row, const Promises* promises);

  Ledger& ledger_;
  StringMap<std::unique_ptr<Promises>> by_node_;
  StringMap<std::string> node_of_;  // by uid
  std::vector<const Promises*> by_row_;
  std::vector<NodeRow> rows_;
};

}  // namespace koord::scheduler
