#pragma once
#include "base/status.h"
#include "kube/json.h"

namespace koord::kube {

inline constexpr size_t kMaxJsonPatchOperations = 10'000;

// RFC 6902, with two liberties that Kubernetes' clients rely on: negative list indices count from
// the end, and replacing a missing member of an object adds it. All operations apply or none.
//
// Errors are API errors: 400 for a patch that is malformed, 413 for too many operations, 422 with
// Kubernetes' generic text for one that does not fit the document (a path that is missing, a test
// that fails, copies that add up to more than a request may hold).
StatusOr<Json> ApplyJsonPatch(Json document, const Json& patch);

}  // namespace koord::kube
