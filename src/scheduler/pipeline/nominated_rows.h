#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/pod_info.h"

namespace koord::scheduler {

// Pods that are promised a node, mostly by preemption, and do not hold it yet. Others see the node
// as if the more important of them were there already.
class NominatedRows {
 public:
  explicit NominatedRows(Ledger& ledger) : ledger_(ledger) {}

  // All that are promised this node.
  void Set(std::string_view node, std::span<const std::shared_ptr<const kube::Pod>> pods);

  bool empty() const { return node_of_.empty(); }
  // Where a pod is promised room; "" if nowhere.
  const std::string& NodeOf(std::string_view uid) const;
  using Pods = std::vector<std::unique_ptr<PodInfo>>;
  const Pods& On(std::string_view node) const;
  // Those of at least this priority, except for one pod.
  std::vector<const PodInfo*> On(std::string_view node, int32_t priority,
                                 std::string_view except_uid) const;
  // All nodes with such pods, in no order that matters.
  template <class F>
  void ForEachNode(F f) const {
    for (const auto& [node, pods] : by_node_) f(node);
  }

 private:
  Ledger& ledger_;
  StringMap<Pods> by_node_;
  StringMap<std::string> node_of_;  // by uid
};

}  // namespace koord::scheduler
