#pragma once
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
// removed and added again.
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
  NodeTable& nodes() { return nodes_; }
  const NodeTable& nodes() const { return nodes_; }
  void AddListener(LedgerListener& listener) { listeners_.push_back(&listener); }

  NodeRow SetNode(std::shared_ptr<const kube::Node> node, NodeChanges* changes = nullptr);
  // Its pods stay charged until they are gone too.
  void RemoveNode(std::string_view name);

  // Gives a pod the room it asks for before anybody else knows of it. It must not be in yet.
  StatusOr<const PodInfo*> Assume(std::shared_ptr<const kube::Pod> pod, ShapePtr shape,
                                  NodeRow row);
  // Takes an assumption back; pods that were seen on a node stay.
  bool Forget(std::string_view uid);

  // What the API server shows: a pod with a node. Confirms an assumption, also one of another node.
  void SetPod(std::shared_ptr<const kube::Pod> pod);
  bool RemovePod(std::string_view uid);

  const PodInfo* Find(std::string_view uid) const;
  size_t pods() const { return pods_.size(); }
  size_t assumed() const { return assumed_; }

  // One line a fact, sorted: equal texts mean equal ledgers.
  std::string Fingerprint() const;

 private:
  PodInfo& Add(std::shared_ptr<const kube::Pod> pod, ShapePtr shape, NodeRow row, bool assumed);
  void Drop(StringMap<std::unique_ptr<PodInfo>>::iterator at);

  ResourceNames resources_;
  ShapeTable shapes_;
  NodeTable nodes_;
  StringMap<std::unique_ptr<PodInfo>> pods_;  // by uid
  size_t assumed_ = 0;
  std::vector<LedgerListener*> listeners_;
};

}  // namespace koord::scheduler
