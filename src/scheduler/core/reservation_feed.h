#pragma once
#include <memory>
#include <string>
#include <vector>

#include "api/reservation.h"
#include "base/string_map.h"
#include "scheduler/core/scheduler.h"

namespace koord::scheduler {

// Shows the scheduler Reservations: as objects to the plugins, and each by the pod that stands for
// it to everybody else, so that it waits in the queue, is given a node, and holds room there like a
// pod. No API server ever sees these pods.
//
//   waits for a node       its pod is without a node: queued if one of our profiles schedules it.
//                          One that names no scheduler is for the first profile
//   available              its pod is on its node, whoever has scheduled it
//   ended, or gone         its pod is gone
//   not valid              the same; the condition Scheduled of the object says why (the controller
//                          writes it, once a change)
//
// A reservation that was made anew under the same name is another one, also where a watch that was
// interrupted shows that as a change.
class ReservationFeed {
 public:
  using Ptr = std::shared_ptr<const api::Reservation>;

  explicit ReservationFeed(Scheduler& scheduler);

  // As an informer tells it.
  void OnReservation(const Ptr& before, const Ptr& after);

 private:
  // The pod that stands for it now; null: none does.
  Scheduler::PodPtr PodOf(const api::Reservation& reservation) const;
  void Show(const std::string& name, const Scheduler::PodPtr& pod);

  Scheduler& scheduler_;
  const std::string first_profile_;
  StringMap<Scheduler::PodPtr> pods_;  // as shown, by the reservation's name
};

}  // namespace koord::scheduler
