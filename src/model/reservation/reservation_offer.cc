#include "model/reservation/reservation_offer.h"

#include "api/cpu_annotations.h"
#include "api/reservation_annotations.h"
#include "kube/objects/pod_resources.h"
#include "model/reservation/reservation_state.h"
#include "model/reservation/reservation_status.h"

namespace koord::model {
namespace {

// What owners do not get: said as for nodes.
StatusOr<kube::ResourceList> KeptBack(const kube::Annotations& annotations,
                                      const std::vector<std::string>& resource_names) {
  ASSIGN_OR_RETURN(const auto kept, api::NodeReservationOf(annotations));
  if (!kept) return kube::ResourceList();
  return Masked(kept->resources, resource_names);
}

}  // namespace

AllocatePolicy AllocatePolicyOf(const api::ReservationSpec& spec) {
  if (spec.allocate_policy == "Restricted") return AllocatePolicy::kRestricted;
  if (spec.allocate_policy == "Aligned") return AllocatePolicy::kAligned;
  return AllocatePolicy::kDefault;
}

StatusOr<ReservationOffer> ReservationOffer::Of(const api::Reservation& reservation) {
  const kube::ObjectMeta& meta = reservation.metadata;
  ReservationOffer offer;
  offer.name = meta.name;
  offer.uid = meta.uid;
  offer.created = meta.creation_timestamp;
  offer.labels = meta.labels;
  ASSIGN_OR_RETURN(offer.owners, OwnerMatcher::Of(reservation.spec.owners));
  offer.taints = reservation.spec.taints;
  offer.unschedulable = reservation.spec.unschedulable || kube::IsBeingDeleted(meta);
  offer.allocate_once = api::AllocatesOnce(reservation.spec);
  offer.policy = AllocatePolicyOf(reservation.spec);
  offer.order = api::ReservationOrderOf(meta.labels);
  offer.allocatable = RequestsOf(reservation);
  ASSIGN_OR_RETURN(std::vector<std::string> options, api::RestrictedResourcesOf(meta.annotations));
  if (offer.policy != AllocatePolicy::kRestricted) options.clear();
  offer.resource_names = ResourceNamesOf(offer.allocatable, options);
  ASSIGN_OR_RETURN(offer.kept_back, KeptBack(meta.annotations, offer.resource_names));
  if (const auto consumer = ConsumerOf(reservation)) offer.consumer_uid = consumer->uid;
  return offer;
}

StatusOr<ReservationOffer> ReservationOffer::Of(const kube::Pod& operating) {
  const kube::ObjectMeta& meta = operating.metadata;
  ReservationOffer offer;
  offer.name = meta.name;
  offer.uid = meta.uid;
  offer.created = meta.creation_timestamp;
  offer.labels = meta.labels;
  ASSIGN_OR_RETURN(const auto owners, api::ReservationOwnersOf(meta.annotations));
  ASSIGN_OR_RETURN(offer.owners, OwnerMatcher::Of(owners));
  offer.unschedulable = kube::IsBeingDeleted(meta);
  offer.policy = AllocatePolicy::kAligned;
  offer.order = api::ReservationOrderOf(meta.labels);
  offer.allocatable = kube::PodRequests(operating, kube::RequestsFrom::kSpecAndStatus);
  ASSIGN_OR_RETURN(const auto options, api::RestrictedResourcesOf(meta.annotations));
  offer.resource_names = ResourceNamesOf(offer.allocatable, options);
  ASSIGN_OR_RETURN(offer.kept_back, KeptBack(meta.annotations, offer.resource_names));
  ASSIGN_OR_RETURN(const auto consumer, api::ReservationCurrentOwnerOf(meta.annotations));
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
