#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/reservation.h"
#include "scheduler/reference/plain_cluster.h"

// Reservations as lists: what each holds, and which of them a pod may use.
namespace koord::scheduler::reference {

// The pod that stands for a reservation.
kube::Pod ReservePodOf(const api::Reservation& reservation);

// One that holds room and can be read.
struct PlainReservation {
  std::shared_ptr<const api::Reservation> object;
  const PlainPod* pod = nullptr;  // holds its room
  kube::ResourceList reserved;
  std::set<std::string> names;  // the resources that it is about
  Amounts kept_back;            // of them, from those who draw from it

  const std::string& name() const { return object->metadata.name; }
  const std::string& uid() const { return object->metadata.uid; }
  const std::string& node() const { return object->status.node_name; }
  bool restricted() const { return object->spec.allocate_policy == "Restricted"; }
  int64_t order() const;  // 0: none
};

// The pods on its node that draw from it.
std::vector<const PlainPod*> OwnersOf(const View& view, const PlainReservation& reservation);

// What was found of the reservations for one pod.
struct ReservationMatches {
  struct Counts {
    int64_t owner = 0;  // those that are for this pod; the others are some of them
    int64_t name_matched = 0, name_unmatched = 0, unschedulable = 0, affinity = 0, not_exact = 0;
    std::map<std::string, int64_t> taints;  // by text
  };

  std::string error;  // what the pod says cannot be read
  bool ignores_all = false;
  bool must_use = false;
  std::string wanted_name;
  std::map<std::string, std::vector<PlainReservation>> usable;  // by node
  // Nodes with any that matter to the pod: usable, or used by others.
  std::set<std::string> recorded;
  std::map<std::string, Counts> counts;  // by node, of those that were looked at

  const std::vector<PlainReservation>& On(const std::string& node) const {
    static const std::vector<PlainReservation> kNone;
    const auto found = usable.find(node);
    return found == usable.end() ? kNone : found->second;
  }
};

// Those that a pod could draw from if they were for it: available, readable, not used up.
std::vector<PlainReservation> OpenReservations(const View& view);
ReservationMatches MatchReservations(const View& view, const PlainPod& pod);

}  // namespace koord::scheduler::reference
