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

#include "api/elastic_quota.h"
#include "api/reservation.h"
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
//  - a pod is bound with CPUs that another one has, with more or fewer than it asks for, or with
//    more of a NUMA node than there is;
//  - more of a device is given than there is, or devices without a node;
//  - a pod is deleted by a scheduler although nobody more important was pending;
//  - a reservation that has a node gets another; what it holds of it goes to somebody for whom it
//  is
//    not (of what is reserved, a node is charged the larger of what is held and what is used); it
//    can be used once and is used twice; or a pod that must use one goes without. Who uses what is
//    reserved takes nothing more, also of a machine that has shrunk below what it holds.
class Checker {
 public:
  struct PodState {
    kube::Pod pod;
    SteadyTime bound_at{};
    bool ended = false;  // Succeeded or Failed

    bool bound() const { return !pod.spec.node_name.empty(); }
  };

  struct ReservationState {
    api::Reservation object;
    SteadyTime available_at{};

    bool waits() const { return object.status.node_name.empty() && !ended(); }
    bool available() const { return object.status.phase == api::kReservationAvailable; }
    bool ended() const {
      return object.status.phase == api::kReservationFailed ||
             object.status.phase == api::kReservationSucceeded;
    }
  };

  Checker(const Clock& clock, apiserver::Store& store);

  const std::map<std::string, PodState>& pods() const { return pods_; }  // by name
  const std::map<std::string, kube::Node>& nodes() const { return nodes_; }
  const std::map<std::string, ReservationState>& reservations() const { return reservations_; }
  // Those in the namespace of the pods.
  const std::map<std::string, api::ElasticQuota>& quotas() const { return quotas_; }
  // What each quota should say that it uses, from the pods that there are.
  std::map<std::string, kube::ResourceList> QuotaUsage() const;
  // Of all pods and reservations there ever were.
  const std::set<std::string>& uids() const { return uids_; }
  size_t draws() const { return draws_; }  // bindings of pods that use a reservation
  const std::set<std::string>& evicted() const { return evicted_; }  // names; by a scheduler
  // "<ms> <pod or reservation> <node>"
  const std::vector<std::string>& bindings() const { return bindings_; }
  size_t pods_bound() const { return pods_bound_; }
  size_t bindings_sent() const { return bindings_sent_; }
  size_t devices_given() const { return devices_given_; }  // seen at bindings, all told
  uint64_t trace_hash() const { return trace_hash_; }

  // A scheduler chooses this node now. `allocatable`: of that node, as the scheduler knows it.
  void OnDecided(const std::string& uid, const std::string& node, kube::ResourceList allocatable);
  // A scheduler sends this now.
  void OnBindingSent(const std::string& uid, const std::string& node);
  void OnDeletionSent(const std::string& name, const std::string& uid);
  void OnReservationDeletionSent(const std::string& name, const std::string& uid);

  void Complain(std::string what);
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void Watch(apiserver::Store& store, const std::string& resource,
             void (Checker::*see)(const apiserver::Change&));
  void SeePod(const apiserver::Change& change);
  void SeeNode(const apiserver::Change& change);
  void SeeReservation(const apiserver::Change& change);
  void SeeQuota(const apiserver::Change& change);
  void SeeOther(const apiserver::Change&) {}
  void Trace(std::string_view resource, const apiserver::Change& change);

  void CheckBinding(const kube::Pod& pod);
  // I3: nobody has CPUs or a share of a NUMA node that somebody else has.
  void CheckHoldings(const kube::Pod& pod);
  // Of a pod, or of a reservation.
  void CheckDecided(const std::string& name, const std::string& uid, const std::string& node);
  void CheckRoom(const std::string& name, const std::string& node,
                 const kube::ResourceList& allocatable);
  // What is charged to a node, and by whom, if one pod or reservation were not there.
  kube::ResourceList ChargedTo(const std::string& node, const std::string& but_for,
                               std::string& who) const;
  // What the pods that use a reservation are charged together, and how many they are.
  kube::ResourceList UsedOf(const api::Reservation& reservation, int64_t& owners,
                            const std::string& but_for = "") const;
  const ReservationState* FindReservation(const std::string& uid) const;
  void CheckDraw(const kube::Pod& pod);
  void CheckVictim(const kube::Pod& victim);
  void CheckDevices(const std::string& node);

  const Clock& clock_;
  std::vector<std::unique_ptr<apiserver::Store::Subscription>> subscriptions_;
  std::map<std::string, PodState> pods_;
  std::map<std::string, kube::Node> nodes_;
  std::map<std::string, api::ElasticQuota> quotas_;             // by name
  std::map<std::string, ReservationState> reservations_;        // by name
  std::map<std::string, api::Reservation> known_reservations_;  // by uid: all there ever were
  std::map<std::string, std::set<std::string>> drawn_;  // uids of pods, by that of a reservation
  size_t draws_ = 0;
  std::set<std::string> uids_, evicted_;
  // When somebody of a priority was last pending.
  std::map<int32_t, SteadyTime> last_pending_;
  // By uid and node: what the node could hold when it was last chosen for the pod.
  std::map<std::pair<std::string, std::string>, kube::ResourceList> decided_;
  std::vector<std::string> bindings_;
  size_t bindings_sent_ = 0;
  size_t pods_bound_ = 0;
  size_t devices_given_ = 0;
  std::vector<std::string> complaints_;
  uint64_t trace_hash_ = 14695981039346656037u;
};

}  // namespace koord::localcluster::simulation
