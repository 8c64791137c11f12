#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/reservation.h"
#include "base/status.h"
#include "kube/objects/node_affinity.h"
#include "kube/objects/resource_list.h"
#include "kube/objects/taints_tolerations.h"

// How pods find reservations, and what the two know of each other.
namespace koord::api {

// Any of its terms must hold for the reservation's labels.
struct ReservationSelector {
  std::vector<kube::NodeSelectorTerm> reservation_selector_terms;

  static void Fields(auto& self, auto&& field) {
    field("reservationSelectorTerms", self.reservation_selector_terms);
  }
  bool operator==(const ReservationSelector&) const = default;
};

// scheduling.koordinator.sh/reservation-affinity: the pod must use a reservation, one of these.
struct ReservationAffinity {
  std::string name;  // makes the other members irrelevant
  std::optional<ReservationSelector> required;
  kube::Labels reservation_selector;
  std::vector<kube::Toleration> tolerations;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("requiredDuringSchedulingIgnoredDuringExecution", self.required);
    field("reservationSelector", self.reservation_selector);
    field("tolerations", self.tolerations);
  }
  bool operator==(const ReservationAffinity&) const = default;
};

// An empty annotation is an affinity without constraints.
StatusOr<std::optional<ReservationAffinity>> ReservationAffinityOf(
    const kube::Annotations& annotations);

// scheduling.koordinator.sh/reservation-allocated
struct ReservationAllocated {
  std::string name;
  std::string uid;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("uid", self.uid);
  }
  bool operator==(const ReservationAllocated&) const = default;
};

StatusOr<std::optional<ReservationAllocated>> ReservationAllocatedOf(
    const kube::Annotations& annotations);
std::string EncodeReservationAllocated(const ReservationAllocated& allocated);

// scheduling.koordinator.sh/reservation-restricted-options: the resources that a Restricted
// reservation restricts; all of its own where the list is empty.
StatusOr<std::vector<std::string>> RestrictedResourcesOf(const kube::Annotations& annotations);

// scheduling.koordinator.sh/exact-match-reservation: resources of which a pod wants a reservation
// to have exactly as much as it asks for; empty for none.
StatusOr<std::vector<std::string>> ExactMatchResourcesOf(const kube::Annotations& annotations);
// In the order of the names: one that neither side has ends the comparison as a match, one that
// only one side has or of which the amounts differ as no match.
bool MatchesExactly(const std::vector<std::string>& resource_names,
                    const kube::ResourceList& pod_requests,
                    const kube::ResourceList& reservation_allocatable);

// scheduling.koordinator.sh/reservation-order: smaller first; 0 where absent or malformed.
int64_t ReservationOrderOf(const kube::Labels& reservation_labels);

// scheduling.koordinator.sh/reservation-owners of a pod that acts as a reservation.
StatusOr<std::vector<ReservationOwner>> ReservationOwnersOf(const kube::Annotations& annotations);
// scheduling.koordinator.sh/reservation-current-owner
StatusOr<std::optional<kube::ObjectReference>> ReservationCurrentOwnerOf(
    const kube::Annotations& annotations);
std::string EncodeReservationCurrentOwner(const kube::ObjectReference& owner);

// scheduling.koordinator.sh/reservation-resize-allocatable
StatusOr<std::optional<kube::ResourceList>> ResizeAllocatableOf(
    const kube::Annotations& annotations);
std::string EncodeResizeAllocatable(const kube::ResourceList& allocatable);

// Whether a pod acts as a reservation.
bool IsInReservationMode(const kube::Labels& pod_labels);

}  // namespace koord::api
