#pragma once
#include "base/random.h"
#include "manager/webhook/pod/trusted_keys.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/review.h"

namespace koord::manager::webhook {

// /mutate-reservation: profiles apply to Reservations as they do to pods, but for resources.
Response MutateReservation(const Request& request, const ClusterView& view, Random& random);

// /validate-reservation: a reservation tells pods which CPUs and devices they may have, so that
// nobody but the scheduler may say on it what it holds.
Response ValidateReservation(const Request& request, const TrustOptions& trust,
                             WebhookMetrics* metrics);

}  // namespace koord::manager::webhook
