#include "scheduler/reservation_controller/consumer_place.h"

namespace koord::scheduler {

ReservationFacts::Consumer PlaceOfConsumer(std::string_view consumer_uid,
                                           std::string_view reservation_uid, const Ledger& ledger,
                                           const PendingPods* pending) {
  using enum ReservationFacts::Consumer;
  if (consumer_uid.empty()) return kNone;
  if (pending != nullptr && pending->contains(consumer_uid)) return kWaits;
  const PodInfo* pod = ledger.Find(consumer_uid);
  if (pod == nullptr) return kGone;
  if (pod->assumed) return kWaits;
  const bool is_owner = pod->held != nullptr && pod->held->draws_from &&
                        pod->held->draws_from->uid == reservation_uid;
  return is_owner ? kIsOwner : kElsewhere;
}

}  // namespace koord::scheduler
