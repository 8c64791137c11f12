#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/reservation_annotations.h"
#include "base/status.h"
#include "kube/objects/pod.h"
#include "model/reservation/reservation_offer.h"

namespace koord::model {

// What a pod says of reservations, read once and asked of many.
struct ReservationSeeker {
  // An annotation that cannot be read is an error.
  static StatusOr<ReservationSeeker> Of(const kube::Pod& pod);

  // Must use a reservation.
  bool has_affinity() const { return affinity.has_value(); }
  // "": no certain one.
  std::string_view wanted_name() const { return affinity ? affinity->name : std::string_view(); }

  bool ignores_all = false;  // uses none, but sees what they hold as free
  std::optional<api::ReservationAffinity> affinity;
  std::vector<std::string> exact_resources;
  kube::ResourceList requests;
};

// For an index: an offer whose owners match the pod has one of these among its keys.
std::vector<std::string> OfferKeysOf(const kube::Pod& pod, const ReservationSeeker& seeker);

enum class MatchOutcome : uint8_t {
  kNotOwner,  // does not count as considered
  kIgnored,   // the pod ignores reservations; like a match
  kNameUnmatched,
  kUnschedulable,
  kTaint,
  kAffinityUnmatched,
  kNotExact,
  kNameMatched,
  kMatched,
};

struct ReservationMatch {
  MatchOutcome outcome = MatchOutcome::kNotOwner;
  const kube::Taint* taint = nullptr;  // of kTaint, in the offer

  bool is_match() const {
    return outcome == MatchOutcome::kIgnored || outcome == MatchOutcome::kNameMatched ||
           outcome == MatchOutcome::kMatched;
  }
};

struct MatchOptions {
  // Terms are about the reservation's own labels, not also about those of its node.
  bool omit_node_labels = false;
};

// Whether a reservation is for this pod: one without owners is for those who name it.
bool IsOwner(const kube::Pod& pod, const ReservationSeeker& seeker, const ReservationOffer& offer);
// What an owner may use, or the first rule that says no. Says nothing of how much is left, nor of
// what else the node asks for.
ReservationMatch MatchOwner(const ReservationSeeker& seeker, const ReservationOffer& offer,
                            const kube::Labels& node_labels, const MatchOptions& options);
// Both, and before them whether the pod ignores reservations.
ReservationMatch Match(const kube::Pod& pod, const ReservationSeeker& seeker,
                       const ReservationOffer& offer, const kube::Labels& node_labels,
                       const MatchOptions& options);

// "{key: value}", as messages name a taint.
std::string TaintText(const kube::Taint& taint);

}  // namespace koord::model
