#pragma once
#include <cstdint>

#include "kube/objects/resource_list.h"

namespace koord::model {

// How full a reservation becomes with a pod, 0 to 100: the mean over what it reserves; what would
// be too much adds nothing.
int64_t ReservationScore(const kube::ResourceList& pod_requests,
                         const kube::ResourceList& allocatable,
                         const kube::ResourceList& allocated);

}  // namespace koord::model
