#include "model/reservation/reservation_status.h"

#include <algorithm>

#include "api/reservation_annotations.h"
#include "kube/time.h"
#include "model/reservation/reservation_state.h"

namespace koord::model {
namespace {

using api::ProbedCondition;

constexpr Duration kSoonestLook = 3s;
constexpr Duration kLatestLook = 15s;

ProbedCondition* Find(std::vector<ProbedCondition>& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &ProbedCondition::type);
  return found == conditions.end() ? nullptr : &*found;
}

ProbedCondition Fresh(std::string_view type, std::string_view status, std::string_view reason,
                      WallTime now) {
  return {.type = std::string(type),
          .status = std::string(status),
          .reason = std::string(reason),
          .message = {},
          .last_probe_time = now,
          .last_transition_time = now};
}

}  // namespace

void SetUnschedulable(api::ReservationStatus& status, const std::string& message, WallTime now) {
  ProbedCondition* scheduled = Find(status.conditions, api::kReservationConditionScheduled);
  if (scheduled == nullptr) {
    status.conditions.push_back(Fresh(api::kReservationConditionScheduled, "False",
                                      api::kReservationReasonUnschedulable, now));
    status.conditions.back().message = message;
    return;
  }
  scheduled->last_probe_time = now;
  if (scheduled->status == "True") return;
  scheduled->reason = api::kReservationReasonUnschedulable;
  scheduled->message = message;
}

void SetAvailable(api::ReservationStatus& status, const std::string& node,
                  kube::ResourceList allocatable, WallTime now) {
  status.phase = api::kReservationAvailable;
  status.node_name = node;
  status.allocatable = std::move(allocatable);
  status.conditions = {
      Fresh(api::kReservationConditionScheduled, "True", api::kReservationReasonScheduled, now),
      Fresh(api::kReservationConditionReady, "True", api::kReservationReasonAvailable, now)};
}

void SetExpired(api::ReservationStatus& status, WallTime now) {
  status.phase = api::kReservationFailed;
  const ProbedCondition expired =
      Fresh(api::kReservationConditionReady, "False", api::kReservationReasonExpired, now);
  ProbedCondition* ready = Find(status.conditions, api::kReservationConditionReady);
  if (ready == nullptr) {
    status.conditions.push_back(expired);
  } else if (ready->status == "True") {
    *ready = expired;
  } else {
    ready->reason = expired.reason;
    ready->last_probe_time = now;
  }
}

void SetSucceeded(api::ReservationStatus& status, WallTime now) {
  status.phase = api::kReservationSucceeded;
  ProbedCondition* ready = Find(status.conditions, api::kReservationConditionReady);
  if (ready == nullptr) {
    status.conditions.push_back(
        Fresh(api::kReservationConditionReady, "False", api::kReservationReasonSucceeded, now));
    return;
  }
  ready->status = "False";
  ready->reason = api::kReservationReasonSucceeded;
  ready->last_probe_time = now;
}

StatusOr<kube::ResourceList> AllocatableToBe(const api::Reservation& reservation) {
  kube::ResourceList allocatable = RequestsOf(reservation);
  ASSIGN_OR_RETURN(const auto resized, api::ResizeAllocatableOf(reservation.metadata.annotations));
  if (resized) {
    for (const auto& [name, amount] : *resized) allocatable.insert_or_assign(name, amount);
  }
  return allocatable;
}

std::optional<kube::ObjectReference> ConsumerOf(const api::Reservation& reservation) {
  if (!api::AllocatesOnce(reservation.spec)) return std::nullopt;
  auto consumer = api::ReservationCurrentOwnerOf(reservation.metadata.annotations);
  // Only the scheduler writes it. What it did not write says nothing of who uses it.
  return consumer.ok() ? *std::move(consumer) : std::nullopt;
}

std::optional<WallTime> EndOf(const api::Reservation& reservation) {
  const api::ReservationSpec& spec = reservation.spec;
  if (spec.ttl && *spec.ttl == Duration::zero()) return std::nullopt;
  std::optional<WallTime> end = spec.expires;
  if (spec.ttl) {
    const WallTime created = reservation.metadata.creation_timestamp;
    const bool is_forever = *spec.ttl > kube::kLatestTime - created;
    const WallTime outlived = is_forever ? kube::kLatestTime : created + *spec.ttl;
    end = end ? std::min(*end, outlived) : outlived;
  }
  return end;
}

bool IsDue(const api::Reservation& reservation, WallTime now) {
  const std::optional<WallTime> end = EndOf(reservation);
  return end && now > *end;
}

std::optional<Duration> NextLook(const api::Reservation& reservation, WallTime now) {
  if (HasEnded(reservation)) return std::nullopt;
  const std::optional<WallTime> end = EndOf(reservation);
  if (!end) return std::nullopt;
  return std::clamp<Duration>(*end - now, kSoonestLook, kLatestLook);
}

bool IsCollectable(const api::Reservation& reservation, bool has_its_node, Duration keep,
                   WallTime now) {
  const bool succeeded = reservation.status.phase == api::kReservationSucceeded;
  if (!succeeded && !IsExpired(reservation)) return false;
  if (!has_its_node) return true;
  const auto* ready =
      kube::FindCondition(reservation.status.conditions, api::kReservationConditionReady);
  if (ready == nullptr) return false;
  const std::optional<WallTime> since =
      succeeded ? ready->last_probe_time : ready->last_transition_time;
  return since && now - *since > keep;
}

}  // namespace koord::model
