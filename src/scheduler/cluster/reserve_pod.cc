#include "scheduler/cluster/reserve_pod.h"

#include "api/keys.h"
#include "model/reservation/reserve_pod.h"

namespace koord::scheduler {

std::shared_ptr<const kube::Pod> MakeReservePod(const api::Reservation& reservation,
                                                std::string_view scheduler_when_unnamed) {
  kube::Pod pod = model::ReservePodOf(reservation, scheduler_when_unnamed);
  if (const std::string& policy = reservation.spec.allocate_policy; !policy.empty()) {
    pod.metadata.annotations.insert_or_assign(std::string(api::kAnnotationReservePolicy), policy);
  }
  return std::make_shared<const kube::Pod>(std::move(pod));
}

}  // namespace koord::scheduler
