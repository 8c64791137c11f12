#pragma once
#include "base/status.h"
#include "kube/json.h"
#include "kube/schema/type.h"

namespace koord::kube {

// Kubernetes' own patch for built-in kinds: as a merge patch, but lists whose type says so are
// merged element by element (by a key, or as sets of scalars), and directives in the patch ($patch,
// $retainKeys, $setElementOrder/..., $deleteFromPrimitiveList/...) say more.
//
// A merged list is ordered as the patch (or $setElementOrder) has it; elements that only the live
// list has keep their place among those that it shares with the patch, and come after new ones.
//
// Errors are API errors with Kubernetes' codes: 400 for malformed directives, 422 for a patch that
// contradicts its $retainKeys, 500 without a reason for the rest.
StatusOr<Json> ApplyStrategicMergePatch(Json document, const Json& patch, const Type& type);

}  // namespace koord::kube
