#pragma once
#include <string>
#include <vector>

#include "model/reservation/reservation_matching.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/explain/explanation.h"

namespace koord::scheduler {

// The reservations that are for a pod, or that it names, and why it uses each or does not. Nothing
// for reservations themselves.
std::vector<Explanation::Reservation> ReservationsConsidered(Scheduler& scheduler,
                                                             const Scheduler::PodPtr& pod);

// Why a pod does not use an offer that is for it, or "can be used".
struct OfferVerdict {
  bool usable = false;
  std::string text;
};
OfferVerdict JudgeOffer(Scheduler& scheduler, const Scheduler::PodPtr& pod,
                        const model::ReservationSeeker& seeker,
                        const model::ReservationOffer& offer, const std::string& node);

// "default/p, default/q": pods that use a reservation, on its node; "" if none does.
std::string UsersOf(const Scheduler& scheduler, std::string_view reservation_uid);

}  // namespace koord::scheduler
