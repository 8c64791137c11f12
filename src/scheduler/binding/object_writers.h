#pragma once
#include "scheduler/binding/pod_writer.h"
#include "scheduler/binding/reservation_writer.h"
#include "scheduler/cluster/holdings.h"

namespace koord::scheduler {

// The writers of all kinds of objects that are scheduled.
class ObjectWriters {
 public:
  explicit ObjectWriters(kube::Client& client) : pods_(client), reservations_(client) {}

  ObjectWriter& For(const kube::Pod& pod) {
    if (IsReservePod(pod)) return reservations_;
    return pods_;
  }

 private:
  PodWriter pods_;
  ReservationWriter reservations_;
};

}  // namespace koord::scheduler
