#pragma once
#include <absl/container/flat_hash_set.h>

#include <memory>
#include <span>
#include <vector>

#include "scheduler/cluster/node_table.h"
#include "scheduler/cluster/pod_shape.h"

namespace koord::scheduler {

// What a plugin has compiled for one shape: selectors as sets of value ids, requests by column, the
// topology counters that it needs. Kept with the shape and used for all its pods.
class PluginState {
 public:
  virtual ~PluginState() = default;
};

// A pod as a question to the node table: its shape, and what each plugin has made of it.
class PodQuery {
 public:
  PodQuery(ShapePtr shape, const NodeTable& nodes, size_t plugins)
      : shape_(std::move(shape)), nodes_(nodes), states_(plugins) {}

  const PodShape& shape() const { return *shape_; }
  const ShapePtr& shared_shape() const { return shape_; }
  const NodeTable& nodes() const { return nodes_; }

  // By a plugin's slot (Plugin::slot). States cache what they look up, hence not const.
  template <class State>
  State& state(size_t slot) const {
    return static_cast<State&>(*states_[slot]);
  }
  bool has_state(size_t slot) const { return states_[slot] != nullptr; }
  void SetState(size_t slot, std::unique_ptr<PluginState> state) {
    states_[slot] = std::move(state);
  }

  // Pods that are there, but not for pods of this shape: reserve pods whose place they may take.
  // Rules about topology domains do not count them; nor are they among those that a RowDelta
  // removes from a count.
  std::span<const PodInfo* const> absent_pods() const { return absent_pods_; }
  bool IsAbsent(const PodInfo& pod) const { return !absent_.empty() && absent_.contains(&pod); }
  uint64_t absent_version() const { return absent_version_; }
  void SetAbsent(std::span<const PodInfo* const> pods, uint64_t version) {
    absent_pods_.assign(pods.begin(), pods.end());
    absent_.clear();
    absent_.insert(pods.begin(), pods.end());
    absent_version_ = version;
  }

 private:
  ShapePtr shape_;
  const NodeTable& nodes_;
  std::vector<std::unique_ptr<PluginState>> states_;
  std::vector<const PodInfo*> absent_pods_;
  absl::flat_hash_set<const PodInfo*> absent_;  // the same
  uint64_t absent_version_ = 0;
};

}  // namespace koord::scheduler
