#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/scheduler.h"
#include "scheduler/explain/explanation.h"
#include "scheduler/explain/pod_edit.h"

namespace koord::scheduler {

// By how much a pod misses each node that it cannot use, and the least that would have to change.
//
// The nearer a node, the less is in the way: of room what is missing, measured by what the pod asks
// for; everything else counts as much as a request that is not met at all. What is said to help was
// tried: the filters have let the pod, changed like that, have the node.
class NearMisses {
 public:
  // `held`: where the pod is by now; null if it has no node.
  NearMisses(Scheduler& scheduler, Pipeline& pipeline, const Scheduler::PodPtr& pod, ShapePtr shape,
             const PodInfo* held);

  std::vector<Explanation::NearMiss> Nearest(size_t count) const;
  // The smallest change of the pod and, where only room is missing, the least room to be freed.
  std::vector<Explanation::Change> SmallestChanges() const;

 private:
  struct Lack {
    std::string resource;
    int64_t missing;
    int64_t wanted;
  };
  // What keeps the pod off one node.
  struct Miss {
    NodeRow row = kNoRow;
    double distance = 0;
    std::vector<Lack> lacks;
    bool too_many_pods = false;
    std::vector<std::string> others;  // in words
    // Of the others: the node would be too busy if the pod used as much of this as it asks for.
    std::optional<std::string> busy;
    std::optional<std::vector<PodEdit>> edits;  // that might cure the others; nothing: none can
  };

  Miss Look(CompiledQuery& query, NodeRow row) const;
  void LookAtRoom(const std::vector<std::string>& reasons, const RowView& row, Miss& miss) const;
  void LookAtOthers(std::string_view plugin, const std::vector<std::string>& reasons,
                    const RowView& row, Miss& miss) const;
  // What the pod must ask less of, so that the node is not too busy; nothing: it asks for none.
  std::optional<std::string> BusyResource(std::string_view reason) const;
  std::vector<PodEdit> EditsFor(std::string_view plugin, std::string_view reason,
                                const RowView& row) const;
  std::string Describe(const Miss& miss) const;
  RowDelta DeltaOf(NodeRow row) const;

  // Everything that would have to change about the pod; nothing if that would not be enough.
  std::optional<std::vector<PodEdit>> EditsOf(const Miss& miss) const;
  // Whether only room is missing that others have.
  bool CanBeFreed(const Miss& miss) const;
  // The most that the pod may ask for beside the other edits.
  std::optional<PodEdit> LowerUntilItFits(const Miss& miss,
                                          const std::vector<PodEdit>& edits) const;
  // What was tried, and helps.
  std::optional<Explanation::Change> ChangeOfPod(const Miss& miss,
                                                 std::vector<PodEdit> edits) const;
  std::optional<Explanation::Change> RoomToFree(const Miss& miss) const;
  // Whether the pod could have the node, edited and with a delta.
  bool Fits(const std::vector<PodEdit>& edits, NodeRow row, RowDelta delta) const;

  Scheduler& scheduler_;
  Pipeline& pipeline_;
  const NodeTable& nodes_;
  const Scheduler::PodPtr pod_;
  const ShapePtr shape_;
  const PodInfo* const held_;
  std::vector<Miss> misses_;  // nearest first
};

}  // namespace koord::scheduler
