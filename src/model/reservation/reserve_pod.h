#pragma once
#include <string_view>

#include "api/reservation.h"
#include "kube/objects/pod.h"

namespace koord::model {

// The pod that stands for a reservation while the scheduler thinks of nodes; no API server ever
// sees it. It has the uid of the reservation as its name and uid, asks for what the reservation
// reserves, and is on its node once it has one. Where the template names no scheduler it is for
// `scheduler_when_unnamed`. A reservation without a template gives a pod that asks for nothing.
kube::Pod ReservePodOf(const api::Reservation& reservation,
                       std::string_view scheduler_when_unnamed);

// The container that asks for what a reservation reserves where that is not what its template says.
inline constexpr std::string_view kReserveContainer = "__internal_fake_container__";

}  // namespace koord::model
