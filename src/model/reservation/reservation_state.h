#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "api/reservation.h"
#include "base/status.h"
#include "kube/objects/resource_list.h"

// What can be said of a Reservation as it stands.
namespace koord::model {

// Has a node and holds room there. Waiting is no longer written, but understood.
bool IsActive(const api::Reservation& reservation);
bool IsAvailable(const api::Reservation& reservation);
// Waits for a node.
bool IsUnassigned(const api::Reservation& reservation);
// Failed or Succeeded, and will never be anything else.
bool HasEnded(const api::Reservation& reservation);
// Failed since its time was over or its node is gone.
bool IsExpired(const api::Reservation& reservation);

// What it reserves: what its status says once it is available, what its template asks for before.
kube::ResourceList RequestsOf(const api::Reservation& reservation);

// "" where it says none: whoever comes first schedules it.
std::string_view SchedulerNameOf(const api::Reservation& reservation);

// The resources that a reservation is about, in order: all that it reserves, or those of them that
// its restricted options list. Options that list none of them mean all.
std::vector<std::string> ResourceNamesOf(const kube::ResourceList& reserved,
                                         const std::vector<std::string>& restricted_to);

// Those of `list` under these names.
kube::ResourceList Masked(const kube::ResourceList& list, const std::vector<std::string>& names);

}  // namespace koord::model
