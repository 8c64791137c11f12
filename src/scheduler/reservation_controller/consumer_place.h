#pragma once
#include <string_view>

#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/pending_pods.h"
#include "scheduler/reservation_controller/reservation_decision.h"

namespace koord::scheduler {

// Where the pod is that was to use a reservation up, as its mark says ("": nobody was). Without
// `pending` it is not known of any pod that it still waits.
ReservationFacts::Consumer PlaceOfConsumer(std::string_view consumer_uid,
                                           std::string_view reservation_uid, const Ledger& ledger,
                                           const PendingPods* pending);

}  // namespace koord::scheduler
