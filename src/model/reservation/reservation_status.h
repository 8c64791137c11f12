#pragma once
#include <optional>
#include <string>
#include <vector>

#include "api/reservation.h"
#include "base/clock.h"
#include "base/status.h"

// The life of a Reservation: what its status becomes, and when. An end is for ever.
//
//   Pending -> Available -> Succeeded (used once), or Failed (expired) -> collected
namespace koord::model {

// It could not be scheduled: said in its condition Scheduled, whatever its phase. One that was
// scheduled before stays so, and has only been looked at again.
void SetUnschedulable(api::ReservationStatus& status, const std::string& message, WallTime now);
// It holds `allocatable` of a node from now on.
void SetAvailable(api::ReservationStatus& status, const std::string& node,
                  kube::ResourceList allocatable, WallTime now);
void SetExpired(api::ReservationStatus& status, WallTime now);
void SetSucceeded(api::ReservationStatus& status, WallTime now);

// What it will hold: what it asks for, or what a resize has put in its place, name by name.
StatusOr<kube::ResourceList> AllocatableToBe(const api::Reservation& reservation);

// Who has used up a reservation that can be used once: its owner is written down before it is
// bound, so that it is known also when that owner is gone before anybody has looked. That of a pod
// which is still there and has no node (the binding came to nothing) counts for nothing.
std::optional<kube::ObjectReference> ConsumerOf(const api::Reservation& reservation);

// The time after which it is to expire; none: never.
std::optional<WallTime> EndOf(const api::Reservation& reservation);
bool IsDue(const api::Reservation& reservation, WallTime now);
// After what time it is to be looked at again; none: never.
std::optional<Duration> NextLook(const api::Reservation& reservation, WallTime now);

// Whether it has ended long enough ago, or its node is gone, and nobody needs to see it any more.
bool IsCollectable(const api::Reservation& reservation, bool has_its_node, Duration keep,
                   WallTime now);

}  // namespace koord::model
