#pragma once
#include "base/random.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/review.h"

namespace koord::manager::webhook {

// /mutate-reservation: profiles apply to Reservations as they do to pods, but for resources.
Response MutateReservation(const Request& request, const ClusterView& view, Random& random);

}  // namespace koord::manager::webhook
