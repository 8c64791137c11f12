#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::localcluster::simulation {

// Sees every change that the API server makes, in order, and complains about those that a scheduler
// must never cause:
//  - a pod that has a node gets another, or a binding reaches another pod of the same name;
//  - a binding puts more onto a node than it can hold. Pods count until they are gone or have
//    ended. What a node can hold is what it says now, or what the scheduler knew when it decided:
//    a machine may shrink while a binding is on its way. Whoever is on his way holds his room, and
//    a binding that the API server was too busy for is sent again as it was, so that it is the
//    moment of the decision that counts, not that of the last try;
//  - a pod is deleted by a scheduler although nobody more important was pending.
class Checker {
 public:
  struct PodState {
    kube::Pod pod;
    SteadyTime bound_at{};
    bool ended = false;  // Succeeded or Failed

    bool bound() const { return !pod.spec.node_name.empty(); }
  };

  Checker(const Clock& clock, apiserver::Store& store);

  const std::map<std::string, PodState>& pods() const { return pods_; }  // by name
  const std::map<std::string, kube::Node>& nodes() const { return nodes_; }
  const std::set<std::string>& uids() const { return uids_; }        // of all pods there ever were
  const std::set<std::string>& evicted() const { return evicted_; }  // names; by a scheduler
  const std::vector<std::string>& bindings() const { return bindings_; }  // "<ms> <pod> <node>"
  size_t bindings_sent() const { return bindings_sent_; }
  uint64_t trace_hash() const { return trace_hash_; }

  // A scheduler chooses this node now. `allocatable`: of that node, as the scheduler knows it.
  void OnDecided(const std::string& uid, const std::string& node, kube::ResourceList allocatable);
  // A scheduler sends this now.
  void OnBindingSent(const std::string& uid, const std::string& node);
  void OnDeletionSent(const std::string& name, const std::string& uid);

  void Complain(std::string what);
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void Watch(apiserver::Store& store, const std::string& resource,
             void (Checker::*see)(const apiserver::Change&));
  void SeePod(const apiserver::Change& change);
  void SeeNode(const apiserver::Change& change);
  void SeeOther(const apiserver::Change&) {}
  void Trace(std::string_view resource, const apiserver::Change& change);

  void CheckBinding(const kube::Pod& pod);
  void CheckRoom(const kube::Pod& pod, const kube::ResourceList& allocatable);

  const Clock& clock_;
  std::vector<std::unique_ptr<apiserver::Store::Subscription>> subscriptions_;
  std::map<std::string, PodState> pods_;
  std::map<std::string, kube::Node> nodes_;
  std::set<std::string> uids_, evicted_;
  // When somebody of a priority was last pending.
  std::map<int32_t, SteadyTime> last_pending_;
  // By uid and node: what the node could hold when it was last chosen for the pod.
  std::map<std::pair<std::string, std::string>, kube::ResourceList> decided_;
  std::vector<std::string> bindings_;
  size_t bindings_sent_ = 0;
  std::vector<std::string> complaints_;
  uint64_t trace_hash_ = 14695981039346656037u;
};

}  // namespace koord::localcluster::simulation
