#include "scheduler/reservation_controller/reservation_decision.h"

#include <algorithm>

#include "api/keys.h"
#include "api/resources.h"
#include "kube/objects/pod_resources.h"
#include "model/reservation/reservation_offer.h"
#include "model/reservation/reservation_state.h"
#include "model/reservation/reservation_status.h"

namespace koord::scheduler {
namespace {

bool IsOver(const api::Reservation& reservation, const ReservationFacts& facts,
            const EndingRules& rules, WallTime now) {
  const bool has_place = !reservation.status.node_name.empty();
  if (has_place && !facts.has_its_node) return true;
  return (has_place || rules.expire_unscheduled) && model::IsDue(reservation, now);
}

bool IsUsedUp(const api::Reservation& reservation, const ReservationFacts& facts) {
  if (!api::AllocatesOnce(reservation.spec)) return false;
  return !facts.owners.empty() || facts.consumer == ReservationFacts::Consumer::kGone;
}

void ShowOwners(const std::vector<std::shared_ptr<const kube::Pod>>& owners,
                api::ReservationStatus& status) {
  std::vector<kube::ObjectReference> references;
  kube::ResourceList all;
  for (const auto& pod : owners) {
    kube::ObjectReference& reference = references.emplace_back();
    reference.ns = pod->metadata.ns;
    reference.name = pod->metadata.name;
    reference.uid = pod->metadata.uid;
    kube::AddTo(all, kube::PodRequests(*pod));
  }
  std::ranges::sort(references, {}, &kube::ObjectReference::uid);
  kube::ResourceList allocated =
      model::Masked(all, model::ResourceNamesOf(status.allocatable, /*restricted_to=*/{}));
  // Amounts of nothing are not worth a write.
  std::erase_if(allocated, [](const auto& each) { return each.second.IsZero(); });
  if (references != status.current_owners) status.current_owners = std::move(references);
  if (allocated != status.allocated) status.allocated = std::move(allocated);
}

void ShowWhyInvalid(const api::Reservation& reservation, api::ReservationStatus& status,
                    WallTime now) {
  const Status valid = api::Validate(reservation.spec);
  if (valid.ok()) return;
  const auto* said = kube::FindCondition(status.conditions, api::kReservationConditionScheduled);
  if (said != nullptr && said->message == Message(valid)) return;
  model::SetUnschedulable(status, std::string(Message(valid)), now);
}

// What the status becomes.
api::ReservationStatus StatusAfter(const api::Reservation& reservation,
                                   const ReservationFacts& facts, const EndingRules& rules,
                                   WallTime now) {
  api::ReservationStatus status = reservation.status;
  if (IsOver(reservation, facts, rules, now)) {
    model::SetExpired(status, now);
  } else if (status.node_name.empty()) {
    ShowWhyInvalid(reservation, status, now);
  } else {
    ShowOwners(facts.owners, status);
    if (IsUsedUp(reservation, facts)) model::SetSucceeded(status, now);
  }
  return status;
}

}  // namespace

kube::Plan DecideReservation(const api::Reservation& reservation, const ReservationFacts& facts,
                             const EndingRules& rules, WallTime now) {
  kube::Plan plan;
  if (model::HasEnded(reservation)) return plan;
  api::Reservation after = reservation;
  after.status = StatusAfter(reservation, facts, rules, now);
  if (after.status != reservation.status) {
    const auto status_of = [](const api::Reservation& each) {
      return kube::Encode(each).as_object()["status"];
    };
    plan.Add(kube::PinnedStatusPatch(api::kReservations, reservation.metadata,
                                     status_of(reservation), status_of(after)));
  } else if (facts.consumer == ReservationFacts::Consumer::kElsewhere) {
    plan.Add(kube::PinnedPatch(
        api::kReservations, reservation.metadata,
        {{"metadata", {{"annotations", {{api::kAnnotationReservationCurrentOwner, nullptr}}}}}}));
  }
  if (!reservation.status.node_name.empty() || rules.expire_unscheduled) {
    plan.again = model::NextLook(after, now);
  }
  return plan;
}

std::optional<std::string> WhyInvalid(const api::Reservation& reservation) {
  if (const Status valid = api::Validate(reservation.spec); !valid.ok()) {
    return std::string(Message(valid));
  }
  const auto offer = model::ReservationOffer::Of(reservation);
  if (!offer.ok()) return std::string(Message(offer.status()));
  return std::nullopt;
}

}  // namespace koord::scheduler
