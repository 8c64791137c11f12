#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "api/reservation.h"
#include "base/status.h"
#include "kube/objects/pod.h"
#include "kube/objects/resource_list.h"
#include "kube/objects/taints_tolerations.h"
#include "kube/shared.h"
#include "model/reservation/owner_matching.h"

namespace koord::model {

enum class AllocatePolicy : uint8_t { kDefault, kAligned, kRestricted };
AllocatePolicy AllocatePolicyOf(const api::ReservationSpec& spec);

// What is offered to pods, and to which: by a Reservation, or by a pod that acts as one. Read once,
// asked often.
struct ReservationOffer {
  std::string name;
  std::string uid;
  WallTime created{};
  kube::Shared<kube::Labels> labels;
  OwnerMatcher owners;
  std::vector<kube::Taint> taints;
  bool unschedulable = false;  // or being deleted
  bool allocate_once = true;
  AllocatePolicy policy = AllocatePolicy::kDefault;
  int64_t order = 0;  // the smallest first; 0: has none
  kube::ResourceList allocatable;
  std::vector<std::string> resource_names;  // sorted
  kube::ResourceList kept_back;             // of allocatable, from owners
  std::string consumer_uid;                 // see ConsumerOf

  // What cannot be read is an error: nobody may use such a reservation.
  static StatusOr<ReservationOffer> Of(const api::Reservation& reservation);
  // Of a pod in operating mode Reservation, which is used once and aligned.
  static StatusOr<ReservationOffer> Of(const kube::Pod& operating);

  // For an index: a pod for which it is has one of these among its OfferKeysOf.
  std::vector<std::string> keys() const;
};

// What is left for further owners of what an offer is about, if its owners use this much.
kube::ResourceList LeftOf(const ReservationOffer& offer, const kube::ResourceList& used);

// Whether a pod in operating mode Reservation offers anything: it runs and is ready.
bool IsOffering(const kube::Pod& operating);

}  // namespace koord::model
