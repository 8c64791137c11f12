#pragma once
#include <memory>
#include <string_view>

#include "api/reservation.h"
#include "kube/objects/pod.h"

namespace koord::scheduler {

// The pod that stands for a reservation here (model::ReservePodOf), with its allocate policy on it:
// nodes are not the same for reservations of different policies. Reservations that ask for the same
// are of one shape, and what was found out for one of them serves all.
std::shared_ptr<const kube::Pod> MakeReservePod(const api::Reservation& reservation,
                                                std::string_view scheduler_when_unnamed);

}  // namespace koord::scheduler
