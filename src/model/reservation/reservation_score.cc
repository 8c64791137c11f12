#include "model/reservation/reservation_score.h"

namespace koord::model {

int64_t ReservationScore(const kube::ResourceList& pod_requests,
                         const kube::ResourceList& allocatable,
                         const kube::ResourceList& allocated) {
  int64_t sum = 0;
  int64_t counted = 0;
  for (const auto& [name, capacity] : allocatable) {
    if (capacity.IsZero()) continue;
    ++counted;
    const kube::Quantity wanted = AmountOf(pod_requests, name) + AmountOf(allocated, name);
    if (wanted > capacity) continue;
    const __int128 scaled = static_cast<__int128>(wanted.MilliValue()) * 100;
    sum += static_cast<int64_t>(scaled / capacity.MilliValue());
  }
  return counted == 0 ? 0 : sum / counted;
}

}  // namespace koord::model
