#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/reservation/seeker.h"

namespace koord::scheduler {

// How many reservations were considered for a pod that fits nowhere, and why each was not used: one
// line a reason. Nothing if the pod owns none and need not use any.
class ReservationTally {
 public:
  // One node: its reservations that pods of the shape own, and why the node was refused.
  void Add(const std::vector<Seeker::Considered>& considered,
           const std::vector<std::string>& node_reasons);
  std::vector<std::string> Lines(bool has_affinity) const;

 private:
  size_t owned_ = 0;
  size_t name_matched_ = 0;
  size_t name_unmatched_ = 0;
  size_t affinity_unmatched_ = 0;
  size_t unschedulable_ = 0;
  size_t not_exact_ = 0;
  std::map<std::string, size_t> by_taint_;
  std::map<std::string, size_t> by_node_reason_;
};

// Why a node will not do, in the words of the message: what PreFilter has said holds for all nodes,
// and nodes that it has left out have a reason in common.
std::vector<std::string> NodeReasons(const Diagnosis& diagnosis, NodeRow row,
                                     const Reasons& reasons);

// The nodes whose reservations are counted: all, or for a pod that names a reservation which was
// given a node, only that node, whatever has become of it and of the reservation since.
struct InspectedNodes {
  bool all = true;
  std::optional<NodeRow> only = {};  // nothing: a node that is not there

  bool Has(NodeRow row) const { return all || only == row; }
};

std::vector<std::string> ReservationReasons(const Seeker& seeker, const InspectedNodes& inspected,
                                            const Diagnosis& diagnosis, const Reasons& reasons);

// What the event FailedScheduling-Reservation says of a pod with this message; nothing if the
// message does not speak of reservations.
std::optional<std::string> ReservationEventText(std::string_view message);

}  // namespace koord::scheduler
