#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/string_map.h"
#include "scheduler/cluster/node_table.h"
#include "scheduler/cluster/pod_info.h"
#include "scheduler/cluster/pod_shape.h"

namespace koord::scheduler {

// Hears of everything that the ledger books, after it is booked. Plugins that count something of
// their own (ports, topology domains, estimated load, CPUs) derive it from these calls alone, so
// that nobody has a second idea of who runs where. A pod that changes in a way that matters is
// removed and added again. Pods are added after their node and removed before it.
class LedgerListener {
 public:
  virtual ~LedgerListener() = default;
  virtual void OnNodeAdded(NodeRow) {}
  virtual void OnNodeChanged(NodeRow, const NodeChanges&) {}
  virtual void OnNodeRemoved(NodeRow) {}  // before its columns are cleared
  virtual void OnPodAdded(const PodInfo&) {}
  // There is a newer object of the pod, which holds what it held: its conditions may have changed.
  virtual void OnPodRefreshed(const PodInfo&) {}
  virtual void OnPodRemoved(const PodInfo&) {}  // its row, place and requests are still set
  // A pod is shown on a node that does not exist, or exists no longer: it is there, and holds no
  // room.
  virtual void OnPodSetAside(const PodInfo&) {}
  // No longer: it is gone, or its node has come, on which it is added then.
  virtual void OnPodTakenBack(const PodInfo&) {}
};

// Who holds what. Every charge is made once and released once: a pod is in the ledger under its uid
// from the moment that it is given a node (assumed) or seen on one, until it is gone.
//
// At any quiet moment it equals a ledger that was filled from lists alone.
class Ledger {
 public:
  Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  ResourceNames& resources() { return resources_; }
  const ResourceNames& resources() const { return resources_; }
  ShapeTable& shapes() { return shapes_; }
  const ShapeTable& shapes() const { return shapes_; }
  NodeTable& nodes() { return nodes_; }
  const NodeTable& nodes() const { return nodes_; }
  void AddListener(LedgerListener& listener) { listeners_.push_back(&listener); }

  NodeRow SetNode(std::shared_ptr<const kube::Node> node, NodeChanges* changes = nullptr);
  // Its pods hold nothing until it comes back.
  void RemoveNode(std::string_view name);

  // Gives a pod the room it asks for, and what else was decided that it gets, before anybody else
  // knows of it. It must not be in yet.
  StatusOr<const PodInfo*> Assume(std::shared_ptr<const kube::Pod> pod, ShapePtr shape, NodeRow row,
                                  std::unique_ptr<Holdings> held = nullptr);
  // Takes an assumption back; pods that were seen on a node stay.
  bool Forget(std::string_view uid);

  // What the API server shows: a pod with a node, which holds what its annotations say. Confirms an
  // assumption, also one of another node or with other holdings.
  // There need be no such node: whoever creates a pod may write any name into it.
  void SetPod(std::shared_ptr<const kube::Pod> pod);
  bool RemovePod(std::string_view uid);

  // To see what comes of several charges together, on real rows: Mark, then Assume, Forget and
  // RemovePod as usual, then RollBack or Keep. Listeners hear of everything that is undone as of
  // anything else. Savepoints may be nested, and end in the turn in which they were made: what the
  // API server shows (nodes, and pods on them) must not be booked while there is one.
  class Savepoint {
    friend class Ledger;
    Savepoint(size_t depth, size_t steps) : depth(depth), steps(steps) {}
    size_t depth;  // of those around it
    size_t steps;  // that can be undone at its time
  };
  Savepoint Mark() { return {savepoints_++, undo_.size()}; }
  // Takes back what was done since, last first: also where a pod stood among those of its row.
  void RollBack(const Savepoint& savepoint);
  // What was done since stands, as far as savepoints around this one are kept as well.
  void Keep(const Savepoint& savepoint);

  const PodInfo* Find(std::string_view uid) const;
  // Also of nodes that do not exist.
  const std::string& NodeOf(const PodInfo& pod) const;
  size_t pods() const { return pods_.size(); }
  // Also those of nodes that do not exist, in no order.
  void ForEachPod(const std::function<void(const PodInfo&)>& visit) const {
    for (const auto& [uid, pod] : pods_) visit(*pod);
  }
  size_t assumed() const { return assumed_; }

  // One line a fact, sorted: equal texts mean equal ledgers.
  std::string Fingerprint() const;

 private:
  using Pods = StringMap<std::unique_ptr<PodInfo>>;  // by uid

  PodInfo& Add(std::shared_ptr<const kube::Pod> pod, ShapePtr shape, const std::string& node,
               std::unique_ptr<const Holdings> held, bool assumed);
  PodInfo& Put(std::unique_ptr<PodInfo> info, const std::string& node);
  void Drop(Pods::iterator at);
  std::unique_ptr<PodInfo> Take(Pods::iterator at);
  std::unique_ptr<Holdings> ReadHoldings(const kube::Pod& pod, const PodInfo* known);
  bool IsSame(const PodInfo& known, const kube::Pod& pod, const ShapePtr& shape,
              const Holdings* held);
  void Charge(PodInfo& pod, NodeRow row);
  void Release(PodInfo& pod);
  void SetAside(PodInfo& pod, const std::string& node);
  void TakeBack(PodInfo& pod);
  void ChargeThoseSetAsideFor(const std::string& node, NodeRow row);

  // One step back.
  struct Undo {
    std::string added;                 // the uid of the pod to take out; or
    std::unique_ptr<PodInfo> removed;  // the pod to put back,
    std::string node;                  // where,
    uint32_t place = 0;                // and at which place
  };
  void UndoLast();
  void EnsureNoSavepoint() const;

  ResourceNames resources_;
  ShapeTable shapes_;
  NodeTable nodes_;
  Pods pods_;
  StringMap<std::vector<PodInfo*>> set_aside_;  // by the name of a node that does not exist
  size_t assumed_ = 0;
  size_t savepoints_ = 0;   // that have not ended
  std::vector<Undo> undo_;  // while there are any
  std::vector<LedgerListener*> listeners_;
};

}  // namespace koord::scheduler
