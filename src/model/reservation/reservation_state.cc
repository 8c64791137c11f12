#include "model/reservation/reservation_state.h"

#include <algorithm>

#include "kube/objects/pod_resources.h"

namespace koord::model {

using kube::ResourceList;

bool IsActive(const api::Reservation& reservation) {
  const api::ReservationStatus& status = reservation.status;
  return !status.node_name.empty() &&
         (status.phase == api::kReservationAvailable || status.phase == api::kReservationWaiting);
}

bool IsAvailable(const api::Reservation& reservation) {
  return !reservation.status.node_name.empty() &&
         reservation.status.phase == api::kReservationAvailable;
}

bool IsUnassigned(const api::Reservation& reservation) {
  return reservation.status.node_name.empty() && !HasEnded(reservation);
}

bool HasEnded(const api::Reservation& reservation) {
  const std::string& phase = reservation.status.phase;
  return phase == api::kReservationFailed || phase == api::kReservationSucceeded;
}

bool IsExpired(const api::Reservation& reservation) {
  if (reservation.status.phase != api::kReservationFailed) return false;
  const auto* ready =
      kube::FindCondition(reservation.status.conditions, api::kReservationConditionReady);
  return ready != nullptr && ready->status == "False" &&
         ready->reason == api::kReservationReasonExpired;
}

ResourceList RequestsOf(const api::Reservation& reservation) {
  if (IsAvailable(reservation)) return reservation.status.allocatable;
  std::optional<kube::PodTemplateSpec> pod_template = api::TemplateOf(reservation.spec);
  if (!pod_template) return {};
  return kube::PodRequests({.metadata = {}, .spec = std::move(pod_template->spec), .status = {}});
}

std::string_view SchedulerNameOf(const api::Reservation& reservation) {
  if (!reservation.spec.pod_template) return "";
  return reservation.spec.pod_template->spec.scheduler_name;
}

std::vector<std::string> ResourceNamesOf(const ResourceList& reserved,
                                         const std::vector<std::string>& restricted_to) {
  std::vector<std::string> all;
  std::vector<std::string> listed;
  for (const auto& [name, amount] : reserved) {
    all.push_back(name);
    if (std::ranges::find(restricted_to, name) != restricted_to.end()) listed.push_back(name);
  }
  return listed.empty() ? all : listed;
}

ResourceList Masked(const ResourceList& list, const std::vector<std::string>& names) {
  ResourceList masked;
  for (const std::string& name : names) {
    if (const auto found = list.find(name); found != list.end()) masked.insert(*found);
  }
  return masked;
}

}  // namespace koord::model
