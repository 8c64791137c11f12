#pragma once
#include "api/reservation.h"
#include "base/metrics/metrics.h"
#include "scheduler/cluster/object_cache.h"

namespace koord::scheduler {

// What is reserved and used, under the names that dashboards for Koordinator know; looked up when
// somebody asks.
class ReservationMetrics {
 public:
  explicit ReservationMetrics(metrics::Registry& registry);

  void LookUp(const ObjectCache<api::Reservation>& reservations);

 private:
  void ShowPhase(const api::Reservation& reservation);
  void ShowResources(const api::Reservation& reservation);

  metrics::Gauges& phases_;
  metrics::Gauges& resources_;
};

}  // namespace koord::scheduler
