#pragma once
#include <span>
#include <vector>

#include "base/embedded_file.h"
#include "kube/json.h"

namespace koord::localcluster {

// Koordinator's CRDs as the local cluster has them: all that deploy/ can install. Reservations are
// served as v1 as well, with its short form, which real clusters have to ask for.
const std::vector<kube::Json>& LocalCrds();

// deploy/crds/reservation-v1/patch.yaml.
std::span<const EmbeddedFile> ReservationV1Patch();

}  // namespace koord::localcluster
