#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kube/objects/policy.h"
#include "scheduler/cluster/object_cache.h"
#include "scheduler/cluster/pod_info.h"
#include "scheduler/topology/pod_selector.h"

namespace koord::scheduler {

// Which budgets guard which pods, and how much each allows.
//
// What a budget allows changes with every pod that comes or goes, its selector hardly ever: budgets
// are matched once per shape, and again only when a selector has changed.
class DisruptionBudgets {
 public:
  using Id = uint32_t;

  explicit DisruptionBudgets(const ObjectCache<kube::PodDisruptionBudget>& cache) : cache_(cache) {}

  // Before anything is read.
  void Refresh();
  // Moves whenever any budget changes.
  uint64_t version() const { return cache_.version(); }
  // Moves when ids get another meaning, or guard other pods.
  uint64_t selectors_version() const { return selectors_version_; }
  bool empty() const { return budgets_.empty(); }
  size_t size() const { return budgets_.size(); }  // ids are below this

  // The budgets that guard pods of a shape, valid until the next call.
  std::span<const Id> GuardsOf(const PodShape& shape);
  int64_t Allowed(Id id) const { return budgets_[id].allowed; }
  // The API server knows already that the pod is going.
  bool IsCharged(Id id, const kube::Pod& pod) const {
    return budgets_[id].disrupted != nullptr && budgets_[id].disrupted->contains(pod.metadata.name);
  }

 private:
  using Ptr = std::shared_ptr<const kube::PodDisruptionBudget>;
  // What dry runs read of a budget, close together.
  struct Budget {
    int64_t allowed;
    const decltype(kube::PodDisruptionBudgetStatus::disrupted_pods)* disrupted;  // null: nobody

    explicit Budget(const kube::PodDisruptionBudget& object);
  };

  bool FollowStatus();
  void Compile();

  const ObjectCache<kube::PodDisruptionBudget>& cache_;
  uint64_t seen_ = 0;  // of the cache's versions
  uint64_t selectors_version_ = 0;
  std::vector<Ptr> objects_;  // all, by key
  std::vector<Budget> budgets_;
  std::vector<PodSelector> selectors_;  // theirs
  std::vector<Id> ids_;                 // by place in objects_; kNothing: it guards nothing
  SelectorIndex index_;
  absl::flat_hash_map<uint32_t, std::vector<Id>> guards_;  // by shape id
};

}  // namespace koord::scheduler
