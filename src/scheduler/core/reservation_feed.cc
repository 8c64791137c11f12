#include "scheduler/core/reservation_feed.h"

#include <utility>

#include "model/reservation/reservation_state.h"
#include "scheduler/cluster/reserve_pod.h"

namespace koord::scheduler {
namespace {

bool HasNode(const Scheduler::PodPtr& pod) { return !pod->spec.node_name.empty(); }

}  // namespace

ReservationFeed::ReservationFeed(Scheduler& scheduler)
    : scheduler_(scheduler), first_profile_(scheduler.lineups().front()->name) {}

Scheduler::PodPtr ReservationFeed::PodOf(const api::Reservation& reservation) const {
  const bool waits = model::IsUnassigned(reservation) && api::Validate(reservation.spec).ok();
  if (!waits && !model::IsActive(reservation)) return nullptr;
  return MakeReservePod(reservation, first_profile_);
}

void ReservationFeed::OnReservation(const Ptr& before, const Ptr& after) {
  const std::string& name = (after != nullptr ? after : before)->metadata.name;
  ObjectCache<api::Reservation>& objects = scheduler_.objects().reservations;
  if (after != nullptr) {
    objects.Set(after);
  } else {
    objects.Remove(KeyOf(before->metadata));
  }
  Show(name, after == nullptr ? nullptr : PodOf(*after));
  scheduler_.OnEvent({.kind = EventKind::kReservationChanged,
                      .reservation_before = before,
                      .reservation_after = after});
}

void ReservationFeed::Show(const std::string& name, const Scheduler::PodPtr& pod) {
  const auto at = pods_.find(name);
  Scheduler::PodPtr last = at == pods_.end() ? nullptr : at->second;
  if (pod != nullptr) {
    pods_.insert_or_assign(name, pod);
  } else if (last != nullptr) {
    pods_.erase(at);
  }
  // A pod does not lose its node: one that does is another one.
  const bool goes_on = last != nullptr && pod != nullptr &&
                       last->metadata.uid == pod->metadata.uid && (HasNode(pod) || !HasNode(last));
  if (last != nullptr && !goes_on) scheduler_.OnPod(std::exchange(last, nullptr), nullptr);
  if (pod != nullptr) scheduler_.OnPod(last, pod);
}

}  // namespace koord::scheduler
