#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/reservation.h"
#include "base/clock.h"
#include "kube/controller/plan.h"
#include "kube/objects/pod.h"

namespace koord::scheduler {

// What the cluster says about a reservation, as far as it decides what becomes of it.
struct ReservationFacts {
  bool has_its_node = true;
  // Pods that have not ended, are on its node and draw from it, as the API server shows them.
  std::vector<std::shared_ptr<const kube::Pod>> owners;
  // Where the pod is that was to use it up: on no node, it still waits; gone, it may have used it.
  enum class Consumer : uint8_t { kNone, kWaits, kIsOwner, kElsewhere, kGone };
  Consumer consumer = Consumer::kNone;
};

struct EndingRules {
  // Also one that never got a node ends when its time is over.
  bool expire_unscheduled = false;
};

// What is to become of a reservation: it ends when its time is over, its node is gone or it was
// used up; before, its status says who uses how much of it. The mark of a pod that was to use it up
// and runs elsewhere is taken off: whoever set it could not. Nothing more than needs to be is
// written, and only if nobody else has written meanwhile.
kube::Plan DecideReservation(const api::Reservation& reservation, const ReservationFacts& facts,
                             const EndingRules& rules, WallTime now);

// Why nobody can use it; nothing if somebody can.
std::optional<std::string> WhyInvalid(const api::Reservation& reservation);

}  // namespace koord::scheduler
