#include "model/reservation/reservation_offer.h"

#include "api/cpu_annotations.h"
#include "api/reservation_annotations.h"
#include "kube/objects/pod_resources.h"
#include "model/reservation/reservation_state.h"
#include "model/reservation/reservation_status.h"

namespace koord::model {
namespace {

// What any object says of itself that offers something.
ReservationOffer OfferOf(const kube::ObjectMeta& meta) {
  ReservationOffer offer;
  offer.name = meta.name;
  offer.uid = meta.uid;
  offer.created = meta.creation_timestamp;
  offer.labels = meta.labels;
  offer.unschedulable = kube::IsBeingDeleted(meta);
  offer.order = api::ReservationOrderOf(meta.labels);
  return offer;
}

// `may_narrow`: annotations may say which of the resources it is about.
Status SetRoom(ReservationOffer& offer, kube::ResourceList allocatable,
               const kube::Annotations& annotations, bool may_narrow) {
  ASSIGN_OR_RETURN(std::vector<std::string> options, api::RestrictedResourcesOf(annotations));
  if (!may_narrow) options.clear();
  offer.allocatable = std::move(allocatable);
  offer.resource_names = ResourceNamesOf(offer.allocatable, options);
  // What owners do not get is said as for nodes.
  ASSIGN_OR_RETURN(const auto kept, api::NodeReservationOf(annotations));
  if (kept) offer.kept_back = Masked(kept->resources, offer.resource_names);
  return absl::OkStatus();
}

}  // namespace

AllocatePolicy AllocatePolicyOf(const api::ReservationSpec& spec) {
  if (spec.allocate_policy == "Restricted") return AllocatePolicy::kRestricted;
  if (spec.allocate_policy == "Aligned") return AllocatePolicy::kAligned;
  return AllocatePolicy::kDefault;
}

StatusOr<ReservationOffer> ReservationOffer::Of(const api::Reservation& reservation) {
  ReservationOffer offer = OfferOf(reservation.metadata);
  ASSIGN_OR_RETURN(offer.owners, OwnerMatcher::Of(reservation.spec.owners));
  offer.taints = reservation.spec.taints;
  offer.unschedulable |= reservation.spec.unschedulable;
  offer.allocate_once = api::AllocatesOnce(reservation.spec);
  offer.policy = AllocatePolicyOf(reservation.spec);
  RETURN_IF_ERROR(SetRoom(offer, RequestsOf(reservation), reservation.metadata.annotations,
                          offer.policy == AllocatePolicy::kRestricted));
  if (const auto consumer = ConsumerOf(reservation)) offer.consumer_uid = consumer->uid;
  return offer;
}

StatusOr<ReservationOffer> ReservationOffer::Of(const kube::Pod& operating) {
  const kube::Annotations& annotations = operating.metadata.annotations;
  ReservationOffer offer = OfferOf(operating.metadata);
  ASSIGN_OR_RETURN(const auto owners, api::ReservationOwnersOf(annotations));
  ASSIGN_OR_RETURN(offer.owners, OwnerMatcher::Of(owners));
  offer.policy = AllocatePolicy::kAligned;
  RETURN_IF_ERROR(SetRoom(offer, kube::PodRequests(operating, kube::RequestsFrom::kSpecAndStatus),
                          annotations, /*may_narrow=*/true));
  ASSIGN_OR_RETURN(const auto consumer, api::ReservationCurrentOwnerOf(annotations));
  if (consumer) offer.consumer_uid = consumer->uid;
  return offer;
}

kube::ResourceList LeftOf(const ReservationOffer& offer, const kube::ResourceList& used) {
  kube::ResourceList left = offer.allocatable;
  for (auto& [name, amount] : left) {
    amount -= kube::AmountOf(used, name);
    amount -= kube::AmountOf(offer.kept_back, name);
    if (amount.Sign() < 0) amount = kube::Quantity(0, amount.format());
  }
  return left;
}

bool IsOffering(const kube::Pod& operating) {
  return api::IsInReservationMode(operating.metadata.labels) && kube::IsAssigned(operating) &&
         operating.status.phase == "Running" && kube::IsReady(operating);
}

}  // namespace koord::model
