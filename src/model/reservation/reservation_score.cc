#include "model/reservation/reservation_score.h"

namespace koord::model {

ReservationScorer::ReservationScorer(const kube::ResourceList& pod_requests,
                                     const kube::ResourceList& allocatable) {
  for (const auto& [name, capacity] : allocatable) {
    if (capacity.IsZero()) continue;
    parts_.push_back({name, AmountOf(pod_requests, name).MilliValue(), capacity.MilliValue()});
  }
}

int64_t ReservationScore(const kube::ResourceList& pod_requests,
                         const kube::ResourceList& allocatable,
                         const kube::ResourceList& allocated) {
  const ReservationScorer scorer(pod_requests, allocatable);
  return scorer.Score(
      [&](size_t i) { return AmountOf(allocated, scorer.parts()[i].name).MilliValue(); });
}

}  // namespace koord::model
