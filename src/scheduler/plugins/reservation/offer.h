#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/reservation/reservation_offer.h"
#include "scheduler/cluster/ledger.h"

namespace koord::scheduler {

// A reservation that pods may draw from, or a pod that acts as one: what it says, and what is left
// of it as the ledger stands.
struct Offer {
  model::ReservationOffer terms;
  bool is_pod = false;            // no Reservation, but a pod that acts as one
  std::vector<std::string> keys;  // under which pods find it

  // In numbers, as the ledger counts.
  ResourceHold names;
  ResourceAmounts allocatable;
  ResourceAmounts kept_back;          // of that, from owners
  std::vector<ResourceId> resources;  // that it is about, by name
  std::optional<int64_t> max_pods;    // where it reserves places

  // What holds the room; null while nothing does.
  const PodInfo* reserve_pod = nullptr;
  bool available = false;  // it says so itself
  // Owners on its node, and what they use of what it reserves: may be more than that.
  size_t owners = 0;
  ResourceAmounts used;
  // It can be used once and has been. Stays so, also when its owner is gone before anybody has
  // taken note of it.
  bool spent = false;

  NodeRow row() const { return reserve_pod == nullptr ? kNoRow : reserve_pod->row; }
  bool is_restricted() const { return terms.policy == model::AllocatePolicy::kRestricted; }
  // Of what it is about: used by its owners.
  ResourceAmounts Allocated() const;
  // What is left for further owners, if these amounts of `used` were free.
  int64_t Left(ResourceId id, const ResourceAmounts& freed = {}) const;
  bool SharesNamesWith(const ResourceAmounts& requests) const;
  bool IsAbout(ResourceId id) const { return std::ranges::find(resources, id) != resources.end(); }
};

// Takes the numbers from the terms.
void Count(Offer& offer, ResourceNames& resources);

}  // namespace koord::scheduler
