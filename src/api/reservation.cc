#include "api/reservation.h"

namespace koord::api {

std::optional<kube::PodTemplateSpec> TemplateOf(const ReservationSpec& spec) {
  if (spec.pod_template || !spec.resources) return spec.pod_template;
  kube::PodTemplateSpec made;
  kube::Container& container = made.spec.containers.emplace_back();
  container.name = "reserve";
  container.resources = *spec.resources;
  return made;
}

}  // namespace koord::api

KOORD_DEFINE_CODEC(koord::api::ReservationOwner);
KOORD_DEFINE_CODEC(koord::api::ReservationSpec);
KOORD_DEFINE_CODEC(koord::api::Reservation);
