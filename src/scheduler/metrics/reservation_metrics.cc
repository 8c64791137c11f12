#include "scheduler/metrics/reservation_metrics.h"

#include <array>
#include <limits>

namespace koord::scheduler {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// As people read amounts of it.
struct Unit {
  std::string_view name;
  double size;
};
Unit UnitOf(std::string_view resource) {
  if (resource == kube::kCpu) return {"core", 1};
  if (resource == kube::kMemory) return {"Gi", 1024.0 * 1024 * 1024};
  return {"raw", 1};
}

}  // namespace

ReservationMetrics::ReservationMetrics(metrics::Registry& registry)
    : phases_(registry.AddGauges("scheduler_reservation_status_phase",
                                 "The phase of a reservation: 1 for the one that it is in.",
                                 {"name", "phase"}, kNoLimit)),
      resources_(registry.AddGauges(
          "scheduler_reservation_resource",
          "What a reservation holds (allocatable), what its owners use (allocated), and the share "
          "of the one in the other (utilization).",
          {"type", "name", "resource", "unit"}, kNoLimit)) {}

void ReservationMetrics::LookUp(const ObjectCache<api::Reservation>& reservations) {
  phases_.Clear();
  resources_.Clear();
  for (const auto& [key, reservation] : reservations.objects()) {
    ShowPhase(*reservation);
    ShowResources(*reservation);
  }
}

void ReservationMetrics::ShowPhase(const api::Reservation& reservation) {
  constexpr std::array kPhases{api::kReservationPending, api::kReservationAvailable,
                               api::kReservationSucceeded, api::kReservationFailed};
  const std::string_view phase = reservation.status.phase.empty()
                                     ? api::kReservationPending
                                     : std::string_view(reservation.status.phase);
  for (const std::string_view each : kPhases) {
    phases_.With({reservation.metadata.name, each}).Set(each == phase ? 1 : 0);
  }
}

void ReservationMetrics::ShowResources(const api::Reservation& reservation) {
  const std::string& name = reservation.metadata.name;
  for (const auto& [resource, amount] : reservation.status.allocatable) {
    const Unit unit = UnitOf(resource);
    const double held = amount.ToDouble();
    const double used = kube::AmountOf(reservation.status.allocated, resource).ToDouble();
    resources_.With({"allocatable", name, resource, unit.name}).Set(held / unit.size);
    resources_.With({"allocated", name, resource, unit.name}).Set(used / unit.size);
    if (held > 0) resources_.With({"utilization", name, resource, "ratio"}).Set(used / held);
  }
}

}  // namespace koord::scheduler
