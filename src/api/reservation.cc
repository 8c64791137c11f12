#include "api/reservation.h"

namespace koord::api {

std::optional<kube::PodTemplateSpec> TemplateOf(const ReservationSpec& spec) {
  if (spec.pod_template || !spec.resources) return spec.pod_template;
  kube::PodTemplateSpec made;
  kube::Container& container = made.spec.containers.Mutable().emplace_back();
  container.name = "reserve";
  container.resources = *spec.resources;
  return made;
}

Status Validate(const ReservationSpec& spec) {
  if (!TemplateOf(spec)) return InvalidArgument("the reservation misses the template spec");
  if (spec.owners.empty() && !spec.resources) {
    return InvalidArgument("the reservation misses the owner spec");
  }
  if (!spec.ttl && !spec.expires) {
    return InvalidArgument("the reservation misses the expiration spec");
  }
  return absl::OkStatus();
}

}  // namespace koord::api

KOORD_DEFINE_CODEC(koord::api::ReservationOwner);
KOORD_DEFINE_CODEC(koord::api::ReservationSpec);
KOORD_DEFINE_CODEC(koord::api::Reservation);
